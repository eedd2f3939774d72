#include "solve/solver_test.hpp"
#include "support/same_matrix.hpp"

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

// Solving again: from a guess, with new values on the same pattern.

namespace {

/// The same pattern (sharing its index arrays) with other values: (1 + t) A + 3 t I.
template <class V>
CsrMatrix<V> later_in_time(const CsrMatrix<V>& A, double t) {
  Vector<V> values("values", A.values.extent(0));
  for (index_t row = 0; row < A.rows; ++row)
    for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k)
      values(k) = static_cast<V>((1 + t) * double(A.values(k)) + (A.columns(k) == row ? 3 * t : 0));
  return {A.rows, A.cols, 1, A.row_offsets, A.columns, values};
}

template <class V, class Exec>
Vector<V> fresh_solution(Context<Exec>& ctx, const SolveOptions& options, const CsrMatrix<V>& A,
                         const Vector<V>& b) {
  const Vector<V> x = zeros<V>(A.rows);
  CHECK(solve_once(ctx, options, A, b, x).converged());
  return x;
}

/// Prepares with A, then takes one step after the other; each must be what a fresh solver finds.
template <class V, class Exec>
void check_updates(Context<Exec>& ctx, const SolveOptions& options, const CsrMatrix<V>& A) {
  const Vector<V> b = varied_vector<V>(A.rows);
  const auto first = deep_copy_of(A);
  auto solver = solver_on<V>(ctx, options);
  solver.prepare(first);
  const auto first_values = entries(first.values);
  for (const double t : {0.5, 2.0, 0.0}) {
    // Arrays of its own: the pattern is compared, not the pointers.
    const auto now = deep_copy_of(later_in_time(A, t));
    const auto values = entries(now.values);
    solver.update_values(now);
    const Vector<V> x = zeros<V>(A.rows);
    const SolveReport report = solver.solve(b, x);
    CHECK(report.converged());
    CHECK(same_bits(x, fresh_solution(ctx, options, now, b)));
    // Neither the old arrays nor the new ones were written to.
    CHECK(entries(first.values) == first_values);
    CHECK(entries(now.values) == values);
  }
}

}  // namespace

CNC_SOLVER_TEST("a warm start takes fewer iterations") {
  const auto P = known_problem<double>(sized(ctx, "poisson2d:30x20", "poisson2d:13x11"));
  for (const Method method : every_method) {
    INFO(to_string(method));
    SolveOptions options = options_for(method, {}, PreconditionerKind::jacobi);
    options.spectrum = {0.004, 2.05};  // of chebyshev: not found anew
    auto solver = solver_on<double>(ctx, options);
    solver.prepare(P.A);
    const Vector<double> cold = zeros<double>(P.rows()), warm = copy_of(P.solution);
    const SolveReport from_zero = solver.solve(P.b, cold);
    for (std::size_t i = 0; i < warm.extent(0); ++i) warm(i) += 1e-6 * static_cast<double>(i % 3);
    const SolveReport from_near = solver.solve(P.b, warm);
    CHECK(from_zero.converged());
    CHECK(from_near.converged());
    CHECK(from_near.iterations > 0);
    CHECK(from_near.iterations < from_zero.iterations / 2);
    CHECK(solver.solve(P.b, cold).iterations == 0);
  }
}

CNC_SOLVER_TEST("update_values equals a fresh solver in every layout") {
  const auto A = generate_problem(sized(ctx, "elasticity2d:7", "elasticity2d:3"));
  for (const FormatSpec& format : formats_for(A, {2, 3}))
    for (const auto reordering : {Reordering::none, Reordering::rcm})
      for (const auto kind : {PreconditionerKind::jacobi, PreconditionerKind::block_jacobi}) {
        INFO(format.text() << " rcm " << int(reordering) << " kind " << int(kind));
        SolveOptions options = options_for(Method::pcg, format, kind);
        options.reordering = reordering;
        options.rtol = 1e-10;
        check_updates(ctx, options, A);
        options.storage = StoragePrecision::f32;
        check_updates(ctx, options, A);
        options.storage = StoragePrecision::as_vectors;
        options.rtol = 1e-3;
        check_updates(ctx, options, convert_values<float>(A));
      }
}

CNC_SOLVER_TEST("update_values after prepare with a layout takes the layout as it is") {
  const auto A = generate_problem(sized(ctx, "elasticity2d:7", "elasticity2d:3"));
  const auto later = later_in_time(A, 2);
  const Vector<double> b = varied_vector<double>(A.rows);
  SolveOptions options;
  options.preconditioner = PreconditionerKind::block_jacobi;
  for (const FormatSpec& format : formats_for(A, {2, 3})) {
    if (format.name == "auto") continue;
    INFO(format.text());
    // Built where it is used: sliced layouts differ between host and device, and so does the order of sums.
    const auto layout_of = [&](const CsrMatrix<double>& matrix) {
      return build_format(copy_to<typename Exec::memory_space>(matrix), format);
    };
    auto solver = solver_on<double>(ctx, options);
    solver.prepare(layout_of(A));
    const Vector<double> x = zeros<double>(A.rows);
    const SolveReport report = solver.solve(b, x);
    CHECK(report.converged());
    CHECK(report.format == format.text());
    SolveOptions from_csr = options;
    from_csr.format = format;
    CHECK(same_bits(x, fresh_solution(ctx, from_csr, A, b)));

    solver.update_values(layout_of(later));
    Kokkos::deep_copy(x, 0);
    CHECK(solver.solve(b, x).converged());
    CHECK(same_bits(x, fresh_solution(ctx, from_csr, later, b)));

    for (const FormatSpec& other : formats_for(A, {2, 3}))
      if (other.name != "auto" && !(other == format))
        CHECK_THROWS_AS(solver.update_values(build_format(later, other)), InvalidArgument);
    CHECK_THROWS_AS(solver.update_values(later), InvalidArgument);
  }
}

CNC_SOLVER_TEST("update_values refuses another pattern") {
  const auto A = literal_csr<double>(3, 3, {0, 2, 3, 5}, {0, 2, 1, 0, 2}, {4, 1, 4, 1, 4});
  const auto other_columns =
      literal_csr<double>(3, 3, {0, 2, 3, 5}, {0, 1, 1, 0, 2}, {4, 1, 4, 1, 4});
  const auto other_offsets =
      literal_csr<double>(3, 3, {0, 1, 3, 5}, {0, 1, 2, 0, 2}, {4, 4, 1, 1, 4});
  const auto smaller = literal_csr<double>(2, 2, {0, 1, 2}, {0, 1}, {4, 4});
  for (const FormatSpec& format : every_format({2}))
    for (const auto reordering : {Reordering::none, Reordering::rcm}) {
      INFO(format.text() << " rcm " << int(reordering));
      SolveOptions options;
      options.format = format;
      options.reordering = reordering;
      auto solver = solver_on<double>(ctx, options);
      CHECK_THROWS_AS(solver.update_values(A), InvalidArgument);
      solver.prepare(A);
      for (const auto& other : {other_columns, other_offsets, smaller})
        CHECK_THROWS_WITH(solver.update_values(other), ContainsSubstring("pattern"));
      CHECK_THROWS_AS(solver.update_values(Matrix<double>(A)), InvalidArgument);
      CHECK_NOTHROW(solver.update_values(A));
      CHECK(solver.solve(varied_vector<double>(3), zeros<double>(3)).converged());
    }
}

CNC_SOLVER_TEST("a zero diagonal comes and goes with the values") {
  const auto A = literal_csr<double>(2, 2, {0, 1, 2}, {0, 1}, {2, 4});
  const auto sick = literal_csr<double>(2, 2, {0, 1, 2}, {0, 1}, {2, 0});
  const Vector<double> b = varied_vector<double>(2);
  auto solver = solver_on<double>(ctx);
  solver.prepare(A);
  CHECK(solver.solve(b, zeros<double>(2)).converged());
  solver.update_values(sick);
  CHECK(solver.solve(b, zeros<double>(2)).status == SolveStatus::breakdown);
  solver.update_values(A);
  CHECK(solver.solve(b, zeros<double>(2)).converged());
}

CNC_SOLVER_TEST("format and preconditioner stay as prepared until the next prepare") {
  const auto A = generate_problem("elasticity2d:5");
  const Vector<double> b = varied_vector<double>(A.rows);
  SolveOptions options = options_for(Method::pcg, {"bcsr", 2}, PreconditionerKind::block_jacobi);
  auto solver = solver_on<double>(ctx, options);
  solver.prepare(A);
  const auto iterations = solver.solve(b, zeros<double>(A.rows)).iterations;
  solver.set_options(options_for(Method::pcg, {"csr", 1}, PreconditionerKind::none));
  solver.update_values(A);
  const SolveReport same = solver.solve(b, zeros<double>(A.rows));
  CHECK(same.format == "bcsr:2");
  CHECK(same.iterations == iterations);
  solver.prepare(A);
  const SolveReport changed = solver.solve(b, zeros<double>(A.rows));
  CHECK(changed.format == "csr");
  CHECK(changed.iterations > iterations);
}
