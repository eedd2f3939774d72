#pragma once

#include <functional>
#include <string>
#include <vector>

// Other people's libraries behind plain functions, so that no header of theirs meets one of ours
// and each is compiled with the flags that suit it best. A peer keeps its own copy of the matrix in
// the layout that it would choose itself.

namespace cnc::perf {

/// A square or rectangular CSR matrix, columns ascending; nothing is owned.
template <class M>
struct CsrArrays {
  int rows = 0;
  int cols = 0;
  const int* row_offsets = nullptr;  ///< [rows + 1]
  const int* columns = nullptr;      ///< [nonzeros]
  const M* values = nullptr;         ///< [nonzeros]
  int nonzeros() const { return row_offsets[rows]; }
};

/// y := A x
template <class V>
struct SpmvPeer {
  std::string name;
  std::function<void(const V* x, V* y)> multiply;
};

/// The methods whose iterations are timed.
enum class Krylov { pcg, bicgstab, gmres };

/// Steps of a cycle of GMRES, for everybody.
inline constexpr int gmres_restart = 30;

/// Exactly `iterations` diagonally preconditioned iterations from x = 0.
template <class V>
struct SolverPeer {
  std::string name;
  int block_size = 1;  ///< of the preconditioner's diagonal blocks
  bool left = false;   ///< GMRES preconditioned from the left, which makes another norm least
  std::function<void(const V* b, V* x, int iterations)> run;
};

/// CG with a library's multigrid, made anew by each set_up; solve starts from the x given, ends at that part of ||b|| and
/// returns the iterations. The matrix given is not copied.
struct MultigridPeer {
  std::string name;
  std::function<void()> set_up;
  std::function<int(const double* b, double* x, double tolerance)> solve;
};

/// What a peer has of BLAS-1; an empty function is not offered. Names as in <cnc/blas1.hpp>.
template <class V>
struct VectorPeer {
  std::string name;
  std::function<void(int n, V alpha, const V* x, V* y)> axpy;
  std::function<void(int n, V alpha, const V* x, V beta, V* y)> axpby;
  std::function<void(int n, V alpha, V* x)> scal;
  std::function<void(int n, const V* x, const V* y, V* z)> multiply;
  std::function<double(int n, const V* x, const V* y)> dot;
  std::function<double(int n, const V* x)> nrm2;
};

/// Peers that can multiply a matrix of M by vectors of V. `block_size` above 1 adds the forms with
/// blocks of that size (rows and cols must be multiples of it).
template <class M, class V>
std::vector<SpmvPeer<V>> spmv_peers(const CsrArrays<M>& A, int block_size, int threads);

template <class V>
std::vector<SolverPeer<V>> solver_peers(const CsrArrays<V>& A, Krylov method, int block_size,
                                        int threads);

std::vector<MultigridPeer> multigrid_peers(const CsrArrays<double>& A);

template <class V>
std::vector<VectorPeer<V>> vector_peers(int threads);

/// "Eigen 3.4.0", ... of this build.
std::vector<std::string> peer_versions();

}  // namespace cnc::perf
