// Solves by every method, phase by phase through the entries of a backend's passes and products, against the
// reference's runs. Whole passes, and passes cut in two around a preconditioner of the caller.

#include "conformance/method_state.hpp"
#include "conformance/test_preconditioner.hpp"

namespace cnc::testing {
namespace {

constexpr index_t lengths[] = {0, 1, 2, 7, 16, 17, 33, 511, 512, 513, 1025, 2100};
constexpr index_t most_iterations = 3;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Executes phases of a method with operands in the memory of a backend.
template <class Method, class V>
class Stepper {
 public:
  /// The method's place in the lists comes with its type.
  Stepper(const Backend& backend, const TestQueue& queue, int method, const BcsrOperand<V>& A,
          const BcsrOperand<V>& transpose, const PreconditionerOperand<V>& M, bool split,
          MethodState<V>& state)
      : queue_(queue),
        vectors_(vector_ops<V>(backend)),
        passes_(vectors_.methods[method]),
        matrix_(matrix_ops<BcsrOperand<V>, V>(backend)),
        A_(A),
        transpose_(transpose),
        M_(M),
        split_(split),
        v_(state.in(queue)),
        scalars_(queue(state.scalars)) {}

  void start() { execute<typename Method::Start>(passes_.start); }
  void iterations(index_t count) {
    for (index_t k = 0; k < count; ++k) execute<typename Method::Iteration>(passes_.iteration);
  }
  void finish() {
    if constexpr (!std::is_void_v<typename Method::Finish>)
      pass<typename Method::Finish>(passes_.finish);
  }
  /// Every pass of an iteration and the finish, in the part given, without products between them.
  void passes_of_iteration(PassPart part) {
    Method::Iteration::for_each([&]<class Phase>(int k) {
      if constexpr (!is_product<Phase>)
        passes_.iteration[k](queue_, A_.rows, M_, v_, scalars_, part);
    });
    if (passes_.finish != nullptr) passes_.finish(queue_, A_.rows, M_, v_, scalars_, part);
  }

 private:
  template <class Phases>
  void execute(const PassEntry<V> (&entries)[max_phases]) {
    Phases::for_each([&]<class Phase>(int k) {
      if constexpr (is_product<Phase>)
        multiply<Phase>();
      else
        pass<Phase>(entries[k]);
    });
  }
  template <class Product>
  void multiply() {
    const V* const of = v_[Product::of];
    V* const to = v_[Product::to];
    const BcsrOperand<V>& A = Product::transposed ? transpose_ : A_;
    if constexpr (Product::dots == 0) return matrix_.spmv(queue_, V(1), A, of, V(0), to);
    ProductDots<V> dots;
    dots.with = v_[Product::with[0]];
    dots.with_result = scalars_->value + Product::scalar[0];
    if constexpr (Product::dots == 2) dots.self_result = scalars_->value + Product::scalar[1];
    matrix_.spmv_dot(queue_, A, of, to, dots);
  }
  template <class Pass>
  void pass(PassEntry<V> entry) {
    const index_t n = A_.rows;
    if (!split_) return entry(queue_, n, M_, v_, scalars_, PassPart::whole);
    // Passes know nothing of a preconditioner that the caller applies.
    if constexpr (Pass::M.active()) {
      entry(queue_, n, {}, v_, scalars_, PassPart::before);
      vectors_.precondition(queue_, n, Pass::M.transposed ? M_.transposed() : M_, v_[Pass::M.from],
                            v_[Pass::M.to]);
      if constexpr (stores_scalars<Pass>) entry(queue_, n, {}, v_, scalars_, PassPart::after);
    } else {
      entry(queue_, n, {}, v_, scalars_, PassPart::whole);
    }
  }

  const TestQueue& queue_;
  const VectorOps<V>& vectors_;
  const MethodPasses<V>& passes_;
  const MatrixOps<BcsrOperand<V>, V>& matrix_;
  BcsrOperand<V> A_, transpose_;
  PreconditionerOperand<V> M_;
  bool split_;
  MethodVectors<V> v_;
  MethodScalars* scalars_;
};

/// Whether the backend has the passes of the method: all of them, or none.
template <class Method, class V>
bool offers(const Backend& backend, int method, Findings& findings) {
  const MethodPasses<V>& passes = vector_ops<V>(backend).methods[method];
  int expected = 0, found = 0;
  const auto count_in = [&](const PassEntry<V>(&entries)[max_phases]) {
    return [&]<class Phase>(int k) {
      if constexpr (!is_product<Phase>) {
        ++expected;
        found += entries[k] != nullptr;
      }
    };
  };
  Method::Start::for_each(count_in(passes.start));
  Method::Iteration::for_each(count_in(passes.iteration));
  if constexpr (!std::is_void_v<typename Method::Finish>) {
    ++expected;
    found += passes.finish != nullptr;
  }
  const std::string name = std::string("passes of ") + Method::name;
  // Variants are products with one mapping, beside all vector operations.
  if (!findings.offered(matrix_ops<BcsrOperand<V>, V>(backend).spmv_dot, "spmv_dot")) return false;
  if (found == 0) return findings.offered(passes.finish, name);
  findings.compare(unless(found == expected, "some are missing"), [&] { return name; });
  return found == expected;
}

/// How the phases are executed.
struct Setting {
  index_t n;
  Alignment alignment;
  int threads;
  bool split;
  std::string text() const {
    return "n = " + std::to_string(n) + ", " + std::to_string(threads) + " threads" +
           (alignment == Alignment::odd ? ", odd" : "") + (split ? ", split" : "");
  }
};

template <class Method, class V>
class PhasesCheck {
 public:
  PhasesCheck(const Backend& backend, Findings& findings, int method, const CsrMatrix<V>& A,
              const TestPreconditioner<V>& M, const Setting& setting)
      : backend_(backend),
        findings_(findings),
        method_(method),
        A_(A),
        M_(M),
        setting_(setting),
        states_(reference_states(cnc::Method(method), A, M.in(TestQueue(reference(), A.rows, 1)),
                                 most_iterations)) {
    // Beyond convergence there is nothing but rounding errors to compare.
    while (states_.size() > 1 && states_.end()[-2].scalars.rr() < 1e-6 * states_[0].scalars.rr())
      states_.pop_back();
  }

  /// Stopped after the first iteration and after the last; the same bits when repeated; stopped and gone on.
  void agrees_with_reference() {
    const auto last = static_cast<index_t>(states_.size()) - 1;
    compare_state(solve({1}), 1, "one iteration");
    if (last < 2) return;
    const MethodState<V> state = solve({last});
    compare_state(state, last, std::to_string(last) + " iterations");
    const MethodState<V> again = solve({last}, 1 + setting_.threads % max_threads);
    compare(unless(again.same_vectors(state) && same_scalars(again.scalars, state.scalars),
                   "other bits on another run or with other threads"),
            "repeated");
    compare_state(solve({1, last - 1}), last, "finished in between");
  }

  /// A start alone, in vectors and scalars that held anything before.
  void starts() {
    const MethodState<V> state = solve({});
    compare_rr(state.scalars.rr(), 0, "start");
    compare_sum(state, "start");
    compare(unless(state.scalars.breakdown == Breakdown::none, "broke down"), "start");
    compare(unless(state.same_result(before_start()), "changed x or r"), "start");
  }

  /// Nothing to divide by where there are no rows.
  void breaks_down_on_nothing() {
    const MethodState<V> state = solve({2});
    compare(unless(state.scalars.breakdown == Breakdown::zero_divisor, "wrong kind"), "no rows");
    compare(unless(state.scalars.rr() == 0, "rr is not 0"), "no rows");
  }

  /// With another matrix, whose solve the reference cannot finish either: stopped for the same reason, with x and r of
  /// the iteration before it; what is executed afterwards changes nothing.
  void breaks_down(const CsrMatrix<V>& A, const std::string& what) {
    constexpr index_t limit = 4;
    MethodState<V> expected = before_start();
    const TestQueue oracle(reference(), A.rows, 1);
    const index_t done =
        reference_run(cnc::Method(method_), A, M_.in(oracle), expected, limit).iterations;
    const MethodState<V> state = solve({limit}, setting_.threads, &A);
    compare(unless(done < limit && expected.scalars.breakdown != Breakdown::none, "no breakdown"),
            what);
    compare(unless(state.scalars.breakdown == expected.scalars.breakdown, "wrong kind"), what);
    if (done == 0)
      compare(unless(state.same_result(before_start()), "changed x or r"), what);
    else
      compare_result(state, expected, done, what);
  }

  /// With a breakdown set, no pass changes a vector or a scalar, in whatever part.
  void stays_broken() {
    MethodState<V> before = solve({1});
    if (before.scalars.breakdown != Breakdown::none) return;
    const std::pair<PassPart, Breakdown> cases[] = {
        {PassPart::whole, Breakdown::not_positive_definite},
        {PassPart::before, Breakdown::not_finite},
        {PassPart::after, Breakdown::zero_divisor}};
    for (const auto& [part, breakdown] : cases) {
      before.scalars.breakdown = breakdown;
      MethodState<V> state = before;
      const TestQueue queue(backend_, A_.rows, setting_.threads);
      stepper(queue, A_, state).passes_of_iteration(part);
      queue.finish();
      compare(unless(state.same_vectors(before), "vectors changed"), "already broken down");
      compare(unless(same_scalars(state.scalars, before.scalars), "scalars changed"),
              "already broken down");
    }
  }

 private:
  MethodState<V> before_start() const {
    return MethodState<V>(cnc::Method(method_), A_.rows, setting_.alignment);
  }
  Stepper<Method, V> stepper(const TestQueue& queue, const CsrMatrix<V>& A, MethodState<V>& state) {
    if (facts_of<Method>().transposes) transpose_ = transpose(A);
    return {backend_,          queue,        method_,        queue(A),
            queue(transpose_), M_.in(queue), setting_.split, state};
  }
  /// A start, and legs of iterations with the finish behind each.
  MethodState<V> solve(const std::vector<index_t>& legs, int threads,
                       const CsrMatrix<V>* A = nullptr) {
    MethodState<V> state = before_start();
    const TestQueue queue(backend_, A_.rows, threads);
    auto steps = stepper(queue, A != nullptr ? *A : A_, state);
    steps.start();
    for (const index_t leg : legs) {
      steps.iterations(leg);
      steps.finish();
    }
    queue.finish();
    compare(unless(state.walls_intact() && queue.walls_intact(), "wrote outside a vector"),
            "memory");
    return state;
  }
  MethodState<V> solve(const std::vector<index_t>& legs) { return solve(legs, setting_.threads); }

  double tolerance(index_t iterations) const {
    return method_tolerance<V>(method_facts(static_cast<cnc::Method>(method_)), iterations + 1,
                               5 + M_.block_size());
  }
  void compare_rr(double actual, index_t k, const std::string& what) {
    const double first = std::sqrt(states_[0].scalars.rr());
    compare(
        difference(std::sqrt(actual), std::sqrt(states_[static_cast<std::size_t>(k)].scalars.rr()),
                   tolerance(k) * first),
        what + ", rr");
  }
  /// rr belongs to the r that is stored, to the precision of double.
  void compare_sum(const MethodState<V>& state, const std::string& what) {
    if (facts_of<Method>().least_squares) return;  // to A^T r, which is not
    double sum = 0;
    for (index_t i = 0; i < A_.rows; ++i) sum += double(state.r()[i]) * state.r()[i];
    compare(difference(state.scalars.rr(), sum, reduction_tolerance(A_.rows, sum)),
            what + ", rr as a sum in double");
  }
  void compare_result(const MethodState<V>& actual, const MethodState<V>& expected, index_t k,
                      const std::string& what) {
    const auto close = [&](const auto& a, const auto& b, double size, const char* name) {
      compare(difference(a, b, [&](index_t) { return tolerance(k) * size; }), what + ", " + name);
    };
    close(actual.x(), expected.x(), norm(expected.x()), "x");
    close(actual.r(), expected.r(), norm(states_[0].r()), "r");
    compare_sum(actual, what);
  }
  void compare_state(const MethodState<V>& actual, index_t k, const std::string& what) {
    compare_result(actual, states_[static_cast<std::size_t>(k)], k, what);
    compare_rr(actual.scalars.rr(), k, what);
    compare(unless(actual.scalars.breakdown == Breakdown::none, "broke down"), what);
    compare(unless(actual.scalars.first == 0, "still says that none was done"), what);
  }
  void compare(const std::string& text, const std::string& what) {
    findings_.compare(text, [&] {
      return std::string("phases of ") + Method::name + (sizeof(V) == 4 ? " f32, " : " f64, ") +
             M_.name() + ", " + setting_.text() + ", " + what;
    });
  }

  const Backend& backend_;
  Findings& findings_;
  int method_;
  const CsrMatrix<V>& A_;
  CsrMatrix<V> transpose_;  ///< of the last that was stepped with
  const TestPreconditioner<V>& M_;
  Setting setting_;
  std::vector<MethodState<V>> states_;
};

/// Calls body(check, setting) for every length, alignment, number of threads, preconditioner and way of passes.
template <class Method, class V, class Body>
void for_each_setting(const Backend& backend, Findings& findings, int method, const Body& body) {
  if (!offers<Method, V>(backend, method, findings)) return;
  unsigned turn = 0;
  for (int threads = 1; threads <= most_threads(backend); ++threads)
    for (const index_t n : lengths) {
      const CsrMatrix<V> A = matrix_for<V>(cnc::Method(method), n);
      for (const Alignment alignment : {Alignment::even, Alignment::odd})
        for (const TestPreconditioner<V>& M : test_preconditioners<V>(n, alignment))
          for (const bool split : {false, true}) {
            // One of five, emulated of seven, under sanitizers of seventeen; another for the next length and alignment,
            // which have 24 each.
            const unsigned part = is_sanitized ? 17 : is_emulated(backend) ? 7 : 5;
            if (turn++ % part != 0) continue;
            if (is_emulated(backend) && is_sanitized && n > 33) continue;
            const Setting setting{n, alignment, threads, split};
            body(PhasesCheck<Method, V>(backend, findings, method, A, M, setting), setting, A);
          }
    }
}

template <class V>
void check_solves(const Backend& backend, Findings& findings) {
  Methods<V>::for_each([&]<class Method>(int method) {
    for_each_setting<Method, V>(backend, findings, method,
                                [](auto check, const Setting& setting, const auto&) {
                                  check.starts();
                                  if (setting.n == 0)
                                    check.breaks_down_on_nothing();
                                  else
                                    check.agrees_with_reference();
                                });
  });
}

template <class V>
void check_breakdowns(const Backend& backend, Findings& findings) {
  Methods<V>::for_each([&]<class Method>(int method) {
    for_each_setting<Method, V>(backend, findings, method,
                                [](auto check, const Setting& setting, const auto& A) {
                                  if (setting.n == 0) return;
                                  check.stays_broken();
                                  if (!breaks_down_on_zero(facts_of<Method>())) return;
                                  check.breaks_down(scaled(A, 0), "zero matrix");
                                  check.breaks_down(scaled(A, nan), "matrix of NaN");
                                  if (!needs_definite(facts_of<Method>())) return;
                                  check.breaks_down(scaled(A, -1), "negative definite");
                                  if (setting.n == 33)
                                    check.breaks_down(indefinite_matrix<V>(33), "indefinite");
                                });
  });
}

void check_phases(const Backend& backend, Findings& findings) {
  check_solves<float>(backend, findings);
  check_solves<double>(backend, findings);
}

void check_breaking_phases(const Backend& backend, Findings& findings) {
  check_breakdowns<float>(backend, findings);
  check_breakdowns<double>(backend, findings);
}

CNC_CONFORMANCE_TEST("method phases", check_phases);
CNC_CONFORMANCE_TEST("method phases that break down", check_breaking_phases);

}  // namespace
}  // namespace cnc::testing
