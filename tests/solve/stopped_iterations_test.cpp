#include "solve/neumann.hpp"
#include "solve/solver_test.hpp"
#include "support/random_matrix.hpp"

#include <cnc/blas1.hpp>
#include <cnc/triplets.hpp>
#include <solve/engine.hpp>

using namespace cnc;
using namespace cnc::testing;

// A recurrence that is stopped after k iterations has the iterate of the reference backend,
// whichever form of it runs.

namespace {

constexpr index_t last_stop = 12;

/// Symmetric, strictly dominant by rows: the condition number is below 3, see iteration_tolerance.
template <class V>
KnownProblem<V> dominant_problem(index_t n) {
  const auto pattern = random_csr<double>(n, n, 3, 5, banded);
  const auto mirrored = transpose(pattern);
  std::vector<Triplet<double>> entries;
  for (const auto& A : {pattern, mirrored})
    for (index_t row = 0; row < n; ++row)
      for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k)
        if (A.columns(k) != row) {
          entries.push_back({row, A.columns(k), A.values(k)});
          entries.push_back({row, row, 2 * std::abs(A.values(k))});
        }
  for (index_t row = 0; row < n; ++row) entries.push_back({row, row, 0.25 + row % 3});
  return with_known_solution("dominant",
                             convert_values<V>(csr_from_triplets<double>(n, n, entries)));
}

template <class V>
index_t longest_row(const CsrMatrix<V>& A) {
  index_t longest = 0;
  for (index_t row = 0; row < A.rows; ++row)
    longest = std::max(longest, A.row_offsets(row + 1) - A.row_offsets(row));
  return longest;
}

/// For methods that are given the spectrum: of the matrices here, with and without a preconditioner.
constexpr Spectrum bounds = {0.1, 20};

/// What a stopped recurrence leaves behind.
template <class V>
struct Stopped {
  Vector<V> x;
  std::vector<double> rr_history;
  index_t iterations = 0;
  SolveForm form = SolveForm::automatic;  ///< where a solver ran
};

template <class M, class V, class Exec>
detail::System<V, Exec> system_on(Context<Exec>& ctx, const CsrMatrix<V>& on_host,
                                  const FormatSpec& format, PreconditionerKind kind,
                                  int block_size) {
  const auto A = copy_to<typename Exec::memory_space>(on_host);
  detail::System<V, Exec> system;
  system.ctx = &ctx;
  system.rows = A.rows;
  system.matrix = build_format(A, format);
  const auto transposed = transpose(A);
  if constexpr (!std::is_same_v<M, V>) {
    system.narrow = build_format(convert_values<M>(A), format);
    system.narrow_transpose = build_format(convert_values<M>(transposed), format);
  } else {
    system.transpose = build_format(transposed, format);
  }
  system.plan_products();
  system.built_in = {kind, block_size};
  system.built_in.set_up(ctx, A, system.matrix);
  system.built_in.add_transpose(ctx.execution_space_instance());
  return system;
}

/// From x = 0, in batches of the sizes given.
template <class V, class Exec>
Stopped<V> run_stopped(const detail::System<V, Exec>& system, const Vector<V>& b, SolveForm form,
                       Method method, const std::vector<index_t>& batches) {
  using Space = typename Exec::memory_space;
  detail::Workspace<V, Space> work;
  work.allocate(system.rows, method_facts(method), false);
  work.plan = system.make_plan({.method = method, .form = form});
  system.ctx->reserve(system.rows);
  Stopped<V> result;
  const auto x = zeroed<V, Space>("x", b.extent(0));
  Kokkos::deep_copy(work.r, b);
  detail::Tally tally;
  detail::Engine<V, Exec> engine(system, work, x, method, choose_form(system, method, form), tally);
  engine.set_parameters(bounds.smallest, bounds.largest);
  engine.start(nrm2(*system.ctx, work.r));
  detail::IterationLog log;
  for (const index_t batch : batches) engine.iterate(batch, 0, &log);
  result.rr_history = std::move(log.rr);
  system.ctx->fence();
  result.x = copy_to<HostSpace>(x);
  result.iterations = engine.iterations();
  return result;
}

/// Where two recurrences of the same length part; empty when they do not.
template <class V>
std::string parting(const Stopped<V>& actual, const Stopped<V>& expected, double tolerance) {
  if (actual.iterations != expected.iterations) return "another number of iterations";
  if (actual.rr_history.size() != expected.rr_history.size()) return "another length of history";
  const double size = norm2(expected.x);
  for (std::size_t i = 0; i < expected.x.extent(0); ++i)
    if (!agrees(actual.x(i), expected.x(i), tolerance * size))
      return "x, entry " + std::to_string(i) + ": " +
             difference(actual.x(i), expected.x(i), tolerance * size);
  return "";
}

/// The forms that are on offer for the system.
template <class V, class Exec>
std::vector<SolveForm> forms_of(const detail::System<V, Exec>& system, Method method) {
  std::vector<SolveForm> forms;
  for (const SolveForm form : every_form) try {
      choose_form(system, method, form);
      forms.push_back(form);
    } catch (const UnsupportedOperation&) {
    }
  return forms;
}

template <class M, class Exec, class V>
void stop_everywhere(const Backend& backend, const KnownProblem<V>& P, const FormatSpec& format,
                     PreconditionerKind kind, int block_size, Findings& findings) {
  Context<> oracle("reference");
  SharingContext<Exec> ctx(backend);
  const auto expected_system = system_on<M>(oracle, P.A, FormatSpec{"csr", 1}, kind, block_size);
  const auto system = system_on<M, V, Exec>(ctx, P.A, format, kind, block_size);
  system.require_operations();
  // Emulated devices take their time: one of three stops, or of six for those that differ by their products alone; the
  // others with the next method or form.
  const int every = !is_emulated(backend) ? 1 : backend.variant ? 6 : 3;
  int turn = 0;
  for (const Method method : every_method) {
    std::vector<Stopped<V>> expected;
    for (index_t k = 1; k <= std::min(last_stop, P.rows()); ++k)
      expected.push_back(run_stopped(expected_system, P.b, SolveForm::automatic, method, {k}));
    for (const SolveForm form : forms_of(system, method)) {
      ++turn;
      for (const Stopped<V>& stop : expected) {
        const index_t k = stop.iterations;
        if ((k + turn) % every != 0) continue;
        const MethodFacts& facts = method_facts(method);
        if (left_to_rounding<V>(facts, std::sqrt(stop.rr_history.back()), norm2(P.b))) break;
        const double tolerance = method_tolerance<V>(facts, k, longest_row(P.A));
        const auto label = [&] {
          return format.text() + " " + Precision<M, V>::name() + " kind " +
                 std::to_string(int(kind)) + " " + to_string(method) + " as " +
                 cnc::to_string(form) + ", stopped at " + std::to_string(k);
        };
        const auto whole = run_stopped(system, P.b, form, method, {k});
        findings.compare(parting(whole, stop, tolerance), label);
        const auto halves = run_stopped(system, P.b, form, method, {k / 2, k - k / 2});
        findings.compare(parting(halves, stop, tolerance), label);
      }
    }
  }
}

template <class M, class V>
void stop_with_rows(const Backend& backend, Findings& findings, index_t n) {
  const auto problem = dominant_problem<V>(n);
  for (const FormatSpec& format : formats_for(problem.A, {3}))
    for (const auto& [kind, size] : {std::pair{PreconditionerKind::none, 1},
                                     {PreconditionerKind::jacobi, 1},
                                     {PreconditionerKind::block_jacobi, 3}})
      try {
        if ((n == 1100 || is_emulated(backend)) && format.block_size + size > 2)
          continue;  // costs time, tests nothing new
        in_memory_of(backend, [&]<class Exec>(std::type_identity<Exec>) {
          stop_everywhere<M, Exec>(backend, problem, format, kind, size, findings);
        });
      } catch (const UnsupportedOperation&) {
        findings.not_offered(format.text() + " " + Precision<M, V>::name());
      }
}

/// A section for each size, so that one can be asked for: on a device all of them take minutes.
void stop_at_each_iteration(const Backend& backend, Findings& findings) {
  for (const index_t n : {1, 37, 1100}) {
    if (n == 1100 && is_emulated(backend)) continue;
    DYNAMIC_SECTION(n << " rows") {
      for_each_precision([&](auto precision) {
        using P = decltype(precision);
        stop_with_rows<typename P::M, typename P::V>(backend, findings, n);
      });
    }
  }
}

CNC_CONFORMANCE_TEST("methods stopped at each iteration equal reference", stop_at_each_iteration);

/// x after k iterations through the public door, and what the report says about them.
template <class V, class Exec, class Prepare>
Stopped<V> solve_stopped(Context<Exec>& ctx, SolveOptions options, index_t k, const Vector<V>& b,
                         SolveForm form, const Prepare& prepare) {
  options.rtol = 0;
  options.spectrum = bounds;
  options.max_iterations = k;
  auto solver = solver_on<V>(ctx, options);
  prepare(solver);
  Stopped<V> result;
  result.x = zeros<V>(static_cast<index_t>(b.extent(0)));
  const SolveReport report = solver.solve(b, result.x);
  REQUIRE(report.status == SolveStatus::max_iterations);
  if (form != SolveForm::automatic) REQUIRE(report.form == form);
  result.form = report.form;
  result.iterations = report.iterations;
  result.rr_history.assign(report.history.begin() + 1, report.history.end());
  return result;
}

}  // namespace

CNC_SOLVER_TEST("the solver stopped at each iteration has the reference's iterate") {
  const auto P = dominant_problem<double>(61);
  const LinearOperator<double> operation{P.rows(), [&](const auto& x, const auto& y) {
                                           Kokkos::deep_copy(y, product(P.A, copy_of(x)));
                                         }};
  const PreconditionerFunction<double> identity = [](const auto& r, const auto& z) {
    Kokkos::deep_copy(z, r);
  };
  Context<> oracle("reference");
  const auto system =
      system_on<double>(oracle, P.A, FormatSpec{"csr", 1}, PreconditionerKind::none, 1);
  // Without a matrix or with a preconditioner of the caller's, phases are executed one by one where there are some.
  for (const Method method : every_method) {
    const SolveForm form =
        has_passes(ctx.backend(), method) ? SolveForm::fused_steps : SolveForm::plain_operations;
    // Without a preconditioner what rounding changes grows with every product.
    const index_t stops = std::min<index_t>(last_stop, 20 / method_facts(method).products);
    for (index_t k = 1; k <= stops; ++k) {
      if (!takes_parts_of_others(ctx.backend(), method)) break;
      INFO(to_string(method) << " stopped at " << k);
      const SolveOptions options = options_for(method, {}, PreconditionerKind::none);
      const auto expected = run_stopped(system, P.b, SolveForm::automatic, method, {k});
      const double tolerance = method_tolerance<double>(method_facts(method), k, longest_row(P.A));
      const auto matrix_free = solve_stopped<double>(
          ctx, options, k, P.b, form, [&](auto& solver) { solver.prepare(operation); });
      CHECK(parting(matrix_free, expected, tolerance) == "");
      const auto custom = solve_stopped<double>(ctx, options, k, P.b, form, [&](auto& solver) {
        solver.prepare(P.A);
        solver.set_preconditioner(identity);
      });
      CHECK(parting(custom, expected, tolerance) == "");
      // An empty function brings the built-in one back, and with it the best form that there is.
      const auto best =
          solve_stopped<double>(ctx, options, k, P.b, SolveForm::automatic,
                                [&](auto& solver) { solver.prepare(Matrix<double>(P.A)); });
      CHECK((best.form != SolveForm::plain_operations || ctx.backend().variant));
      const auto built_in =
          solve_stopped<double>(ctx, options, k, P.b, best.form, [&](auto& solver) {
            solver.set_preconditioner(identity);
            solver.prepare(Matrix<double>(P.A));
            solver.set_preconditioner({});
          });
      CHECK(parting(built_in, expected, tolerance) == "");
      for (std::size_t i = 0; i < built_in.rr_history.size(); ++i)
        CHECK(agrees(built_in.rr_history[i], std::sqrt(expected.rr_history[i]),
                     tolerance * norm2(P.b)));
    }
  }
}

namespace {

/// The form in which a preconditioner between passes is used when this one is asked for; automatic: refused.
SolveForm enqueued_form(const Backend& backend, Method method, SolveForm asked) {
  const bool runs = matrix_ops<BcsrOperand<double>, double>(backend).run_plan != nullptr;
  switch (asked) {
    case SolveForm::automatic:
      if (runs) return SolveForm::graph;
      return has_passes(backend, method) ? SolveForm::fused_steps : SolveForm::plain_operations;
    case SolveForm::plain_operations:
      return detail::has_plain_form(method) ? asked : SolveForm::automatic;
    case SolveForm::fused_steps: return has_passes(backend, method) ? asked : SolveForm::automatic;
    case SolveForm::streamed:
    case SolveForm::graph: return runs ? asked : SolveForm::automatic;
    case SolveForm::run:
    case SolveForm::resident:
    case SolveForm::one_meeting: break;
  }
  return SolveForm::automatic;
}

/// In each form that takes it, `precondition(solver)` gives the iterates expected.
template <class Exec, class Expected, class Precondition>
void stop_enqueued(Context<Exec>& ctx, const KnownProblem<double>& P, Method method,
                   const Expected& expected, const Precondition& precondition) {
  for (const SolveForm asked : every_form) {
    const SolveForm form = enqueued_form(ctx.backend(), method, asked);
    INFO(to_string(method) << " as " << cnc::to_string(asked));
    SolveOptions options = options_for(method, {"csr", 1}, PreconditionerKind::none);
    options.form = asked;
    if (form == SolveForm::automatic) {
      auto solver = solver_on<double>(ctx, options);
      solver.prepare(P.A);
      precondition(solver);
      CHECK_THROWS_AS(solver.solve(P.b, zeros<double>(P.rows())), UnsupportedOperation);
      continue;
    }
    for (index_t k = 1; k <= last_stop; ++k) {
      INFO("stopped at " << k);
      const double tolerance = method_tolerance<double>(method_facts(method), k, longest_row(P.A));
      // At once, and in runs of 5 iterations: each goes on where the one before was stopped, with more enqueued.
      for (const index_t interval : {0, 5}) {
        options.callback_interval = interval;
        options.callback = [](const Progress&) { return true; };
        const auto stopped = solve_stopped<double>(ctx, options, k, P.b, form, [&](auto& solver) {
          solver.prepare(P.A);
          precondition(solver);
        });
        CHECK(parting(stopped, expected(k), tolerance) == "");
      }
    }
  }
}

}  // namespace

CNC_SOLVER_TEST(
    "a preconditioner that only enqueues has the iterates of the same one in the passes") {
  const auto P = dominant_problem<double>(61);
  Preconditioner<double> jacobi;
  REQUIRE(set_up_preconditioner(P.A, PreconditionerKind::jacobi, 1, jacobi).ok());
  const auto inverse = copy_to<typename Exec::memory_space>(jacobi.inverse);
  Context<> oracle("reference");
  const auto system =
      system_on<double>(oracle, P.A, FormatSpec{"csr", 1}, PreconditionerKind::jacobi, 1);
  for (const Method method : every_method) {
    if (!takes_parts_of_others(ctx.backend(), method)) continue;
    const auto expected = [&](index_t k) {
      return run_stopped(system, P.b, SolveForm::automatic, method, {k});
    };
    stop_enqueued(ctx, P, method, expected, [&](auto& solver) {
      solver.Solver<double, Exec>::set_preconditioner(
          [&](const auto& r, const auto& z) { multiply(ctx, inverse, r, z); }, EnqueuesOnly::yes);
    });
  }
}

CNC_SOLVER_TEST("an object that is not local has the iterates of the reference in every form") {
  const auto P = dominant_problem<double>(61);
  Context<> oracle("reference");
  for (const Method method : cg_methods) {
    const auto expected = [&](index_t k) {
      const SolveOptions options = options_for(method, {"csr", 1}, PreconditionerKind::none);
      return solve_stopped<double>(
          oracle, options, k, P.b, SolveForm::plain_operations, [&](auto& solver) {
            solver.set_preconditioner(std::make_shared<Neumann<double, HostExec>>());
            solver.prepare(P.A);
          });
    };
    stop_enqueued(ctx, P, method, expected, [&](auto& solver) {
      solver.set_preconditioner(std::make_shared<Neumann<double, Exec>>());
    });
  }
}
