// Whole runs of PCG inside one backend call, against the reference's separate steps.

#include "conformance/layouts.hpp"
#include "conformance/pcg_state.hpp"

#include <cnc/error.hpp>
#include <cnc/preconditioner.hpp>

namespace cnc::testing {
namespace {

constexpr index_t most_iterations = 12;

/// Symmetric and strictly diagonally dominant: eigenvalues between 1 and 9.6 by Gershgorin's theorem.
/// Neighbours at distance 1 and 5, so that every block size has blocks on and off the diagonal.
template <class M>
CsrMatrix<M> spd_matrix(index_t n) {
  std::vector<index_t> columns;
  std::vector<M> values;
  Kokkos::View<index_t*, HostSpace> row_offsets("row_offsets", static_cast<std::size_t>(n) + 1);
  for (index_t i = 0; i < n; ++i) {
    for (const index_t distance : {-5, -1, 0, 1, 5}) {
      const index_t j = i + distance;
      if (j < 0 || j >= n) continue;
      Random random(static_cast<std::uint64_t>(7 * std::min(i, j) + distance * distance));
      const double size = std::abs(random.value());
      columns.push_back(j);
      values.push_back(static_cast<M>(distance == 0 ? 5 + 0.6 * size : -0.5 - 0.5 * size));
    }
    row_offsets(i + 1) = static_cast<index_t>(columns.size());
  }
  Kokkos::View<index_t*, HostSpace> column_view("columns", columns.size());
  Vector<M> value_view("values", values.size());
  std::copy(columns.begin(), columns.end(), column_view.data());
  std::copy(values.begin(), values.end(), value_view.data());
  return {n, n, 1, row_offsets, column_view, value_view};
}

/// How a run is to be done, and with which recurrences.
struct RunKind {
  PcgForm form = PcgForm::automatic;
  bool single_reduction = false;

  std::string text() const {
    const char* const forms[] = {"automatic", "streamed", "graph", "resident"};
    return std::string(forms[static_cast<int>(form)]) + (single_reduction ? " C-G" : " classic");
  }
};

/// Backends that plan their runs have every form of both recurrences, the others one of the classic.
std::vector<RunKind> kinds_of_run(bool planned) {
  if (!planned) return {{}};
  std::vector<RunKind> kinds;
  for (const PcgForm form :
       {PcgForm::automatic, PcgForm::streamed, PcgForm::graph, PcgForm::resident})
    for (const bool single_reduction : {false, true}) kinds.push_back({form, single_reduction});
  return kinds;
}

/// When a run ends.
struct Limits {
  index_t iterations = 0;
  double rr_target = 0;
};

template <class V>
PcgState<V> started(index_t n, const Preconditioner<V>& M) {
  PcgState<V> state(n, Alignment::odd);
  state.make_first();
  state.x.fill(0);
  const TestQueue queue(reference(), n, 1);
  vector_ops<V>(reference()).pcg_start(queue, n, queue(M), state.in(queue), queue(state.scalars));
  return state;
}

/// The states of the reference after 0, 1, ... most_iterations separate steps on CSR.
template <class M, class V>
std::vector<PcgState<V>> reference_states(const CsrMatrix<M>& A, const Preconditioner<V>& P) {
  const VectorOps<V>& ops = vector_ops<V>(reference());
  const TestQueue queue(reference(), A.rows, 1);
  std::vector<PcgState<V>> states = {started(A.rows, P)};
  while (states.size() <= most_iterations) {
    PcgState<V> state = states.back();
    ops.pcg_direction(queue, A.rows, state.in(queue), &state.scalars);
    matrix_table<M, V>(reference())
        .bcsr.spmv_dot(queue, A.operand(), state.p.data(), state.q.data(), &state.scalars.pq);
    ops.pcg_update(queue, A.rows, P.operand(), state.in(queue), &state.scalars);
    states.push_back(std::move(state));
  }
  return states;
}

template <class V>
double norm(const GuardedVector<V>& x) {
  double sum = 0;
  for (index_t i = 0; i < x.size(); ++i) sum += double(x[i]) * x[i];
  return std::sqrt(sum);
}

template <class M, class V>
class RunCheck {
 public:
  RunCheck(const Backend& backend, Findings& findings, index_t n, PreconditionerKind kind,
           int preconditioner_block)
      : backend_(backend), findings_(findings), A_(spd_matrix<M>(n)) {
    set_up_preconditioner(A_, kind, preconditioner_block, P_);
    states_ = reference_states(A_, P_);
  }

  void run() {
    for (const Layout<M>& layout : layouts(A_, A_.rows > 1000 ? 3 : max_block_size)) {
      const int b = block_size(layout.A);
      if (is_emulated(backend_) && b != 1 && b != 3 && b != 7) continue;
      layout_ = layout.name;
      plan_.reset();
      std::visit([&](const auto& a) { check(layout.format, a); }, layout.A);
    }
  }

 private:
  template <class SparseMatrix>
  void check(const std::string& format, const SparseMatrix& A) {
    const auto& ops = matrix_ops(matrix_table<M, V>(backend_), A.operand());
    if (!findings_.offered(ops.pcg_run, "pcg_run of " + format)) return;
    for (const RunKind& kind : kinds_of_run(ops.pcg_plan != nullptr)) {
      // One of the others that an emulated device takes by itself.
      if (is_emulated(backend_) && kind.form == PcgForm::automatic) continue;
      try {
        kind_ = kind;
        check_limits(A);
        check_target(A);
        check_nothing_to_do(A);
        check_breakdown(A);
      } catch (const UnsupportedOperation&) {
        findings_.not_offered("pcg_run " + kind.text() + " of " + format);
      }
    }
  }

  template <class SparseMatrix>
  PcgRun call(const SparseMatrix& A, PcgState<V>& state, const Limits& limits, int threads,
              GuardedVector<double>* history = nullptr) {
    const TestQueue queue(backend_, A.rows, threads);
    const auto operand = queue(A);
    const auto& ops = matrix_ops(matrix_table<M, V>(backend_), operand);
    if (ops.pcg_plan != nullptr && plan_ == nullptr) plan_ = ops.pcg_plan(queue, operand);
    PcgRun run;
    run.form = kind_.form;
    run.single_reduction = kind_.single_reduction;
    run.max_iterations = limits.iterations;
    run.rr_target = limits.rr_target;
    run.history = history != nullptr ? queue.shared(*history) : nullptr;
    run.plan = plan_.get();
    run.iterations = -1;
    ops.pcg_run(queue, operand, queue(P_), state.in(queue), queue(state.scalars), &run);
    queue.finish();
    compare(unless(state.walls_intact() && queue.walls_intact(), "wrote outside a vector"),
            "memory");
    compare(unless(same_scalars(run.scalars, state.scalars), "differ from those in memory"),
            "scalars of the run");
    compare(unless(kind_.form == PcgForm::automatic || run.used == kind_.form, "took another"),
            "form");
    return run;
  }

  /// Stopped at each iteration: the state is that of as many separate steps, for Chronopoulos-Gear too,
  /// whose iterates are the same; and in two runs as in one.
  template <class SparseMatrix>
  void check_limits(const SparseMatrix& A) {
    for (index_t limit = 1; limit <= most_iterations; ++limit) {
      const int threads = limit == 3 ? 2 : limit % 4 == 3 ? 3 : 1;
      GuardedVector<double> history(limit, Alignment::even);
      PcgState<V> state = states_[0];
      const PcgRun run = call(A, state, {limit}, threads, &history);
      const std::string what = "limit " + std::to_string(limit);
      compare(unless(run.iterations == limit, "wrong number of iterations"), what);
      compare(unless(history.walls_intact(), "wrote outside the history"), what);
      for (index_t k = 0; k < limit; ++k) compare_rr(history[k], k + 1, what + ", history");
      compare(unless(history[limit - 1] == state.scalars.rr, "differs from rr"),
              what + ", history");
      compare_state(state, limit, what);

      if (limit % 4 != 3) continue;
      PcgState<V> again = states_[0], halves = states_[0];
      call(A, again, {limit}, threads);
      compare(unless(again.x.same_bits(state.x) && again.r.same_bits(state.r) &&
                         again.p.same_bits(state.p) && same_scalars(again.scalars, state.scalars),
                     "other bits on another run"),
              what);
      call(A, halves, {limit / 2}, threads);
      call(A, halves, {limit - limit / 2}, threads);
      compare_state(halves, limit, what + ", in two runs");
    }
  }

  /// A target between two residuals of the reference ends the run at the second.
  template <class SparseMatrix>
  void check_target(const SparseMatrix& A) {
    for (const index_t k : {1, 3, 6}) {
      const double before = rr(k - 1), after = rr(k);
      if (after > 0.9 * before || before < 1e-9 * rr(0))
        continue;  // too close to tell, or converged
      PcgState<V> state = states_[0];
      const PcgRun run = call(A, state, {100, std::sqrt(before * after)}, k == 3 ? 3 : 1);
      const std::string what = "target of iteration " + std::to_string(k);
      compare(unless(run.iterations == k, "wrong number of iterations"), what);
      compare_state(state, k, what);
    }
  }

  /// Limit 0, a target that is met, a breakdown that is set: no iteration, and nothing changes.
  template <class SparseMatrix>
  void check_nothing_to_do(const SparseMatrix& A) {
    const auto check_unchanged = [&](const PcgState<V>& before, const Limits& limits,
                                     const char* what) {
      PcgState<V> state = before;
      const PcgRun run = call(A, state, limits, 3);
      compare(unless(run.iterations == 0, "did iterations"), what);
      compare(unless(state.x.same_bits(before.x) && state.r.same_bits(before.r) &&
                         same_scalars(state.scalars, before.scalars),
                     "changed the state"),
              what);
    };
    const PcgState<V>& start = states_[0];
    check_unchanged(start, {0}, "limit 0");
    check_unchanged(start, {5, rr(0)}, "target met at once");
    PcgState<V> broken = start;
    broken.scalars.breakdown = PcgBreakdown::zero_curvature;
    check_unchanged(broken, {5}, "already broken down");
  }

  /// An r.z of NaN, zero or less: the first update finds it, and x and r stay as they are.
  template <class SparseMatrix>
  void check_breakdown(const SparseMatrix& A) {
    for (const double rz : {-1.0, 0.0, GuardedVector<double>::nan()}) {
      PcgState<V> state = states_[0];
      state.scalars.rz = rz;
      const PcgRun run = call(A, state, {5}, 3);
      const std::string what = "breakdown with rz " + std::to_string(rz);
      compare(unless(run.iterations == 0, "counted the iteration that broke down"), what);
      compare(unless(state.scalars.breakdown == pcg_breakdown(rz, 1), "wrong kind"), what);
      compare(unless(state.x.same_bits(states_[0].x) && state.r.same_bits(states_[0].r),
                     "changed x or r"),
              what);
    }
  }

  double rr(index_t k) const { return states_[static_cast<std::size_t>(k)].scalars.rr; }

  /// Residual norms, not their squares, so that the tolerance is relative to the first.
  void compare_rr(double actual, index_t k, const std::string& what) {
    compare(difference(std::sqrt(actual), std::sqrt(rr(k)), tolerance(k) * std::sqrt(rr(0))),
            what + ", rr");
  }
  void compare_state(const PcgState<V>& actual, index_t k, const std::string& what) {
    const PcgState<V>& expected = states_[static_cast<std::size_t>(k)];
    const auto vectors_agree = [&](const auto& a, const auto& b, double size, const char* name) {
      compare(difference(a, b, [&](index_t) { return tolerance(k) * size; }), what + ", " + name);
    };
    vectors_agree(actual.x, expected.x, norm(expected.x), "x");
    vectors_agree(actual.r, expected.r, norm(states_[0].r), "r");
    vectors_agree(actual.p, expected.p, norm(states_[1].p), "p");
    compare_rr(actual.scalars.rr, k, what);
    compare(difference(std::sqrt(actual.scalars.rz), std::sqrt(expected.scalars.rz),
                       tolerance(k) * std::sqrt(states_[0].scalars.rz)),
            what + ", rz");
    compare(unless(actual.scalars.breakdown == PcgBreakdown::none, "broke down"), what);
  }
  static double tolerance(index_t iterations) { return iteration_tolerance<V>(iterations, 5); }

  void compare(const std::string& text, const std::string& what) {
    findings_.compare(text, [&] {
      return "pcg_run " + std::string(Precision<M, V>::name()) + " " + layout_ + ", " +
             kind_.text() + ", " + std::to_string(A_.rows) + " rows, preconditioner " +
             std::to_string(static_cast<int>(P_.kind)) + " block size " +
             std::to_string(P_.block_size) + ", " + what;
    });
  }

  const Backend& backend_;
  Findings& findings_;
  CsrMatrix<M> A_;
  Preconditioner<V> P_;
  std::vector<PcgState<V>> states_;
  std::string layout_;
  RunKind kind_;
  std::unique_ptr<PcgPlan> plan_;
};

template <class M, class V>
void check_precision(const Backend& backend, Findings& findings) {
  struct Case {
    index_t n;
    PreconditionerKind kind;
    int block_size;
  };
  using Kind = PreconditionerKind;
  for (const Case& c :
       {Case{33, Kind::none, 1}, Case{65, Kind::jacobi, 1}, Case{37, Kind::block_jacobi, 2},
        Case{64, Kind::block_jacobi, 3}, Case{90, Kind::block_jacobi, 5},
        Case{71, Kind::block_jacobi, 16}, Case{1300, Kind::jacobi, 1},
        Case{1301, Kind::block_jacobi, 3}, Case{1030, Kind::none, 1}}) {
    // Emulated devices make several blocks of a hundred rows already, and every launch takes its time.
    if (is_emulated(backend) && (c.n > 100 || ((sizeof(M) == 4 || is_sanitized) && c.n != 64)))
      continue;
    RunCheck<M, V>(backend, findings, c.n, c.kind, c.block_size).run();
  }
}

void check_runs(const Backend& backend, Findings& findings) {
  for_each_precision([&](auto precision) {
    check_precision<typename decltype(precision)::Matrix, typename decltype(precision)::Vectors>(
        backend, findings);
  });
}

/// Matrices that converge at once or are not there: the run ends by itself with the solution.
void check_tiny(const Backend& backend, Findings& findings) {
  const auto ops = matrix_table<double, double>(backend).bcsr;
  if (!findings.offered(ops.pcg_run, "pcg_run")) return;
  for (const index_t n : {0, 1, 2, 5}) {
    const CsrMatrix<double> A = spd_matrix<double>(n);
    PcgState<double> state = started<double>(n, {});
    GuardedVector<double> b = state.r, product(n, Alignment::even);
    const TestQueue queue(backend, n, max_threads), oracle(reference(), n, 1);
    const auto operand = queue(A);
    const auto plan = ops.pcg_plan != nullptr ? ops.pcg_plan(queue, operand) : nullptr;
    PcgRun run;
    run.max_iterations = 100;
    run.rr_target = 1e-24;
    run.plan = plan.get();
    ops.pcg_run(queue, operand, {}, state.in(queue), queue(state.scalars), &run);
    queue.finish();
    findings.compare(
        unless(run.iterations <= n + 1 && state.scalars.rr <= 1e-24, "did not converge"),
        [&] { return "pcg_run, n = " + std::to_string(n); });
    matrix_table<double, double>(reference())
        .bcsr.spmv(oracle, 1, A.operand(), state.x.data(), 0, product.data());
    findings.compare(difference(product, b, [](index_t) { return 1e-11; }),
                     [&] { return "A x after pcg_run, n = " + std::to_string(n); });
  }
}

CNC_CONFORMANCE_TEST("pcg run", check_runs);
CNC_CONFORMANCE_TEST("pcg run on tiny matrices", check_tiny);

}  // namespace
}  // namespace cnc::testing
