#include "peers/eigen.hpp"

// g++ 12 takes the "undefined" registers of its own AVX-512 header for a mistake.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#include <Eigen/Core>
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#include <unsupported/Eigen/IterativeSolvers>

#include <limits>
#include <memory>

namespace cnc::perf::eigen {
namespace {

template <class V>
using Sparse = Eigen::SparseMatrix<V, Eigen::RowMajor, int>;
template <class V>
using Vector = Eigen::Matrix<V, Eigen::Dynamic, 1>;
template <class V>
using In = Eigen::Map<const Vector<V>>;
template <class V>
using Out = Eigen::Map<Vector<V>>;

template <class V>
Sparse<V> copy(const CsrArrays<V>& A) {
  return Eigen::Map<const Sparse<V>>(A.rows, A.cols, A.nonzeros(), A.row_offsets, A.columns,
                                     A.values);
}

template <class Solver, class V>
SolverPeer<V> solver_of(const CsrArrays<V>& A, int threads) {
  struct State {
    Sparse<V> matrix;
    Solver solver;
    Vector<V> x;
  };
  constexpr bool is_gmres = requires(Solver & solver) { solver.set_restart(gmres_restart); };
  Eigen::setNbThreads(threads);
  auto state = std::make_shared<State>();
  state->matrix = copy(A);
  state->solver.setTolerance(std::numeric_limits<V>::min());  // never met
  if constexpr (is_gmres) state->solver.set_restart(gmres_restart);
  state->solver.compute(state->matrix);
  return {"Eigen", 1, is_gmres, [state](const V* b, V* x, int iterations) {
            const auto n = state->matrix.rows();
            state->solver.setMaxIterations(iterations);
            state->x = state->solver.solve(In<V>(b, n));
            Out<V>(x, n) = state->x;
          }};
}

}  // namespace

// Row-major: the only form of Eigen's sparse product that uses threads.
template <class V>
SpmvPeer<V> spmv(const CsrArrays<V>& A, int threads) {
  Eigen::setNbThreads(threads);
  auto matrix = std::make_shared<const Sparse<V>>(copy(A));
  return {"Eigen", [matrix](const V* x, V* y) {
            Out<V>(y, matrix->rows()).noalias() = *matrix * In<V>(x, matrix->cols());
          }};
}

// Both triangles of a symmetric matrix: Eigen then multiplies by the row-major one as it is, with
// threads.
template <class V>
SolverPeer<V> solver(const CsrArrays<V>& A, Krylov method, int threads) {
  using Jacobi = Eigen::DiagonalPreconditioner<V>;
  using Pcg = Eigen::ConjugateGradient<Sparse<V>, Eigen::Lower | Eigen::Upper, Jacobi>;
  switch (method) {
    case Krylov::bicgstab: return solver_of<Eigen::BiCGSTAB<Sparse<V>, Jacobi>>(A, threads);
    case Krylov::gmres: return solver_of<Eigen::GMRES<Sparse<V>, Jacobi>>(A, threads);
    default: return solver_of<Pcg>(A, threads);
  }
}

// Eigen's dense vectors have SIMD and no threads.
template <class V>
VectorPeer<V> vectors() {
  VectorPeer<V> peer;
  peer.name = "Eigen";
  peer.axpy = [](int n, V alpha, const V* x, V* y) { Out<V>(y, n) += alpha * In<V>(x, n); };
  peer.axpby = [](int n, V alpha, const V* x, V beta, V* y) {
    Out<V>(y, n) = alpha * In<V>(x, n) + beta * Out<V>(y, n);
  };
  peer.scal = [](int n, V alpha, V* x) { Out<V>(x, n) *= alpha; };
  peer.multiply = [](int n, const V* x, const V* y, V* z) {
    Out<V>(z, n) = In<V>(x, n).cwiseProduct(In<V>(y, n));
  };
  peer.dot = [](int n, const V* x, const V* y) { return double(In<V>(x, n).dot(In<V>(y, n))); };
  peer.nrm2 = [](int n, const V* x) { return double(In<V>(x, n).norm()); };
  return peer;
}

template <class V>
GemmPeer<V> gemm(int threads) {
  using Dense = Eigen::Matrix<V, Eigen::Dynamic, Eigen::Dynamic>;
  return {"Eigen", false, [threads](int n) -> std::function<V()> {
            Eigen::setNbThreads(threads);
            const auto a = std::make_shared<Dense>(Dense::Ones(n, n));
            const auto b = std::make_shared<Dense>(Dense::Ones(n, n));
            const auto c = std::make_shared<Dense>(n, n);
            return [=] {
              c->noalias() = *a * *b;
              return (*c)(0, 0);
            };
          }};
}

std::string version() {
  return "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." +
         std::to_string(EIGEN_MAJOR_VERSION) + "." + std::to_string(EIGEN_MINOR_VERSION) + " (" +
         Eigen::SimdInstructionSetsInUse() + ")";
}

template SpmvPeer<float> spmv(const CsrArrays<float>&, int);
template SpmvPeer<double> spmv(const CsrArrays<double>&, int);
template SolverPeer<float> solver(const CsrArrays<float>&, Krylov, int);
template SolverPeer<double> solver(const CsrArrays<double>&, Krylov, int);
template VectorPeer<float> vectors();
template VectorPeer<double> vectors();
template GemmPeer<float> gemm(int);
template GemmPeer<double> gemm(int);

}  // namespace cnc::perf::eigen
