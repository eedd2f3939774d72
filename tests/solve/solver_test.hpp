#pragma once

#include "solve/backends.hpp"
#include "support/solve_problem.hpp"

namespace cnc::testing {

/// A solver whose caller lives in host memory: where the context works in other memory, matrices and vectors
/// are copied there and back, and so are the vectors of the caller's functions. On a host it is a Solver.
template <class V, class Exec>
class HostFacingSolver : public Solver<V, Exec> {
 public:
  using Base = Solver<V, Exec>;
  using Space = typename Exec::memory_space;
  using Base::Base;
  using Base::prepare;
  using Base::update_values;

  void prepare(const CsrMatrix<V>& A) { Base::prepare(copy_to<Space>(A)); }
  void prepare(const Matrix<V>& A) { Base::prepare(copy_to<Space>(A)); }
  void prepare(const LinearOperator<V>& A) {
    Base::prepare(LinearOperator<V, Space>{A.rows, carried(A.apply)});
  }
  void update_values(const CsrMatrix<V>& A) { Base::update_values(copy_to<Space>(A)); }
  void update_values(const Matrix<V>& A) { Base::update_values(copy_to<Space>(A)); }
  void set_preconditioner(const PreconditionerFunction<V>& apply) {
    Base::set_preconditioner(carried(apply));
  }
  template <class P>
  void set_preconditioner(std::shared_ptr<P> preconditioner) {
    Base::set_preconditioner(std::move(preconditioner));
  }

  SolveReport solve(const Vector<const V>& b, const Vector<V>& x) {
    const Vector<V, Space> there = copy_to<Space>(x);
    SolveReport report = Base::solve(copy_to<Space>(b), there);
    if (!is_here) Kokkos::deep_copy(x, there);
    return report;
  }

 private:
  static constexpr bool is_here = std::is_same_v<Space, HostSpace>;

  static PreconditionerFunction<V, Space> carried(const PreconditionerFunction<V>& apply) {
    if constexpr (is_here) {
      return apply;
    } else {
      if (!apply) return {};
      return [apply](const Vector<const V, Space>& from, const Vector<V, Space>& to) {
        const Vector<V> result = copy_to<HostSpace>(to);
        apply(copy_to<HostSpace>(from), result);
        Kokkos::deep_copy(to, result);
      };
    }
  }
};

template <class V, class Exec>
HostFacingSolver<V, Exec> solver_on(Context<Exec>& ctx, const SolveOptions& options = {}) {
  return HostFacingSolver<V, Exec>(ctx, options);
}

/// Prepares with A and solves once, from x to x.
template <class V, class Exec>
SolveReport solve_once(Context<Exec>& ctx, const SolveOptions& options, const CsrMatrix<V>& A,
                       const Vector<V>& b, const Vector<V>& x) {
  auto solver = solver_on<V>(ctx, options);
  solver.prepare(A);
  return solver.solve(b, x);
}

/// The usual problem; for a backend that emulates its hardware the other one, which is small.
template <class Exec>
const char* sized(const Context<Exec>& ctx, const char* usual, const char* emulated) {
  return is_emulated(ctx.backend()) ? emulated : usual;
}

/// Backends that can solve. Variants of an emulated one are the same rows under other launches.
inline bool solves(const Backend& backend) {
  return !backend.baseline && vector_ops<double>(backend).dot != nullptr &&
         (!backend.variant || matrix_ops<BcsrOperand<double>, double>(backend).run[0] != nullptr);
}

/// The same, and the baselines of the host, which offer enough for the plainest form.
inline bool solves_on_request(const Backend& backend) {
  return solves(backend) || (backend.baseline && backend.memory == MemorySpace::host);
}

/// body(options) with each of the methods.
template <class Methods, class Body>
void for_each_of(const Methods& methods, const Body& body) {
  for (const Method method : methods) {
    INFO(to_string(method));
    SolveOptions options;
    options.method = method;
    body(options);
  }
}
template <class Body>
void for_each_method(const Body& body) {
  for_each_of(every_method, body);
}
/// The same with cg_methods.
template <class Body>
void for_each_cg(const Body& body) {
  for_each_of(cg_methods, body);
}

}  // namespace cnc::testing

/// The block that follows is a test case of every backend that solves. It finds a context `ctx` on the backend,
/// whose execution space is the type Exec.
#define CNC_SOLVER_TEST(what) CNC_SOLVER_TEST_WHERE(cnc::testing::solves, what)
/// The same for the backends that filter(const Backend&) takes.
#define CNC_SOLVER_TEST_WHERE(filter, what) \
  CNC_SOLVER_TEST_NAMED(filter, what, CNC_TEST_JOIN(solver_test_, __LINE__))
#define CNC_SOLVER_TEST_NAMED(filter, what, name)                                   \
  template <class Exec>                                                             \
  static void name(cnc::Context<Exec>& ctx);                                        \
  static void CNC_TEST_JOIN(name, _on)(const cnc::Backend& backend) {               \
    cnc::testing::in_memory_of(backend, [&]<class Exec>(std::type_identity<Exec>) { \
      cnc::testing::SharingContext<Exec> ctx(backend);                              \
      name<Exec>(ctx);                                                              \
    });                                                                             \
  }                                                                                 \
  CNC_TEST_PER_BACKEND(what, CNC_TEST_JOIN(name, _on), filter);                     \
  template <class Exec>                                                             \
  static void name([[maybe_unused]] cnc::Context<Exec>& ctx)
