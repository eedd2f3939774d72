#include "solve/neumann.hpp"
#include "solve/solver_test.hpp"
#include "support/same_matrix.hpp"

#include <cnc/reorder.hpp>

#include <stdexcept>

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

// Preconditioners as objects: when they are set up and updated, what a report says of them, and how often a solve waits
// for one.

namespace {

constexpr auto no_built_in = PreconditionerKind::none;

/// The diagonal inverted by the caller: local to a row, so passes apply it.
template <class V, class Exec>
class OwnDiagonal final : public PreconditionerBase<V, Exec> {
 public:
  using typename PreconditionerBase<V, Exec>::Space;
  std::string name() const override { return "own diagonal"; }
  double bytes(index_t rows, offset_t) const override { return double(rows) * sizeof(V); }
  PreconditionerSetup set_up(Context<Exec>&, const CsrMatrix<V, Space>& A,
                             const Matrix<V, Space>&) override {
    return set_up_preconditioner(A, PreconditionerKind::jacobi, 1, data_);
  }
  std::optional<PreconditionerOperand<V>> local() const override { return data_.operand(); }

 private:
  Preconditioner<V, Space> data_;
};

/// One that does nothing but to fail.
template <class Exec>
struct Failing final : PreconditionerBase<double, Exec> {
  using typename PreconditionerBase<double, Exec>::Space;
  PreconditionerSetup outcome;
  bool throws = false;
  double needs = 0;
  std::string name() const override { return "failing"; }
  double bytes(index_t, offset_t) const override { return needs; }
  PreconditionerSetup set_up(Context<Exec>&, const CsrMatrix<double, Space>&,
                             const Matrix<double, Space>&) override {
    if (throws) throw std::runtime_error("no set-up today");
    return outcome;
  }
};

/// Backends whose runs are enqueued.
bool plans_runs(const Backend& backend) {
  return solves(backend) && matrix_ops<BcsrOperand<double>, double>(backend).run_plan != nullptr;
}

CsrMatrix<double> scaled(const CsrMatrix<double>& A, double factor) {
  CsrMatrix<double> result = A;
  result.values = copy_of(A.values);
  for (std::size_t k = 0; k < result.values.extent(0); ++k) result.values(k) *= factor;
  return result;
}

}  // namespace

CNC_SOLVER_TEST(
    "an object is set up in prepare, updated with the values, and named in the report") {
  const auto P = known_problem<double>(sized(ctx, "poisson2d:17x13", "poisson2d:8x7"));
  const auto later = scaled(P.A, 4);
  for (const FormatSpec& format : formats_for(P.A, {3}))
    for (const auto reordering : {Reordering::none, Reordering::rcm})
      for (const Method method : cg_methods) {
        INFO(format.text() << " rcm " << int(reordering) << " " << to_string(method));
        SolveOptions options = options_for(method, format, no_built_in);
        options.reordering = reordering;
        const SolveReport plain = solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows()));
        const auto neumann = std::make_shared<Neumann<double, Exec>>();
        auto solver = solver_on<double>(ctx, options);
        solver.set_preconditioner(neumann);
        CHECK(neumann->set_ups == 0);
        solver.prepare(P.A);
        CHECK(neumann->set_ups == 1);
        const Vector<double> x = zeros<double>(P.rows());
        const SolveReport report = solver.solve(P.b, x);
        CHECK(report.converged());
        CHECK(report.preconditioner == "neumann:2");
        CHECK(relative_difference(x, P.solution) < 1e-6);
        CHECK(report.iterations < 0.75 * plain.iterations);

        solver.update_values(later);
        CHECK(neumann->updates == 1);
        Kokkos::deep_copy(x, 0);
        const SolveReport updated = solver.solve(P.b, x);
        CHECK(updated.converged());
        CHECK(updated.iterations == report.iterations);
        for (std::size_t i = 0; i < x.extent(0); ++i) x(i) *= 4;
        CHECK(relative_difference(x, P.solution) < 1e-6);
        CHECK(neumann->set_ups == 1);

        solver.set_preconditioner({});
        CHECK(solver.solve(P.b, zeros<double>(P.rows())).preconditioner == "none");
      }
}

CNC_SOLVER_TEST(
    "an object given to a prepared solver is set up at once, from the values there are") {
  const auto P = known_problem<double>(sized(ctx, "poisson2d:17x13", "poisson2d:8x7"));
  const auto later = scaled(P.A, 4);
  for (const bool as_layout : {false, true}) {
    SolveOptions options;
    options.preconditioner = no_built_in;
    if (!as_layout) options.format = {"bsell", 1};
    auto solver = solver_on<double>(ctx, options);
    const auto layout = [&](const CsrMatrix<double>& A) {
      return build_format(copy_to<typename Exec::memory_space>(A), {"bsell", 1});
    };
    as_layout ? solver.prepare(layout(P.A)) : solver.prepare(P.A);
    as_layout ? solver.update_values(layout(later)) : solver.update_values(later);
    const auto neumann = std::make_shared<Neumann<double, Exec>>();
    solver.set_preconditioner(neumann);
    CHECK(neumann->set_ups == 1);
    const Vector<double> x = zeros<double>(P.rows()), y = zeros<double>(P.rows());
    const SolveReport report = solver.solve(P.b, x);
    auto fresh = solver_on<double>(ctx, options);
    fresh.set_preconditioner(std::make_shared<Neumann<double, Exec>>());
    as_layout ? fresh.prepare(layout(later)) : fresh.prepare(later);
    CHECK(report.converged());
    CHECK(fresh.solve(P.b, y).iterations == report.iterations);
    CHECK(same_bits(x, y));
    as_layout ? solver.update_values(layout(P.A)) : solver.update_values(P.A);
    Kokkos::deep_copy(x, 0);
    CHECK(solver.solve(P.b, x).converged());
    CHECK(relative_difference(x, P.solution) < 1e-6);
  }
}

CNC_SOLVER_TEST("a local object goes through the passes like the built-in one") {
  const auto P = known_problem<double>(sized(ctx, "wathen:7x7", "wathen:4x4"));
  for (const Method method : every_method)
    for (const SolveForm form : every_form) {
      if (method_facts(method).normal_equations) continue;  // the built-in one is of A^T A
      SolveOptions options = options_for(method, {"csr", 1}, PreconditionerKind::jacobi);
      options.form = form;
      const Vector<double> x = zeros<double>(P.rows()), y = zeros<double>(P.rows());
      SolveReport built_in;
      try {
        built_in = solve_once(ctx, options, P.A, P.b, x);
      } catch (const UnsupportedOperation&) {
        continue;
      }
      INFO(to_string(method) << " as " << cnc::to_string(form));
      CHECK(built_in.preconditioner == "jacobi");
      options.preconditioner = no_built_in;
      auto solver = solver_on<double>(ctx, options);
      solver.set_preconditioner(std::make_shared<OwnDiagonal<double, Exec>>());
      solver.prepare(P.A);
      const SolveReport own = solver.solve(P.b, y);
      CHECK(own.preconditioner == "own diagonal");
      CHECK(own.form == built_in.form);
      CHECK(own.iterations == built_in.iterations);
      // How often the host has looked by the end of a streamed run or a graph on a device is a matter of timing.
      const bool by_timing = ctx.backend().memory == MemorySpace::device &&
                             (own.form == SolveForm::streamed || own.form == SolveForm::graph);
      CHECK(std::abs(own.host_synchronisations - built_in.host_synchronisations) <=
            (by_timing ? 1 : 0));
      CHECK(same_bits(x, y));
    }
}

CNC_SOLVER_TEST_WHERE(
    plans_runs, "where a preconditioner only enqueues a device does not wait in each iteration") {
  const auto P = known_problem<double>(sized(ctx, "poisson2d:40x30", "poisson2d:9x8"));
  Preconditioner<double> jacobi;
  REQUIRE(set_up_preconditioner(P.A, PreconditionerKind::jacobi, 1, jacobi).ok());
  const auto inverse = copy_to<typename Exec::memory_space>(jacobi.inverse);
  const auto scale = [&](const auto& r, const auto& z) { multiply(ctx, inverse, r, z); };
  for (const Method method : every_method)
    for (const SolveForm form : {SolveForm::automatic, SolveForm::streamed, SolveForm::graph}) {
      INFO(to_string(method) << " as " << cnc::to_string(form));
      SolveOptions options = options_for(method, {}, no_built_in);
      options.rtol = 0;
      options.max_iterations = 50;
      options.spectrum = {0.004, 2.05};  // of chebyshev: the host looks while it is being found
      options.form = form;
      auto solver = solver_on<double>(ctx, options);
      solver.prepare(P.A);
      solver.Solver<double, Exec>::set_preconditioner(scale, EnqueuesOnly::yes, scale);
      const SolveReport promised = solver.solve(P.b, zeros<double>(P.rows()));
      CHECK(promised.form == (form == SolveForm::streamed ? form : SolveForm::graph));
      CHECK(promised.preconditioner == "function");
      CHECK(promised.iterations > 15);
      // One in each of the first iterations, as long as they take long, then groups of four, and a few waits at both ends.
      const index_t starts = promised.restarts + 1;
      const index_t first = std::min(promised.iterations, 32 * starts);
      CHECK(promised.host_synchronisations <=
            first + (promised.iterations - first) / 4 + 6 * starts);

      options.form = SolveForm::automatic;
      solver.set_options(options);
      solver.Solver<double, Exec>::set_preconditioner(scale, EnqueuesOnly::no, scale);
      const SolveReport waiting = solver.solve(P.b, zeros<double>(P.rows()));
      CHECK(waiting.form == SolveForm::fused_steps);
      CHECK(waiting.host_synchronisations > waiting.iterations);
    }
}

CNC_SOLVER_TEST_WHERE(plans_runs,
                      "a form that cannot hold the preconditioner is refused, with the reason") {
  const auto P = known_problem<double>("poisson2d:8x7");
  SolveOptions options;
  options.preconditioner = no_built_in;
  const auto refused = [&](SolveForm form, bool promises, const char* reason) {
    options.form = form;
    auto solver = solver_on<double>(ctx, options);
    solver.prepare(P.A);
    solver.set_preconditioner(std::make_shared<Neumann<double, Exec>>(promises));
    CHECK_THROWS_WITH(solver.solve(P.b, zeros<double>(P.rows())),
                      ContainsSubstring(cnc::to_string(form)) && ContainsSubstring(reason));
  };
  refused(SolveForm::resident, true, "not local to a row or block");
  refused(SolveForm::streamed, false, "promise");
  refused(SolveForm::graph, false, "promise");
}

CNC_SOLVER_TEST(
    "an object that fails in set-up ends the solve, with its row as the caller knows it") {
  const auto P = known_problem<double>("poisson2d:5x4");
  for (const auto reordering : {Reordering::none, Reordering::rcm}) {
    SolveOptions options;
    options.preconditioner = no_built_in;
    options.reordering = reordering;
    auto solver = solver_on<double>(ctx, options);
    const auto failing = std::make_shared<Failing<Exec>>();
    failing->outcome.row = 3;
    failing->outcome.fault = "has a zero pivot";
    solver.set_preconditioner(failing);
    solver.prepare(P.A);
    const Vector<double> x = zeros<double>(P.rows());
    const SolveReport report = solver.solve(P.b, x);
    CHECK(report.status == SolveStatus::breakdown);
    const index_t row = reordering == Reordering::none ? 3 : rcm_ordering(P.A, 1)(3);
    CHECK(report.detail == "preconditioner 'failing': row " + std::to_string(row) +
                               " (counted from 0) has a zero pivot");
    // Without a fault in words it is that of a diagonal.
    failing->outcome.fault = nullptr;
    solver.prepare(P.A);
    CHECK_THAT(solver.solve(P.b, x).detail, ContainsSubstring("the diagonal entry of row"));
    // The built-in one has none.
    solver.set_preconditioner({});
    CHECK(solver.solve(P.b, x).converged());
  }
}

CNC_SOLVER_TEST_WHERE(
    [](const Backend& backend) {
      return solves(backend) && takes_parts_of_others(backend, Method::pcg_flexible);
    },
    "flexible CG takes a preconditioner that changes from step to step") {
  const auto P = known_problem<double>("poisson2d:16x15");
  const auto solve = [&](Method method) {
    auto solver = solver_on<double>(ctx, options_for(method, {}, no_built_in));
    solver.prepare(P.A);
    // Some steps of CG from zero, each time another number: no linear operator.
    int calls = 0;
    solver.set_preconditioner([&](const auto& r, const auto& z) {
      const int steps = 2 + calls++ % 4;
      const auto rest = copy_of(r), p = copy_of(r), q = zeros<double>(P.rows());
      for (index_t i = 0; i < P.rows(); ++i) z(i) = 0;
      double rr = std::pow(norm2(rest), 2);
      for (int k = 0; k < steps && rr > 0; ++k) {
        double pq = 0;
        for (index_t i = 0; i < P.rows(); ++i) {
          q(i) = 0;
          for (index_t e = P.A.row_offsets(i); e < P.A.row_offsets(i + 1); ++e)
            q(i) += P.A.values(e) * p(P.A.columns(e));
          pq += p(i) * q(i);
        }
        for (index_t i = 0; i < P.rows(); ++i) {
          z(i) += rr / pq * p(i);
          rest(i) -= rr / pq * q(i);
        }
        const double before = rr;
        rr = std::pow(norm2(rest), 2);
        for (index_t i = 0; i < P.rows(); ++i) p(i) = rest(i) + rr / before * p(i);
      }
    });
    const Vector<double> x = zeros<double>(P.rows());
    const SolveReport report = solver.solve(P.b, x);
    if (report.converged()) CHECK(relative_difference(x, P.solution) < 1e-6);
    return report;
  };
  const SolveReport flexible = solve(Method::pcg_flexible), fixed = solve(Method::pcg);
  CHECK(flexible.converged());
  CHECK(3 * flexible.iterations < 2 * fixed.iterations);
}

CNC_SOLVER_TEST("an object that throws in set-up is not used") {
  const auto P = known_problem<double>("poisson2d:5x4");
  auto solver = solver_on<double>(ctx);
  solver.prepare(P.A);
  const auto failing = std::make_shared<Failing<Exec>>();
  failing->throws = true;
  CHECK_THROWS_WITH(solver.set_preconditioner(failing), "no set-up today");
  const Vector<double> x = zeros<double>(P.rows());
  const SolveReport report = solver.solve(P.b, x);
  CHECK(report.converged());
  CHECK(report.preconditioner == "jacobi");
  CHECK_THROWS_AS(solver.set_preconditioner(std::shared_ptr<Failing<Exec>>()), InvalidArgument);

  auto other = solver_on<double>(ctx);
  other.set_preconditioner(failing);
  CHECK_THROWS_WITH(other.prepare(P.A), "no set-up today");
  CHECK_THROWS_AS(other.solve(P.b, x), InvalidArgument);
  failing->throws = false;
  failing->needs = 1e18;
  CHECK_THROWS_AS(other.prepare(P.A), OutOfMemory);
  other.set_preconditioner({});
  other.prepare(P.A);
  CHECK(other.solve(P.b, x).converged());
}

CNC_SOLVER_TEST("a matrix-free solver uses an object as it is") {
  const auto P = known_problem<double>(sized(ctx, "poisson2d:17x13", "poisson2d:8x7"));
  SolveOptions options;
  options.preconditioner = no_built_in;
  const auto neumann = std::make_shared<Neumann<double, Exec>>();
  const auto A = copy_to<typename Exec::memory_space>(P.A);
  neumann->set_up(ctx, A, A);
  auto solver = solver_on<double>(ctx, options);
  solver.set_preconditioner(neumann);
  solver.prepare(LinearOperator<double>{P.rows(), [&](const auto& x, const auto& y) {
                                          Kokkos::deep_copy(y, product(P.A, copy_of(x)));
                                        }});
  const Vector<double> x = zeros<double>(P.rows());
  const SolveReport report = solver.solve(P.b, x);
  CHECK(report.converged());
  CHECK(report.preconditioner == "neumann:2");
  CHECK(relative_difference(x, P.solution) < 1e-6);
  CHECK(neumann->set_ups == 1);
}

CNC_SOLVER_TEST(
    "an object in use that throws when it is set up again leaves the solver unprepared") {
  const auto P = known_problem<double>("poisson2d:5x4");
  auto solver = solver_on<double>(ctx);
  const auto failing = std::make_shared<Failing<Exec>>();
  solver.set_preconditioner(failing);
  solver.prepare(P.A);
  failing->throws = true;
  CHECK_THROWS_WITH(solver.set_preconditioner(failing), "no set-up today");
  const Vector<double> x = zeros<double>(P.rows());
  CHECK_THROWS_AS(solver.solve(P.b, x), InvalidArgument);
  solver.set_preconditioner({});
  solver.prepare(P.A);
  CHECK(solver.solve(P.b, x).converged());
}

CNC_SOLVER_TEST("what an object says of itself is checked") {
  const auto P = known_problem<double>("poisson2d:5x4");
  const Vector<double> x = zeros<double>(P.rows());
  struct Wrong final : PreconditionerBase<double, Exec> {
    using typename PreconditionerBase<double, Exec>::Space;
    PreconditionerOperand<double> operand;
    index_t row = -1;
    std::string name() const override { return "wrong"; }
    double bytes(index_t, offset_t) const override { return 0; }
    PreconditionerSetup set_up(Context<Exec>&, const CsrMatrix<double, Space>&,
                               const Matrix<double, Space>&) override {
      return {row};
    }
    std::optional<PreconditionerOperand<double>> local() const override { return operand; }
  };
  const auto wrong = std::make_shared<Wrong>();
  const double some = 1;
  auto solver = solver_on<double>(ctx);
  solver.prepare(P.A);
  const PreconditionerOperand<double> operands[] = {{PreconditionerKind::jacobi, 1, nullptr},
                                                    {PreconditionerKind::block_jacobi, 0, &some},
                                                    {PreconditionerKind::block_jacobi, 17, &some}};
  for (const auto& operand : operands) {
    wrong->operand = operand;
    solver.set_preconditioner(wrong);
    CHECK_THROWS_AS(solver.solve(P.b, x), InvalidArgument);
  }
  wrong->operand = {};
  wrong->row = P.rows();
  CHECK_THROWS_AS(solver.set_preconditioner(wrong), InvalidArgument);
}

// The rule of docs/lifetime.md: of a matrix given to update_values only the values must live.
TEST_CASE("index arrays given to update_values are not read again") {
  const auto P = known_problem<double>("poisson2d:8x7");
  using Exec = Kokkos::DefaultHostExecutionSpace;
  for (const FormatSpec& format : formats_for(P.A, {2})) {
    INFO(format.text());
    Context<> ctx;
    SolveOptions options;
    options.format = format;
    Solver<double> solver(ctx, options);
    solver.prepare(P.A);
    const auto given = deep_copy_of(P.A);
    solver.update_values(given);
    std::fill_n(const_cast<index_t*>(given.columns.data()), given.columns.extent(0), -1);
    std::fill_n(const_cast<index_t*>(given.row_offsets.data()), given.row_offsets.extent(0), -1);
    Vector<double> x = zeros<double>(P.rows());
    CHECK(solver.solve(P.b, x).converged());
    solver.set_preconditioner(std::make_shared<Neumann<double, Exec>>());
    x = zeros<double>(P.rows());
    CHECK(solver.solve(P.b, x).converged());
    CHECK(relative_difference(x, P.solution) < 1e-6);
  }
}

TEST_CASE("block-Jacobi is named with its block size") {
  const auto P = known_problem<double>("elasticity2d:4");
  Context<> ctx;
  SolveOptions options = options_for(Method::pcg, {"bcsr", 2}, PreconditionerKind::block_jacobi);
  CHECK(solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows())).preconditioner ==
        "block-jacobi:2");
  options.preconditioner_block_size = 3;
  CHECK(solve_once(ctx, options, P.A, P.b, zeros<double>(P.rows())).preconditioner ==
        "block-jacobi:3");
}
