#include "solve/backends.hpp"
#include "support/allocation_count.hpp"
#include "support/solve_problem.hpp"

#include <cnc/spmv.hpp>

using namespace cnc;
using namespace cnc::testing;

// Once prepared, solve allocates nothing but the report's history and strings. operator new is
// counted; views use it for the record of every allocation (see allocation_count.hpp).

namespace {

/// Strings of a report that do not fit into std::string itself.
long strings_on_the_heap(const SolveReport& report) {
  const std::size_t inside = std::string().capacity();
  long count = 0;
  for (const auto* text : {&report.backend, &report.format, &report.preconditioner, &report.detail})
    count += text->size() > inside ? 1 : 0;
  return count;
}

/// Sanitized builds count nothing: there the solves themselves are the test. Neither can be told apart what
/// Kokkos 4 and later allocate: a string for the name of every fence and copy.
constexpr bool counts_are_ours = allocations_are_counted && KOKKOS_VERSION < 40000;
void check_count(long found, long expected) {
  if (counts_are_ours) CHECK(found == expected);
}

/// Solves as often as it takes to meet every path, the first time right after prepare.
template <class V>
void check_solves(Solver<V>& solver, const KnownProblem<V>& P) {
  const Vector<V> x = zeros<V>(P.rows()), zero_rhs = zeros<V>(P.rows());
  for (int i = 0; i < 3; ++i) {
    Kokkos::deep_copy(x, V(0));
    const long before = allocation_count();
    const SolveReport report = solver.solve(P.b, x);
    const long after = allocation_count();
    REQUIRE((before > 0) == allocations_are_counted);
    CHECK(report.converged());
    check_count(after - before, strings_on_the_heap(report));
  }
  const long before = allocation_count();
  const SolveReport warm = solver.solve(P.b, x);
  const SolveReport zero = solver.solve(zero_rhs, x);
  const long after = allocation_count();
  CHECK(zero.converged());
  check_count(after - before, strings_on_the_heap(warm) + strings_on_the_heap(zero));
}

template <class V>
void check_formats(const std::string& name, const KnownProblem<V>& P, SolveOptions options) {
  for (const FormatSpec& format : formats_for(P.A, {2}))
    for (const auto kind :
         {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::block_jacobi})
      for (const auto reordering : {Reordering::none, Reordering::rcm}) {
        INFO(name << " " << format.text() << " " << int(kind) << " rcm " << int(reordering));
        ThreadedContext ctx(name, 2);
        options.format = format;
        options.preconditioner = kind;
        options.reordering = reordering;
        Solver<V> solver(ctx, options);
        solver.prepare(P.A);
        check_solves(solver, P);
      }
}

}  // namespace

TEST_CASE("solve allocates nothing") {
  const auto P = known_problem<double>("elasticity2d:6");
  for (const std::string& name : host_backends())
    for (const Method method : all_methods) {
      SolveOptions options;
      options.method = method;
      options.record_history = false;
      check_formats(name, P, options);
      options.storage = StoragePrecision::f32;
      check_formats(name, P, options);
    }
}

TEST_CASE("solve with float vectors allocates nothing") {
  const auto P = known_problem<float>("elasticity2d:4");
  for (const std::string& name : host_backends())
    for (const Method method : all_methods) {
      SolveOptions options;
      options.method = method;
      options.record_history = false;
      options.rtol = 1e-4;
      check_formats(name, P, options);
    }
}

TEST_CASE("solve with the caller's operator and preconditioner allocates nothing of its own") {
  const auto P = known_problem<double>("poisson2d:20x20");
  for (const std::string& name : host_backends())
    for (const Method method : all_methods) {
      if (!takes_parts_of_others(find_backend(name, MemorySpace::host), method)) continue;
      INFO(name << " " << to_string(method));
      ThreadedContext ctx(name, 2);
      SolveOptions options;
      options.method = method;
      options.record_history = false;
      options.preconditioner = PreconditionerKind::none;
      Solver<double> solver(ctx, options);
      solver.prepare(LinearOperator<double>{
          P.rows(), [&](const auto& x, const auto& y) { spmv(ctx, 1.0, P.A, x, 0.0, y); }});
      solver.set_preconditioner([&](const auto& r, const auto& z) {
        for (std::size_t i = 0; i < r.extent(0); ++i) z(i) = r(i) / 4;
      });
      check_solves(solver, P);
    }
}

TEST_CASE("a callback and limits make solve allocate nothing more") {
  const auto P = known_problem<double>("poisson2d:70x60");
  ThreadedContext ctx("auto", 2);
  SolveOptions options;
  options.record_history = false;
  options.max_seconds = 100;
  options.callback_interval = 3;
  int calls = 0;
  options.callback = [&](const Progress&) { return ++calls > 0; };
  Solver<double> solver(ctx, options);
  solver.prepare(P.A);
  check_solves(solver, P);
  CHECK(calls > 0);
}

TEST_CASE("the history costs a few allocations, not one per iteration") {
  const auto P = known_problem<double>("poisson2d:40x40");
  ThreadedContext ctx("auto", 2);
  Solver<double> solver(ctx);
  solver.prepare(P.A);
  const Vector<double> x = zeros<double>(P.rows());
  const long before = allocation_count();
  const SolveReport report = solver.solve(P.b, x);
  const long after = allocation_count();
  CHECK(report.iterations > 50);
  CHECK(after - before <= 10);
}

TEST_CASE("update_values of the same index arrays allocates nothing") {
  if (!counts_are_ours) CNC_SKIP("what Kokkos allocates for itself cannot be told apart");
  const auto A = generate_problem("elasticity2d:12");
  for (const FormatSpec& format : formats_for(A, {2}))
    for (const auto kind :
         {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::block_jacobi})
      for (const auto reordering : {Reordering::none, Reordering::rcm})
        for (const auto storage : {StoragePrecision::as_vectors, StoragePrecision::f32}) {
          INFO(format.text() << " " << int(kind) << " rcm " << int(reordering) << " f32 "
                             << int(storage));
          ThreadedContext ctx("auto", 2);
          SolveOptions options = options_for(Method::pcg, format, kind);
          options.reordering = reordering;
          options.storage = storage;
          Solver<double> solver(ctx, options);
          solver.prepare(A);
          const long before = allocation_count();
          solver.update_values(A);
          const long after = allocation_count();
          check_count(after - before, 0);
        }
}
