// Whole runs of every method inside one backend call, in every form, against the reference's runs on CSR.

#include "conformance/method_state.hpp"

#include <cnc/error.hpp>
#include <cnc/solver.hpp>

namespace cnc::testing {
namespace {

constexpr index_t most_iterations = 12;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Backends that plan their runs have every form that a method has, the others one.
std::vector<SolveForm> forms(bool planned, Method method) {
  if (!planned) return {SolveForm::run};
  std::vector<SolveForm> all = {SolveForm::run, SolveForm::streamed, SolveForm::graph,
                                SolveForm::resident};
  if (method_facts(method).meets_once) all.push_back(SolveForm::one_meeting);
  return all;
}

/// When a run ends.
struct Limits {
  index_t iterations = 0;
  double rr_target = 0;
};

template <class M, class V>
class RunCheck {
 public:
  RunCheck(const Backend& backend, Findings& findings, Method method, index_t n,
           PreconditionerKind kind, int preconditioner_block, bool repeats)
      : backend_(backend),
        findings_(findings),
        method_(method),
        repeats_(repeats),
        A_(matrix_for<M>(method, n, repeats)) {
    set_up_preconditioner(A_, kind, preconditioner_block, P_);
    add_transpose(P_);
    states_ = reference_states(method, A_, P_.operand(), most_iterations);
    energy_gains_.resize(states_.size());
    MethodState<V> state = before_start();
    reference_run(method, A_, P_.operand(), state, last(), energy_gains_.data());
  }

  void run() {
    // Those of a matrix with the same pattern come in the same order.
    const bool breaks_late = needs_definite(method_facts(method_)) && A_.rows < 100 && !repeats_;
    const CsrMatrix<M> indefinite = indefinite_matrix<M>(breaks_late ? A_.rows : 1);
    const int largest_block = A_.rows > 1000 ? 3 : max_block_size;
    const auto late = layouts(indefinite, largest_block);
    std::size_t k = 0;
    int turn = 0;
    for (const Layout<M>& layout : repeats_ ? repeating() : layouts(A_, largest_block)) {
      const Layout<M>* const late_layout = breaks_late ? &late.at(k) : nullptr;
      ++k;
      const int b = block_size(layout.A);
      if (is_emulated(backend_) && b != 1 && b != 3 && b != 7) continue;
      // Half of the layouts, sanitized a third: others for the next method.
      constexpr int part = is_sanitized ? 3 : 2;
      if (is_emulated(backend_) && (turn++ + static_cast<int>(method_)) % part != 0) continue;
      layout_ = layout.name;
      plan_.reset();
      std::visit(
          [&](const auto& A) {
            using SparseMatrix = std::decay_t<decltype(A)>;
            const auto& ops = matrix_ops<V>(backend_, A.operand());
            if (!findings_.offered(ops.run[static_cast<int>(method_)],
                                   "run of " + name() + " with " + layout.format))
              return;
            for (const SolveForm form : forms(ops.run_plan != nullptr, method_)) {
              // One of the others that an emulated device takes by itself.
              if (is_emulated(backend_) && form == SolveForm::run) continue;
              try {
                form_ = form;
                check_limits(A);
                check_target(A);
                check_nothing_to_do(A);
                // With one meeting the diagonal has to be that of the preconditioner.
                if (form_ == SolveForm::one_meeting && P_.kind != PreconditionerKind::none)
                  continue;
                if (breaks_down_on_zero(method_facts(method_))) check_breakdowns(A);
                if (late_layout != nullptr)
                  check_late_breakdown(indefinite, std::get<SparseMatrix>(late_layout->A));
              } catch (const UnsupportedOperation&) {
                findings_.not_offered(std::string(to_string(form)) + " run of " + name() +
                                      " with " + layout.format);
              }
            }
          },
          layout.A);
    }
  }

 private:
  /// Layouts with a dictionary of rows alone.
  std::vector<Layout<M>> repeating() const {
    std::vector<Layout<M>> list = product_layouts(A_, 3);
    std::erase_if(list, [](const Layout<M>& layout) {
      return std::visit([](const auto& A) { return A.dictionary.empty(); }, layout.A);
    });
    return list;
  }
  std::string name() const { return method_facts(method_).name; }
  MethodState<V> before_start() const { return MethodState<V>(method_, A_.rows, Alignment::odd); }

  /// A run that begins a recurrence, or goes on where the state's last run stopped.
  template <class SparseMatrix>
  MethodRun call(const SparseMatrix& A, MethodState<V>& state, bool starts, const Limits& limits,
                 int threads, GuardedVector<double>* logs = nullptr) {
    const TestQueue queue(backend_, A.rows, threads);
    auto operand = queue(A);
    const SparseMatrix transpose =
        method_facts(method_).transposes ? transposed_layout(A) : SparseMatrix();
    const auto transposed = queue(transpose);
    operand.transpose = &transposed;
    const auto& ops = matrix_ops<V>(backend_, operand);
    if (ops.run_plan != nullptr && plan_ == nullptr)
      plan_ = ops.run_plan(queue, operand, {method_, P_.kind, SolveForm::automatic});
    MethodRun run;
    run.form = form_;
    run.starts = starts;
    run.max_iterations = limits.iterations;
    run.rr_target = limits.rr_target;
    if (logs != nullptr) {
      run.energy_gains = queue.shared(*logs);
      run.history = run.energy_gains + limits.iterations;
    }
    run.plan = plan_.get();
    run.iterations = -1;
    ops.run[static_cast<int>(method_)](queue, operand, queue(P_), state.in(queue),
                                       queue(state.scalars), &run);
    queue.finish();
    compare(unless(state.walls_intact() && queue.walls_intact(), "wrote outside a vector"),
            "memory");
    compare(unless(same_scalars(run.scalars, state.scalars), "differ from those in memory"),
            "scalars of the run");
    compare(unless(form_ == SolveForm::run || run.used == form_, "took another"), "form");
    return run;
  }

  /// Stopped at each iteration; the same bits when repeated; and in two runs as in one.
  template <class SparseMatrix>
  void check_limits(const SparseMatrix& A) {
    for (index_t limit = 1; limit <= last(); ++limit) {
      if (left_to_rounding<V>(method_facts(method_), std::sqrt(rr(limit)), std::sqrt(rr(0)))) break;
      const int threads = limit == 3 ? 2 : limit % 4 == 3 ? 3 : 1;
      GuardedVector<double> logs(2 * limit, Alignment::even);  // of energy, then of rr
      MethodState<V> state = before_start();
      const MethodRun run = call(A, state, true, {limit}, threads, &logs);
      const std::string what = "limit " + std::to_string(limit);
      compare(unless(run.iterations == limit, "wrong number of iterations"), what);
      compare(unless(logs.walls_intact(), "wrote outside the history"), what);
      for (index_t k = 0; k < limit; ++k) compare_rr(logs[limit + k], k + 1, what + ", history");
      if (method_facts(method_).energy_gain != nullptr)
        for (index_t k = 0; k < limit; ++k) compare_energy_gain(logs[k], k, what);
      compare(unless(logs[2 * limit - 1] == state.scalars.rr(), "differs from rr"),
              what + ", history");
      compare_state(state, limit, what);

      if (limit % 4 != 3) continue;
      MethodState<V> again = before_start(), halves = before_start();
      const MethodRun second = call(A, again, true, {limit}, threads);
      // The automatic form is another one once enough iterations are done.
      if (second.used == run.used)
        compare(unless(again.same_result(state) && same_scalars(again.scalars, state.scalars),
                       "other bits on another run"),
                what);
      call(A, halves, true, {limit / 2}, threads);
      compare_state(halves, limit / 2, what + ", first of two runs");
      const MethodRun rest = call(A, halves, false, {limit - limit / 2}, threads);
      compare(unless(rest.iterations == limit - limit / 2, "wrong number of iterations"),
              what + ", second of two runs");
      compare_state(halves, limit, what + ", in two runs");
      if (form_ == SolveForm::one_meeting || form_ == SolveForm::resident) {
        const SolveForm form = form_;
        for (const SolveForm first : {form, SolveForm::streamed}) {
          halves = before_start();
          form_ = first;
          call(A, halves, true, {limit / 2}, threads);
          form_ = first == form ? SolveForm::streamed : form;
          call(A, halves, false, {limit - limit / 2}, threads);
          form_ = form;
          compare_state(halves, limit, what + ", in two forms");
        }
      }
    }
  }

  /// A target between two residuals of the reference ends the run at the second.
  template <class SparseMatrix>
  void check_target(const SparseMatrix& A) {
    for (const index_t k : {1, 3, 6}) {
      const double before = rr(k - 1), after = rr(k);
      if (after > 0.9 * before || before < 1e-9 * rr(0))
        continue;  // too close to tell, or converged
      const double target = std::sqrt(before * after);
      bool is_first = true;
      for (index_t earlier = 0; earlier < k; ++earlier) is_first &= rr(earlier) > 1.05 * target;
      if (!is_first) continue;
      MethodState<V> state = before_start();
      const MethodRun run = call(A, state, true, {100, target}, k == 3 ? 3 : 1);
      const std::string what = "target of iteration " + std::to_string(k);
      compare(unless(run.iterations == k, "wrong number of iterations"), what);
      compare_state(state, k, what);
    }
  }

  /// Limit 0, a target that is met, a breakdown that is set, an r . r that is no number: no iteration, and neither x
  /// nor r changes.
  template <class SparseMatrix>
  void check_nothing_to_do(const SparseMatrix& A) {
    const auto check_unchanged = [&](const MethodState<V>& before, bool starts,
                                     const Limits& limits, const std::string& what) {
      MethodState<V> state = before;
      const MethodRun run = call(A, state, starts, limits, 3);
      compare(unless(run.iterations == 0, "did iterations"), what);
      compare(unless(state.same_result(before), "changed x or r"), what);
      if (!starts)
        compare(unless(same_scalars(state.scalars, before.scalars), "changed the scalars"), what);
      return state;
    };
    const double met = 2 * rr(0);
    const MethodState<V> start = check_unchanged(before_start(), true, {0}, "start, limit 0");
    compare_rr(start.scalars.rr(), 0, "start");
    compare(unless(start.scalars.breakdown == Breakdown::none, "broke down"), "start");
    check_unchanged(before_start(), true, {5, met}, "start, target met at once");
    MethodState<V> some = before_start();
    call(A, some, true, {3}, 3);
    for (const MethodState<V>& before : {start, some}) {
      const std::string what = before.scalars.first ? ", after the start" : ", after iterations";
      check_unchanged(before, false, {0}, "limit 0" + what);
      check_unchanged(before, false, {5, met}, "target met at once" + what);
      MethodState<V> broken = before;
      broken.scalars.breakdown = Breakdown::zero_divisor;
      check_unchanged(broken, false, {5}, "already broken down" + what);
    }
    MethodState<V> poisoned = before_start();
    poisoned.r()[A.rows / 2] = GuardedVector<V>::nan();
    poisoned = check_unchanged(poisoned, true, {5}, "r is no number");
    compare(unless(std::isnan(poisoned.scalars.rr()), "NaN got lost"), "r is no number, rr");
  }

  /// To be called when the next run has other values: they may be where those of the last one were.
  void take_other_values() const {
    if (plan_ != nullptr) plan_->renew(false);
  }

  /// Matrices with which the first iteration breaks down: x and r stay as they are.
  template <class SparseMatrix>
  void check_breakdowns(const SparseMatrix& A) {
    for (const double factor : {-1.0, 0.0, nan}) {
      if (factor < 0 && !needs_definite(method_facts(method_))) continue;
      const std::string what = "matrix times " + std::to_string(factor);
      const MethodState<V> before = before_start();
      MethodState<V> expected = before, state = before;
      reference_run(method_, scaled(A_, factor), P_.operand(), expected, 5);
      take_other_values();
      const MethodRun run = call(scaled(A, factor), state, true, {5}, 3);
      compare(unless(run.iterations == 0, "counted the iteration that broke down"), what);
      compare(unless(state.scalars.breakdown == expected.scalars.breakdown &&
                         state.scalars.breakdown != Breakdown::none,
                     "wrong kind"),
              what);
      compare(unless(state.same_result(before), "changed x or r"), what);
      compare_rr(state.scalars.rr(), 0, what);
    }
    take_other_values();
  }

  /// A matrix with which a later one does: x and r are those of the iteration before it.
  template <class SparseMatrix>
  void check_late_breakdown(const CsrMatrix<M>& csr, const SparseMatrix& A) {
    MethodState<V> expected = before_start(), state = expected;
    const double r_size = norm(state.r());
    const index_t done =
        reference_run(method_, csr, P_.operand(), expected, most_iterations).iterations;
    take_other_values();
    const MethodRun run = call(A, state, true, {most_iterations}, 2);
    take_other_values();
    compare(unless(done > 0 && done < most_iterations, "no late one"), "late breakdown");
    compare(unless(run.iterations == done, "another iteration"), "late breakdown");
    compare(unless(state.scalars.breakdown == expected.scalars.breakdown &&
                       state.scalars.breakdown == Breakdown::not_positive_definite,
                   "wrong kind"),
            "late breakdown");
    compare_vector(state.x(), expected.x(), tolerance(done) * norm(expected.x()),
                   "late breakdown, x");
    compare_vector(state.r(), expected.r(), tolerance(done) * r_size, "late breakdown, r");
  }

  index_t last() const { return static_cast<index_t>(states_.size()) - 1; }
  const MethodState<V>& expected(index_t k) const {
    return states_.at(static_cast<std::size_t>(k));
  }
  double rr(index_t k) const { return expected(k).scalars.rr(); }

  /// Residual norms, not their squares, so that the tolerance is relative to the first.
  void compare_rr(double actual, index_t k, const std::string& what) {
    compare(difference(std::sqrt(actual), std::sqrt(rr(k)), tolerance(k) * std::sqrt(rr(0))),
            what + ", rr");
  }
  void compare_energy_gain(double actual, index_t k, const std::string& what) {
    const double expected = energy_gains_.at(static_cast<std::size_t>(k));
    compare(difference(std::sqrt(actual), std::sqrt(expected),
                       tolerance(k + 1) * std::sqrt(energy_gains_.front())),
            what + ", energy gain");
  }
  void compare_vector(const GuardedVector<V>& a, const GuardedVector<V>& b, double tolerance,
                      const std::string& what) {
    compare(difference(a, b, [&](index_t) { return tolerance; }), what);
  }
  void compare_state(const MethodState<V>& actual, index_t k, const std::string& what) {
    compare_vector(actual.x(), expected(k).x(), tolerance(k) * norm(expected(k).x()), what + ", x");
    compare_vector(actual.r(), expected(k).r(), tolerance(k) * norm(expected(0).r()), what + ", r");
    compare_rr(actual.scalars.rr(), k, what);
    compare(unless(actual.scalars.breakdown == Breakdown::none, "broke down"), what);
    compare(unless(actual.scalars.first == 0, "still says that none was done"), what);
  }
  /// The start makes a reduction; it counts as an iteration.
  double tolerance(index_t iterations) const {
    return method_tolerance<V>(method_facts(method_), iterations + 1, 5);
  }

  void compare(const std::string& text, const std::string& what) {
    findings_.compare(text, [&] {
      return "run of " + name() + ", " + std::string(Precision<M, V>::name()) + " " + layout_ +
             ", " + to_string(form_) + ", " + std::to_string(A_.rows) + " rows, preconditioner " +
             std::to_string(static_cast<int>(P_.kind)) + " block size " +
             std::to_string(P_.block_size) + ", " + what;
    });
  }

  const Backend& backend_;
  Findings& findings_;
  Method method_;
  bool repeats_;  ///< rows do
  CsrMatrix<M> A_;
  Preconditioner<V> P_;
  std::vector<MethodState<V>> states_;
  std::vector<double> energy_gains_;  ///< of the reference
  std::string layout_;
  SolveForm form_ = SolveForm::run;
  std::unique_ptr<RunPlan> plan_;
};

/// A matrix and a preconditioner of a run.
struct RunCase {
  index_t n;
  PreconditionerKind kind;
  int block_size;
  bool repeats = false;
};

template <class M, class V>
void check_method(const Backend& backend, Findings& findings, Method method) {
  using Kind = PreconditionerKind;
  int turn = static_cast<int>(method);
  for (const RunCase& c :
       {RunCase{33, Kind::none, 1}, RunCase{65, Kind::jacobi, 1},
        RunCase{37, Kind::block_jacobi, 2}, RunCase{64, Kind::block_jacobi, 3},
        RunCase{90, Kind::block_jacobi, 5}, RunCase{71, Kind::block_jacobi, 16},
        RunCase{1300, Kind::jacobi, 1}, RunCase{1301, Kind::block_jacobi, 3},
        RunCase{1030, Kind::none, 1}, RunCase{66, Kind::jacobi, 1, true},
        RunCase{84, Kind::block_jacobi, 3, true}, RunCase{1200, Kind::jacobi, 1, true}}) {
    // The matrix is far from the identity: undamped, the iteration diverges.
    if (method_facts(method).stationary && c.kind == Kind::none) continue;
    // Emulated devices make several blocks of a hundred rows already, and every launch takes its time.
    if (is_emulated(backend) && (c.n > 100 || ((sizeof(M) == 4 || is_sanitized) && c.n != 64)))
      continue;
    // One of two, which is another case for the next method.
    if (is_emulated(backend) && !is_sanitized && sizeof(M) == 8 && !c.repeats && turn++ % 2 != 0)
      continue;
    // One of four, likewise.
    if (is_sanitized && !is_emulated(backend) && turn++ % 4 != 0) continue;
    RunCheck<M, V>(backend, findings, method, c.n, c.kind, c.block_size, c.repeats).run();
  }
}

/// A section for each method, so that one can be asked for: on a device all of them take minutes.
template <class M, class V>
void check_precision(const Backend& backend, Findings& findings) {
  for (int m = 0; m < method_count; ++m) {
    const Method method = static_cast<Method>(m);
    const std::string name = method_facts(method).name;
    if (findings.offered(matrix_ops<BcsrOperand<M>, V>(backend).run[m], "run of " + name))
      DYNAMIC_SECTION(name) { check_method<M, V>(backend, findings, method); }
  }
}

void check_float_runs(const Backend& backend, Findings& findings) {
  check_precision<float, float>(backend, findings);
}
void check_mixed_runs(const Backend& backend, Findings& findings) {
  check_precision<float, double>(backend, findings);
}
void check_double_runs(const Backend& backend, Findings& findings) {
  check_precision<double, double>(backend, findings);
}

/// Matrices that converge at once or are not there: the run ends by itself with the solution.
void check_tiny(const Backend& backend, Findings& findings) {
  const auto ops = matrix_ops<BcsrOperand<double>, double>(backend);
  for (int m = 0; m < method_count; ++m) {
    const Method method = static_cast<Method>(m);
    const std::string name = method_facts(method).name;
    if (!findings.offered(ops.run[m], "run of " + name)) continue;
    if (method_facts(method).stationary || method_facts(method).parameters.count > 0)
      continue;  // never done in a few steps
    for (const index_t n : {0, 1, 2, 5}) {
      const CsrMatrix<double> A = matrix_for<double>(method, n);
      MethodState<double> state(method, n, Alignment::odd);
      state.x().fill(0);
      const GuardedVector<double> b = state.r();
      GuardedVector<double> product(n, Alignment::even);
      const TestQueue queue(backend, n, max_threads), oracle(reference(), n, 1);
      auto operand = queue(A);
      const CsrMatrix<double> transpose = transposed_layout(A);
      const auto transposed = queue(transpose);
      operand.transpose = &transposed;
      const auto plan = ops.run_plan != nullptr ? ops.run_plan(queue, operand, {method}) : nullptr;
      MethodRun run;
      run.starts = true;
      run.max_iterations = 100;
      run.rr_target = 1e-24;
      run.plan = plan.get();
      ops.run[m](queue, operand, {}, state.in(queue), queue(state.scalars), &run);
      queue.finish();
      findings.compare(
          unless(run.iterations <= n + 1 && state.scalars.rr() <= 1e-24, "did not converge"),
          [&] { return "run of " + name + ", n = " + std::to_string(n); });
      matrix_ops<BcsrOperand<double>, double>(reference())
          .spmv(oracle, 1, A.operand(), state.x().data(), 0, product.data());
      findings.compare(difference(product, b, [](index_t) { return 1e-11; }),
                       [&] { return "A x after a run of " + name + ", n = " + std::to_string(n); });
    }
  }
}

CNC_CONFORMANCE_TEST("method runs in float", check_float_runs);
CNC_CONFORMANCE_TEST("method runs in double with a float matrix", check_mixed_runs);
CNC_CONFORMANCE_TEST("method runs in double", check_double_runs);
CNC_CONFORMANCE_TEST("method runs on tiny matrices", check_tiny);

}  // namespace
}  // namespace cnc::testing
