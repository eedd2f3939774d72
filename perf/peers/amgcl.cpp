#include "peers/amgcl.hpp"

#include <amgcl/adapter/block_matrix.hpp>
#include <amgcl/adapter/crs_tuple.hpp>
#include <amgcl/backend/builtin.hpp>
#include <amgcl/make_solver.hpp>
#include <amgcl/relaxation/as_preconditioner.hpp>
#include <amgcl/relaxation/damped_jacobi.hpp>
#include <amgcl/solver/bicgstab.hpp>
#include <amgcl/solver/cg.hpp>
#include <amgcl/solver/gmres.hpp>
#include <amgcl/value_type/static_matrix.hpp>

#include <cmath>
#include <cstddef>
#include <memory>
#include <tuple>

namespace cnc::perf::amgcl_peer {
namespace {

// AMGCL's default indices have 64 bits. 32 bits are what we use, and faster: the peer gets them
// too.
template <class Value>
using Backend = amgcl::backend::builtin<Value, int, int>;
template <class Value>
using Matrix = typename Backend<Value>::matrix;

template <class T, int B>
struct BlockValue {
  using type = amgcl::static_matrix<T, B, B>;
  using rhs = amgcl::static_matrix<T, B, 1>;
};
template <class T>
struct BlockValue<T, 1> {
  using type = T;
  using rhs = T;
};

template <int B, class M>
auto copy(const CsrArrays<M>& A) {
  using Value = typename BlockValue<M, B>::type;
  const auto n = static_cast<std::ptrdiff_t>(A.rows);
  const auto tuple =
      std::make_tuple(n, amgcl::make_iterator_range(A.row_offsets, A.row_offsets + n + 1),
                      amgcl::make_iterator_range(A.columns, A.columns + A.nonzeros()),
                      amgcl::make_iterator_range(A.values, A.values + A.nonzeros()));
  if constexpr (B == 1)
    return std::make_shared<Matrix<Value>>(tuple);
  else
    return std::make_shared<Matrix<Value>>(amgcl::adapter::block_matrix<Value>(tuple));
}

template <int B, class V>
auto vector(V* data, std::size_t rows) {
  using Rhs = typename BlockValue<std::remove_const_t<V>, B>::rhs;
  if constexpr (std::is_const_v<V>) {
    const auto* begin = reinterpret_cast<const Rhs*>(data);
    return amgcl::make_iterator_range(begin, begin + rows);
  } else {
    auto* begin = reinterpret_cast<Rhs*>(data);
    return amgcl::make_iterator_range(begin, begin + rows);
  }
}

std::string name_of(int block_size) {
  return block_size == 1 ? "AMGCL" : "AMGCL:" + std::to_string(block_size);
}

template <int B, class M, class V>
SpmvPeer<V> spmv_of(const CsrArrays<M>& A) {
  auto matrix = copy<B>(A);
  return {name_of(B), [matrix](const V* x, V* y) {
            auto result = vector<B>(y, matrix->nrows);
            amgcl::backend::spmv(V(1), *matrix, vector<B>(x, matrix->ncols), V(0), result);
          }};
}

// relaxation::damped_jacobi as a preconditioner is z := D^-1 r, undamped; D holds blocks in a block
// form. BiCGSTAB and GMRES are preconditioned from the right, as theirs is by default.
template <template <class...> class Iteration, int B, class V>
SolverPeer<V> solver_of(const CsrArrays<V>& A) {
  using AmgclBackend = Backend<typename BlockValue<V, B>::type>;
  using Solver = amgcl::make_solver<
      amgcl::relaxation::as_preconditioner<AmgclBackend, amgcl::relaxation::damped_jacobi>,
      Iteration<AmgclBackend>>;
  typename Solver::params parameters;
  parameters.solver.tol = 0;  // never met
  if constexpr (requires { parameters.solver.M; }) parameters.solver.M = gmres_restart;
  auto matrix = copy<B>(A);
  const std::size_t rows = matrix->nrows;
  auto solver = std::make_shared<Solver>(matrix, parameters);
  return {name_of(B), B, false, [solver, rows](const V* b, V* x, int iterations) {
            for (std::size_t i = 0; i < rows * B; ++i) x[i] = V(0);
            auto solution = vector<B>(x, rows);
            solver->solver().prm.maxiter = static_cast<unsigned>(iterations);
            (*solver)(vector<B>(b, rows), solution);
          }};
}

template <int B, class V>
SolverPeer<V> solver_in_blocks(const CsrArrays<V>& A, Krylov method) {
  switch (method) {
    case Krylov::bicgstab: return solver_of<amgcl::solver::bicgstab, B, V>(A);
    case Krylov::gmres: return solver_of<amgcl::solver::gmres, B, V>(A);
    default: return solver_of<amgcl::solver::cg, B, V>(A);
  }
}

}  // namespace

template <class M, class V>
SpmvPeer<V> spmv(const CsrArrays<M>& A, int block_size) {
  if constexpr (std::is_same_v<M, V>) {
    switch (block_size) {
      case 2: return spmv_of<2, M, V>(A);
      case 3: return spmv_of<3, M, V>(A);
      case 4: return spmv_of<4, M, V>(A);
      default: break;
    }
  }
  (void)block_size;
  return spmv_of<1, M, V>(A);
}

template <class V>
SolverPeer<V> solver(const CsrArrays<V>& A, Krylov method, int block_size) {
  switch (block_size) {
    case 2: return solver_in_blocks<2, V>(A, method);
    case 3: return solver_in_blocks<3, V>(A, method);
    case 4: return solver_in_blocks<4, V>(A, method);
    default: return solver_in_blocks<1, V>(A, method);
  }
}

template <class V>
VectorPeer<V> vectors() {
  namespace be = amgcl::backend;
  const auto range = [](auto* data, int n) { return amgcl::make_iterator_range(data, data + n); };
  VectorPeer<V> peer;
  peer.name = "AMGCL";
  peer.axpy = [range](int n, V alpha, const V* x, V* y) {
    auto result = range(y, n);
    be::axpby(alpha, range(x, n), V(1), result);
  };
  peer.axpby = [range](int n, V alpha, const V* x, V beta, V* y) {
    auto result = range(y, n);
    be::axpby(alpha, range(x, n), beta, result);
  };
  peer.multiply = [range](int n, const V* x, const V* y, V* z) {
    auto result = range(z, n);
    be::vmul(V(1), range(x, n), range(y, n), V(0), result);
  };
  peer.dot = [range](int n, const V* x, const V* y) {
    return double(be::inner_product(range(x, n), range(y, n)));
  };
  peer.nrm2 = [range](int n, const V* x) {
    return std::sqrt(double(be::inner_product(range(x, n), range(x, n))));
  };
  return peer;
}

std::string version() { return "AMGCL (builtin backend, 32-bit indices)"; }

template SpmvPeer<float> spmv(const CsrArrays<float>&, int);
template SpmvPeer<double> spmv(const CsrArrays<float>&, int);
template SpmvPeer<double> spmv(const CsrArrays<double>&, int);
template SolverPeer<float> solver(const CsrArrays<float>&, Krylov, int);
template SolverPeer<double> solver(const CsrArrays<double>&, Krylov, int);
template VectorPeer<float> vectors();
template VectorPeer<double> vectors();

}  // namespace cnc::perf::amgcl_peer
