#include "peers/peers.hpp"

#include "peers/gemm.hpp"

#ifdef CNC_PERF_AMGCL
#include "peers/amgcl.hpp"
#endif
#ifdef CNC_PERF_EIGEN
#include "peers/eigen.hpp"
#endif
#ifdef CNC_PERF_PETSC
#include "peers/petsc.hpp"
#endif

#include <algorithm>
#include <iterator>
#include <type_traits>

namespace cnc::perf {

namespace {
[[maybe_unused]] bool has_blocks(int rows, int cols, int block_size) {
  return block_size > 1 && rows % block_size == 0 && cols % block_size == 0;
}
#ifdef CNC_PERF_AMGCL
bool has_block_form(int rows, int cols, int block_size) {
  return has_blocks(rows, cols, block_size) &&
         std::find(std::begin(amgcl_peer::block_sizes), std::end(amgcl_peer::block_sizes),
                   block_size) != std::end(amgcl_peer::block_sizes);
}
#endif
}  // namespace

template <class M, class V>
std::vector<SpmvPeer<V>> spmv_peers(const CsrArrays<M>& A, [[maybe_unused]] int block_size,
                                    [[maybe_unused]] int threads) {
  std::vector<SpmvPeer<V>> peers;
#ifdef CNC_PERF_EIGEN
  if constexpr (std::is_same_v<M, V>) peers.push_back(eigen::spmv<V>(A, threads));
#endif
#ifdef CNC_PERF_AMGCL
  peers.push_back(amgcl_peer::spmv<M, V>(A, 1));
  // Float blocks times double vectors would be summed in float there.
  if constexpr (std::is_same_v<M, V>)
    if (has_block_form(A.rows, A.cols, block_size))
      peers.push_back(amgcl_peer::spmv<M, V>(A, block_size));
#endif
#ifdef CNC_PERF_PETSC
  if constexpr (std::is_same_v<M, double>)
    if (threads == 1) {
      peers.push_back(petsc::spmv(A, 1));
      if (has_blocks(A.rows, A.cols, block_size)) peers.push_back(petsc::spmv(A, block_size));
    }
#endif
  (void)A;
  return peers;
}

template <class V>
std::vector<SolverPeer<V>> solver_peers(const CsrArrays<V>& A, [[maybe_unused]] Krylov method,
                                        [[maybe_unused]] int block_size,
                                        [[maybe_unused]] int threads) {
  std::vector<SolverPeer<V>> peers;
#ifdef CNC_PERF_EIGEN
  peers.push_back(eigen::solver<V>(A, method, threads));
#endif
#ifdef CNC_PERF_AMGCL
  peers.push_back(amgcl_peer::solver<V>(A, method, 1));
  if (has_block_form(A.rows, A.cols, block_size))
    peers.push_back(amgcl_peer::solver<V>(A, method, block_size));
#endif
#ifdef CNC_PERF_PETSC
  if constexpr (std::is_same_v<V, double>)
    if (threads == 1) {
      peers.push_back(petsc::solver(A, method, 1));
      if (has_blocks(A.rows, A.cols, block_size))
        peers.push_back(petsc::solver(A, method, block_size));
    }
#endif
  (void)A;
  return peers;
}

std::vector<MultigridPeer> multigrid_peers([[maybe_unused]] const CsrArrays<double>& A) {
#ifdef CNC_PERF_AMGCL
  return amgcl_peer::multigrid(A);
#else
  return {};
#endif
}

template <class V>
std::vector<VectorPeer<V>> vector_peers([[maybe_unused]] int threads) {
  std::vector<VectorPeer<V>> peers;
#ifdef CNC_PERF_EIGEN
  peers.push_back(eigen::vectors<V>());
#endif
#ifdef CNC_PERF_AMGCL
  peers.push_back(amgcl_peer::vectors<V>());
#endif
  return peers;
}

template <class V>
std::vector<GemmPeer<V>> gemm_peers([[maybe_unused]] int threads) {
  std::vector<GemmPeer<V>> peers;
#ifdef CNC_PERF_EIGEN
  peers.push_back(eigen::gemm<V>(threads));
#endif
#ifdef CNC_PERF_CBLAS
  peers.push_back(cblas_gemm<V>());
#endif
#ifdef CNC_PERF_CUSPARSE
  peers.push_back(cublas_gemm<V>());
#endif
  return peers;
}

std::vector<std::string> peer_versions() {
  std::vector<std::string> versions;
#ifdef CNC_PERF_EIGEN
  versions.push_back(eigen::version());
#endif
#ifdef CNC_PERF_AMGCL
  versions.push_back(amgcl_peer::version());
#endif
#ifdef CNC_PERF_PETSC
  versions.push_back(petsc::version());
#endif
  return versions;
}

template std::vector<SpmvPeer<float>> spmv_peers<float, float>(const CsrArrays<float>&, int, int);
template std::vector<SpmvPeer<double>> spmv_peers<float, double>(const CsrArrays<float>&, int, int);
template std::vector<SpmvPeer<double>> spmv_peers<double, double>(const CsrArrays<double>&, int,
                                                                  int);
template std::vector<SolverPeer<float>> solver_peers(const CsrArrays<float>&, Krylov, int, int);
template std::vector<SolverPeer<double>> solver_peers(const CsrArrays<double>&, Krylov, int, int);
template std::vector<VectorPeer<float>> vector_peers(int);
template std::vector<VectorPeer<double>> vector_peers(int);
template std::vector<GemmPeer<float>> gemm_peers(int);
template std::vector<GemmPeer<double>> gemm_peers(int);

}  // namespace cnc::perf
