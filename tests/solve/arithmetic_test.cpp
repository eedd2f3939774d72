// Solves whose products and dots are rounded as the caller says.

#include "solve/solver_test.hpp"

#include <cnc/multivector.hpp>
#include <cnc/options.hpp>

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr Arithmetic arithmetics[] = {Arithmetic::separate, Arithmetic::fused,
                                      Arithmetic::compensated_separate,
                                      Arithmetic::compensated_fused};

/// Whether a backend offers all of them.
bool is_careful(const Backend& backend) {
  return vector_ops<double>(backend).dot_compensated != nullptr &&
         matrix_ops<BcsrOperand<double>, double>(backend).spmv_careful != nullptr;
}
bool solves_carefully(const Backend& backend) { return solves(backend) && is_careful(backend); }
bool solves_but_not_carefully(const Backend& backend) {
  return solves_on_request(backend) && !is_careful(backend);
}

SolveForm steps_of(Method method) {
  return is_phased(method) ? SolveForm::fused_steps : SolveForm::plain_operations;
}

/// Solves twice, and checks what the report says and that x is the solution. x of the first.
template <class V, class Exec>
Vector<V> check_solve(Context<Exec>& ctx, const KnownProblem<V>& P, const SolveOptions& options) {
  CAPTURE(P.name, method_name(options.method), cnc::to_string(options.arithmetic),
          options.format.text(), static_cast<int>(options.preconditioner), sizeof(V));
  auto solver = solver_on<V>(ctx, options);
  solver.prepare(P.A);
  const Vector<V> x = zeros<V>(P.rows()), again = zeros<V>(P.rows());
  const SolveReport report = solver.solve(P.b, x);
  CHECK(report.converged());
  CHECK(report.form == steps_of(options.method));
  CHECK(report.arithmetic == options.arithmetic);
  CHECK(relative_difference(x, P.solution) < 1e4 * options.rtol);
  if (const Residual r = residual_of(P.A, P.b, x); !method_facts(options.method).least_squares)
    CHECK(std::abs(report.true_residual - r.norm) <= r.rounding);
  const SolveReport second = solver.solve(P.b, again);
  CHECK(second.history == report.history);
  CHECK(same_bits(x, again));
  return x;
}

template <class V, class Exec>
void check_methods(Context<Exec>& ctx, const std::vector<FormatSpec>& formats) {
  const auto P = known_problem<V>("elasticity2d:4");
  std::size_t turn = 0;
  for_each_of(all_methods, [&](SolveOptions options) {
    options.rtol = sizeof(V) == 4 ? 1e-4 : 1e-9;
    options.max_iterations = 2000;
    for (const Arithmetic arithmetic : arithmetics) {
      options.arithmetic = arithmetic;
      options.format = formats[turn % formats.size()];
      options.preconditioner =
          turn % 3 == 0 ? PreconditionerKind::block_jacobi : PreconditionerKind::jacobi;
      options.preconditioner_block_size = turn % 3 == 0 ? 2 : 0;
      ++turn;
      check_solve<V>(ctx, P, options);
    }
  });
}

}  // namespace

CNC_SOLVER_TEST_WHERE(solves_carefully, "every method converges in every arithmetic") {
  const std::vector<FormatSpec> formats = {
      {"csr", 1}, {"bcsr", 2}, {"bsell", 2}, {"dia", 1}, {"bsell", 1}};
  check_methods<double>(ctx, formats);
  if (!is_emulated(ctx.backend())) check_methods<float>(ctx, formats);
}

CNC_SOLVER_TEST_WHERE(solves_carefully, "least squares and float storage in every arithmetic") {
  const auto P = known_problem<double>("poisson2d:7x6");
  for (const Arithmetic arithmetic : arithmetics) {
    SolveOptions options;
    options.arithmetic = arithmetic;
    options.method = Method::lsqr;
    options.rtol = 1e-10;
    check_solve<double>(ctx, P, options);
    options.method = Method::pcg;
    options.storage = StoragePrecision::f32;
    check_solve<double>(ctx, P, options);
  }
}

CNC_SOLVER_TEST_WHERE(solves_carefully, "the arithmetic makes a difference") {
  const auto P = known_problem<float>(sized(ctx, "poisson2d:31x29", "poisson2d:9x8"));
  SolveOptions options;
  options.rtol = 1e-5;
  std::vector<Vector<float>> all;
  for (const Arithmetic arithmetic :
       {Arithmetic::separate, Arithmetic::compensated_separate, Arithmetic::compensated_fused}) {
    options.arithmetic = arithmetic;
    all.push_back(check_solve<float>(ctx, P, options));
  }
  CHECK_FALSE(same_bits(all[0], all[1]));
  CHECK_FALSE(same_bits(all[0], all[2]));
}

CNC_SOLVER_TEST_WHERE(solves_carefully,
                      "a preconditioner of the caller's between compensated sums") {
  const auto P = known_problem<double>("poisson2d:7x6");
  SolveOptions options;
  options.preconditioner = PreconditionerKind::none;
  options.arithmetic = Arithmetic::compensated_fused;
  auto solver = solver_on<double>(ctx, options);
  solver.set_preconditioner([](const Vector<const double>& r, const Vector<double>& z) {
    for (std::size_t i = 0; i < r.extent(0); ++i) z(i) = r(i) / 4;
  });
  solver.prepare(P.A);
  const Vector<double> x = zeros<double>(P.rows());
  const SolveReport report = solver.solve(P.b, x);
  CHECK(report.converged());
  CHECK(report.preconditioner == "function");
  CHECK(relative_difference(x, P.solution) < 1e-5);
}

CNC_SOLVER_TEST_WHERE(solves_carefully,
                      "another arithmetic for the next solve, and columns one by one") {
  using Space = typename Exec::memory_space;
  const auto P = known_problem<double>("poisson2d:7x6");
  SolveOptions options;
  Solver<double, Exec> solver(ctx, options);
  solver.prepare(copy_to<Space>(P.A));
  const auto b = copy_to<Space>(P.b);
  const auto solve = [&](Arithmetic arithmetic) {
    options.arithmetic = arithmetic;
    solver.set_options(options);
    const auto x = zeroed<double, Space>("x", b.extent(0));
    const SolveReport report = solver.solve(b, x);
    CHECK(report.converged());
    CHECK(report.arithmetic == arithmetic);
    return copy_to<HostSpace>(x);
  };
  const auto before = solve(Arithmetic::fast);
  const auto careful = solve(Arithmetic::compensated_fused);
  CHECK(same_bits(before, solve(Arithmetic::fast)));

  const Kokkos::View<double**, Kokkos::LayoutLeft, Space> bs("b", b.extent(0), 2);
  const Kokkos::View<double**, Kokkos::LayoutLeft, Space> xs("x", b.extent(0), 2);
  for (int c = 0; c < 2; ++c) Kokkos::deep_copy(Kokkos::subview(bs, Kokkos::ALL, c), b);
  options.arithmetic = Arithmetic::compensated_fused;
  solver.set_options(options);
  const auto reports = solver.solve(bs, xs);
  REQUIRE(reports.size() == 2);
  for (int c = 0; c < 2; ++c) {
    CHECK(reports[static_cast<std::size_t>(c)].arithmetic == Arithmetic::compensated_fused);
    const auto x = zeroed<double, Space>("x", b.extent(0));
    Kokkos::deep_copy(x, Kokkos::subview(xs, Kokkos::ALL, c));
    CHECK(same_bits(copy_to<HostSpace>(x), careful));
  }
}

CNC_SOLVER_TEST_WHERE(solves_carefully, "forms and operators that an arithmetic does not go with") {
  const auto P = known_problem<double>("poisson2d:5x4");
  SolveOptions options;
  options.arithmetic = Arithmetic::fused;
  const auto refused = [&](Method method, SolveForm form, const char* text) {
    options.method = method;
    options.form = form;
    CHECK_THROWS_WITH(solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows())),
                      ContainsSubstring(text));
  };
  for (const SolveForm form : {SolveForm::run, SolveForm::plain_operations, SolveForm::streamed,
                               SolveForm::graph, SolveForm::resident})
    refused(Method::pcg, form, "arithmetic 'fused' takes the form 'fused' of pcg, not");
  refused(Method::gmres, SolveForm::resident, "takes the form 'plain' of gmres");
  options.form = SolveForm::fused_steps;
  options.method = Method::pcg;
  CHECK(solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows())).converged());

  options.preconditioner = PreconditionerKind::none;
  auto solver = solver_on<double>(ctx, options);
  solver.prepare(
      LinearOperator<double>{P.rows(), [](const Vector<const double>& x, const Vector<double>& y) {
                               for (std::size_t i = 0; i < x.extent(0); ++i) y(i) = 2 * x(i);
                             }});
  CHECK_THROWS_WITH(solver.solve(P.b, zeros<double>(P.rows())),
                    ContainsSubstring("an operator has its own"));
}

CNC_SOLVER_TEST_WHERE(solves_but_not_carefully, "a backend without careful products says so") {
  const auto P = known_problem<double>("poisson2d:5x4");
  for (const Arithmetic arithmetic : arithmetics) {
    SolveOptions options;
    options.arithmetic = arithmetic;
    options.format = {"csr", 1};
    CHECK_THROWS_WITH(solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows())),
                      ContainsSubstring("does not offer arithmetic"));
  }
}

TEST_CASE("arithmetics have names") {
  for (const Arithmetic arithmetic : arithmetics)
    CHECK(parse_arithmetic(cnc::to_string(arithmetic)) == arithmetic);
  CHECK(parse_arithmetic("fast") == Arithmetic::fast);
  CHECK_THROWS_WITH(parse_arithmetic("exact"), ContainsSubstring("compensated-separate"));
}
