// What a solver makes of a device that cannot, or will not, run a whole grid at one time; and that solves
// which take turns with a few solution vectors capture a graph for each of them once, with preconditioners that are
// enqueued between the passes in it.

#include "solve/neumann.hpp"
#include "support/catch.hpp"
#include "support/gpu_host/backends.hpp"
#include "support/solve_problem.hpp"

#include <cnc/contract/methods.hpp>
#include <cnc/error.hpp>
#include <cnc/solver.hpp>

#include <target/launch.hpp>

namespace machine = cnc::gpu::machine;

namespace cnc::testing {
namespace {

const std::vector<const Backend*> emulated = emulated_devices();

/// Sets what becomes of resident launches, for as long as it lives.
struct ResidentsScope {
  explicit ResidentsScope(machine::Residents residents) { machine::set_residents(residents); }
  ~ResidentsScope() { machine::set_residents(machine::Residents::granted); }
  ResidentsScope(const ResidentsScope&) = delete;
  ResidentsScope& operator=(const ResidentsScope&) = delete;
};

}  // namespace

TEST_CASE("a device without cooperative launches, or one that refuses them, runs a graph") {
  const auto P = known_problem<double>("poisson2d:12x11");
  for (const Backend* backend : emulated) {
    Context<> ctx(*backend);
    SolveReport granted;
    for (const machine::Residents residents :
         {machine::Residents::granted, machine::Residents::unknown, machine::Residents::refused}) {
      INFO(backend->name << " " << int(residents));
      const ResidentsScope scope(residents);
      SolveOptions options;
      Solver<double> automatic(ctx, options);
      automatic.prepare(P.A);
      const Vector<double> x = zeros<double>(P.rows());
      const SolveReport report = automatic.solve(P.b, x);
      CHECK(report.converged());
      CHECK(relative_difference(x, P.solution) < 1e-6);
      if (residents == machine::Residents::granted) {
        CHECK(report.form == SolveForm::one_meeting);
        continue;
      }
      CHECK(report.form == SolveForm::graph);
      options.form = SolveForm::resident;  // by name there is no other
      Solver<double> resident(ctx, options);
      resident.prepare(P.A);
      CHECK_THROWS_AS(resident.solve(P.b, zeros<double>(P.rows())), UnsupportedOperation);
    }
  }
}

TEST_CASE("resident conjugate gradients, whatever M is, and stopped at any iteration") {
  struct Case {
    const char* problem;
    PreconditionerKind kind;
  };
  for (const Backend* backend : emulated)
    for (const Case& c : {Case{"poisson2d:12x11", PreconditionerKind::jacobi},  // M is one number
                          Case{"poisson2d:12x11", PreconditionerKind::none},
                          Case{"wathen:5x4", PreconditionerKind::jacobi}})
      for (const Method method :
           {Method::pcg, Method::pcg_single_reduction, Method::pcg_flexible}) {
        INFO(backend->name << " " << c.problem << " " << method_facts(method).name);
        const auto P = known_problem<double>(c.problem);
        Context<> ctx(*backend);
        SolveOptions options;
        options.method = method;
        options.preconditioner = c.kind;
        const bool repeats = P.rows() == 132;  // so do the rows of the grid
        if (repeats) options.format = {"dia-symmetric", 1};
        const auto solved = [&](SolveForm form, index_t iterations_of_run) {
          options.form = form;
          options.callback_interval = iterations_of_run;
          if (iterations_of_run > 0) options.callback = [](const Progress&) { return true; };
          Solver<double> solver(ctx, options);
          solver.prepare(P.A);
          const Vector<double> x = zeros<double>(P.rows());
          const SolveReport report = solver.solve(P.b, x);
          CHECK(report.converged());
          CHECK(report.form == form);
          CHECK((report.row_kinds > 0) == repeats);
          CHECK(relative_difference(x, P.solution) < 1e-6);
          return report.iterations;
        };
        const index_t iterations = solved(SolveForm::graph, 0);
        for (const index_t of_run : {0, 1, 7}) {
          const index_t resident = solved(SolveForm::resident, of_run);
          CHECK(resident >= iterations - 1);
          CHECK(resident <= iterations + 1);
        }
      }
}

TEST_CASE("reports count what products of a resident run read") {
  const auto P = known_problem<double>("poisson2d:20x17");
  for (const Backend* backend : emulated) {
    Context<> ctx(*backend);
    const auto bytes_per_row = [&](StoragePrecision storage, SolveForm form) {
      SolveOptions options;
      options.form = form;
      options.format = {"dia-symmetric", 1};
      options.storage = storage;
      Solver<double> solver(ctx, options);
      solver.prepare(P.A);
      const SolveReport report = solver.solve(P.b, zeros<double>(P.rows()));
      CHECK(report.form == form);
      return report.bytes / report.iterations / P.rows();
    };
    // x, y and two passes are 32 of it, three diagonals in double 24, in float 12, a code 1.
    CHECK(bytes_per_row(StoragePrecision::lossless, SolveForm::resident) < 36);
    CHECK(bytes_per_row(StoragePrecision::lossless, SolveForm::one_meeting) > 27);
    CHECK(bytes_per_row(StoragePrecision::as_vectors, SolveForm::resident) > 55);
  }
}

TEST_CASE("gmres makes its steps of operations where a device does not run a whole grid") {
  const auto P = known_problem<double>("poisson2d:12x11");
  for (const Backend* backend : emulated)
    for (const machine::Residents residents :
         {machine::Residents::unknown, machine::Residents::refused}) {
      INFO(backend->name << " " << int(residents));
      const ResidentsScope scope(residents);
      Context<> ctx(*backend);
      SolveOptions options;
      options.method = Method::gmres;
      Solver<double> solver(ctx, options);
      solver.prepare(P.A);
      const Vector<double> x = zeros<double>(P.rows());
      const SolveReport report = solver.solve(P.b, x);
      CHECK(report.converged());
      CHECK(report.form == SolveForm::plain_operations);
      CHECK(relative_difference(x, P.solution) < 1e-6);
      options.form = SolveForm::resident;
      solver.set_options(options);
      CHECK_THROWS_AS(solver.solve(P.b, zeros<double>(P.rows())), UnsupportedOperation);
    }
}

TEST_CASE("solves that alternate between solution vectors capture a graph for each once") {
  const auto P = known_problem<double>("poisson2d:12x11");
  for (const Backend* backend : emulated)
    for (int m = 0; m < method_count; ++m) {
      const auto method = static_cast<Method>(m);
      INFO(backend->name << " " << method_facts(method).name);
      Context<> ctx(*backend);
      SolveOptions options;
      options.method = method;
      options.form = SolveForm::graph;
      Solver<double> solver(ctx, options);
      solver.prepare(P.A);
      const int before = machine::recorded_graphs();
      const Vector<double> x[] = {zeros<double>(P.rows()), zeros<double>(P.rows()),
                                  zeros<double>(P.rows())};
      for (int round = 0; round < 6; ++round) {
        const Vector<double>& mine = x[round % 3];
        Kokkos::deep_copy(mine, 0.0);
        CHECK(solver.solve(P.b, mine).converged());
        CHECK(relative_difference(mine, P.solution) < 1e-6);
        CHECK(same_bits(mine, x[0]));
      }
      CHECK(machine::recorded_graphs() - before == 3);
    }
}

SolveOptions gmres_by_recorded_steps(const char* format) {
  SolveOptions options;
  options.method = Method::gmres;
  options.restart = 12;
  options.format = {format, 1};
  options.form = SolveForm::plain_operations;
  return options;
}

TEST_CASE("recorded steps of gmres follow the values of rows that repeat") {
  const auto P = known_problem<double>("poisson2d:12x11");
  for (const Backend* backend : emulated) {
    INFO(backend->name);
    Context<> ctx(*backend);
    Solver<double> solver(ctx, gmres_by_recorded_steps("bsell"));
    solver.prepare(P.A);
    CsrMatrix<double> A = P.A;
    A.values = copy_of(P.A.values);
    const auto check_solves = [&] {
      const Vector<double> b = zeros<double>(P.rows()), x = zeros<double>(P.rows());
      for (std::size_t i = 0; i < std::size_t(P.rows()); ++i)
        for (auto k = std::size_t(A.row_offsets(i)); k < std::size_t(A.row_offsets(i + 1)); ++k)
          b(i) += A.values(k) * P.solution(std::size_t(A.columns(k)));
      for (int solve = 0; solve < 3; ++solve) {  // the later ones by what was recorded
        Kokkos::deep_copy(x, 0.0);
        const SolveReport report = solver.solve(b, x);
        CHECK(report.converged());
        CHECK(report.row_kinds == 9);
        CHECK(relative_difference(x, P.solution) < 1e-6);
      }
    };
    check_solves();
    for (std::size_t k = 0; k < A.values.extent(0); ++k)
      if (A.values(k) < 0) A.values(k) *= 0.5;  // another stencil
    solver.update_values(A);
    check_solves();
    // The first line is of kinds of its own: with other values there, rows are no parts of one.
    for (std::size_t k = 0; k < std::size_t(A.row_offsets(12)); ++k) A.values(k) *= 3;
    solver.update_values(A);
    check_solves();
  }
}

TEST_CASE("steps of gmres are recorded once, and again when what kernels know of has moved") {
  const auto P = known_problem<double>("poisson2d:12x11");
  for (const Backend* backend : emulated) {
    INFO(backend->name);
    Context<> ctx(*backend);
    Solver<double> solver(ctx, gmres_by_recorded_steps("csr"));
    solver.prepare(P.A);
    const Vector<double> first = zeros<double>(P.rows()), x = zeros<double>(P.rows());
    const auto new_graphs = [&] {
      const int before = machine::recorded_graphs();
      Kokkos::deep_copy(x, 0.0);
      CHECK(solver.solve(P.b, x).converged());
      CHECK(relative_difference(x, P.solution) < 1e-6);
      return machine::recorded_graphs() - before;
    };
    const int graphs = new_graphs();
    CHECK(graphs >= 2);  // eight steps and four, and those that are done again
    Kokkos::deep_copy(first, x);
    (void)new_graphs();  // groups that came up once
    CHECK(new_graphs() == 0);
    CHECK(same_bits(x, first));
    ctx.reserve(1'000'000);  // the scratch of reductions
    CHECK(new_graphs() >= 2);
    CHECK(same_bits(x, first));
    (void)new_graphs();
    solver.update_values(P.A);  // the same arrays
    CHECK(new_graphs() == 0);
    CsrMatrix<double> moved = P.A;
    moved.values = copy_of(P.A.values);
    solver.update_values(moved);
    CHECK(new_graphs() >= 2);
    CHECK(same_bits(x, first));
  }
}

TEST_CASE("a preconditioner that only enqueues is recorded once, and again when it changes") {
  const auto P = known_problem<double>("poisson2d:12x11");
  CsrMatrix<double> twice = P.A;
  twice.values = Vector<double>("twice", P.A.values.extent(0));
  for (std::size_t k = 0; k < twice.values.extent(0); ++k) twice.values(k) = 2 * P.A.values(k);
  for (const Backend* backend : emulated)
    for (int m = 0; m < method_count; ++m) {
      const auto method = static_cast<Method>(m);
      INFO(backend->name << " " << method_facts(method).name);
      Context<> ctx(*backend);
      SolveOptions options;
      options.method = method;
      options.spectrum = {0.03, 1.5};  // chebyshev would run, and record, CG first
      Solver<double> solver(ctx, options);
      const auto neumann = std::make_shared<Neumann<double, Kokkos::DefaultHostExecutionSpace>>();
      solver.set_preconditioner(neumann);
      solver.prepare(P.A);
      const Vector<double> x = zeros<double>(P.rows());
      int graphs = machine::recorded_graphs();
      const auto solve = [&](double factor, int new_graphs) {
        Kokkos::deep_copy(x, 0.0);
        const int calls = neumann->applied;
        const SolveReport report = solver.solve(P.b, x);
        CHECK(report.converged());
        CHECK(report.form == SolveForm::graph);
        for (std::size_t i = 0; i < x.extent(0); ++i) x(i) *= factor;
        CHECK(relative_difference(x, P.solution) < 1e-6);
        CHECK(machine::recorded_graphs() - graphs == new_graphs);
        graphs = machine::recorded_graphs();
        // A start applies it up to twice; iterations are in the graph, four of them.
        const int of_graph = 4 * std::max(2, method_facts(method).products);
        CHECK(neumann->applied - calls <= 2 * (report.restarts + 1) + of_graph * new_graphs);
      };
      solve(1, 1);
      solve(1, 0);
      solver.update_values(twice);
      solve(2, 1);
      solve(2, 0);
      solver.set_preconditioner(neumann);
      solve(2, 1);
    }
}

TEST_CASE("what cannot be recorded is streamed, unless a graph is asked for") {
  const auto P = known_problem<double>("poisson2d:12x11");
  for (const Backend* backend : emulated) {
    Context<> ctx(*backend);
    SolveOptions options;
    options.preconditioner = PreconditionerKind::none;
    const auto breaks_its_promise = [&](const auto& r, const auto& z) {
      gpu::synchronize(ctx.queue());
      axpby(ctx, 0.25, r, 0.0, z);
    };
    Solver<double> solver(ctx, options);
    solver.prepare(P.A);
    solver.set_preconditioner(breaks_its_promise, EnqueuesOnly::yes);
    const Vector<double> x = zeros<double>(P.rows());
    for (int round = 0; round < 2; ++round) {
      Kokkos::deep_copy(x, 0.0);
      const SolveReport report = solver.solve(P.b, x);
      CHECK(report.converged());
      CHECK(report.form == SolveForm::streamed);
      CHECK(relative_difference(x, P.solution) < 1e-6);
    }
    options.form = SolveForm::graph;
    solver.set_options(options);
    CHECK_THROWS_AS(solver.solve(P.b, zeros<double>(P.rows())), DeviceError);
  }
}

}  // namespace cnc::testing
