// Each fused PCG step of every backend against the reference from the same state, and what it does
// when the iteration breaks down.

#include "conformance/pcg_state.hpp"

namespace cnc::testing {
namespace {

constexpr index_t lengths[] = {0, 1, 2, 7, 16, 17, 33, 511, 512, 513, 1025, 2100};
constexpr double infinity = std::numeric_limits<double>::infinity();

enum class Step { start, direction, update, single_reduction_update };

const char* name_of(Step step) {
  switch (step) {
    case Step::start: return "pcg_start";
    case Step::direction: return "pcg_direction";
    case Step::update: return "pcg_update";
    case Step::single_reduction_update: return "pcg_single_reduction_update";
  }
  return "";
}

template <class V>
bool offers(const Backend& backend, Step step, Findings& findings) {
  const VectorOps<V>& ops = vector_ops<V>(backend);
  switch (step) {
    case Step::start: return findings.offered(ops.pcg_start, name_of(step));
    case Step::direction: return findings.offered(ops.pcg_direction, name_of(step));
    case Step::update: return findings.offered(ops.pcg_update, name_of(step));
    default: return findings.offered(ops.pcg_single_reduction_update, name_of(step));
  }
}

/// Runs the step and says whether it kept to its vectors and its scratch.
template <class V>
bool run(const Backend& backend, Step step, const TestPreconditioner<V>& M, int threads,
         PcgState<V>& state) {
  const index_t n = state.x.size();
  const TestQueue queue(backend, n, threads);
  const VectorOps<V>& ops = vector_ops<V>(backend);
  const PreconditionerOperand<V> P = M.in(queue);
  const PcgVectors<V> vectors = state.in(queue);
  PcgScalars* scalars = queue(state.scalars);
  switch (step) {
    case Step::start: ops.pcg_start(queue, n, P, vectors, scalars); break;
    case Step::direction: ops.pcg_direction(queue, n, vectors, scalars); break;
    case Step::update: ops.pcg_update(queue, n, P, vectors, scalars); break;
    case Step::single_reduction_update:
      ops.pcg_single_reduction_update(queue, n, P, vectors, scalars);
      break;
  }
  queue.finish();
  return state.walls_intact() && queue.walls_intact();
}

/// How far the results of a step may be off, entry by entry, from the state before and the
/// reference's state after it. Errors of p and s reach x and r, those of r reach z, and all the sums.
template <class V>
struct StepTolerances {
  std::vector<double> x, r, z, p, s;
  double rz = 0, rr = 0;

  StepTolerances(const PcgState<V>& before, const PcgState<V>& after, Step step,
                 const TestPreconditioner<V>& M) {
    const index_t n = before.x.size();
    const bool is_update = step == Step::update || step == Step::single_reduction_update;
    const double alpha = is_update ? std::abs(after.scalars.alpha) : 0;
    const double beta = std::abs(after.scalars.beta);
    const auto size = [](double value) { return std::isfinite(value) ? std::abs(value) : 0; };
    std::vector<double> r_size, z_size;
    double rz_size = 0, rr_size = 0;
    for (index_t i = 0; i < n; ++i) {
      const bool turned = step == Step::single_reduction_update || step == Step::direction;
      const double p_size =
          turned ? size(before.z[i]) + beta * size(before.p[i]) : size(before.p[i]);
      const double s_size = turned ? size(before.q[i]) + beta * size(before.s[i]) : 0;
      const double q_size = step == Step::update ? size(before.q[i]) : s_size;
      p.push_back(turned ? sum_tolerance<V>(1, p_size) : 0);
      s.push_back(turned ? sum_tolerance<V>(1, s_size) : 0);
      x.push_back(sum_tolerance<V>(3, is_update ? size(before.x[i]) + alpha * p_size : 0));
      r_size.push_back(size(before.r[i]) + alpha * q_size);
      r.push_back(sum_tolerance<V>(3, is_update ? r_size.back() : 0));
    }
    for (index_t i = 0; i < n; ++i) {
      z_size.push_back(M.absolute_product(r_size, n, i));
      z.push_back(sum_tolerance<V>(M.block_size() + 3, z_size.back()));
      const auto k = static_cast<std::size_t>(i);
      rz += size(after.r[i]) * z[k] + size(after.z[i]) * r[k];
      rr += 2 * size(after.r[i]) * r[k];
      rz_size += size(after.r[i]) * size(after.z[i]);
      rr_size += size(after.r[i]) * size(after.r[i]);
    }
    rz += reduction_tolerance(n, rz_size);
    rr += reduction_tolerance(n, rr_size);
  }
};

/// alpha and beta are a few operations on the same doubles.
double coefficient_tolerance(double value) { return sum_tolerance<double>(4, std::abs(value)); }

template <class V>
class StepCheck {
 public:
  StepCheck(const Backend& backend, Findings& findings, Step step, const TestPreconditioner<V>& M,
            int threads)
      : backend_(backend), findings_(findings), step_(step), M_(M), threads_(threads) {}

  /// The step from `before` gives what the reference gives, and again the same bits.
  void agrees_with_reference(const PcgState<V>& before, const std::string& what) {
    PcgState<V> actual = before, again = before, expected = before;
    run(reference(), step_, M_, 1, expected);
    compare(unless(run(backend_, step_, M_, threads_, actual), "wrote outside a vector"), what);
    const StepTolerances<V> tolerances(before, expected, step_, M_);
    const auto at = [](const std::vector<double>& list) {
      return [&list](index_t i) { return list[static_cast<std::size_t>(i)]; };
    };
    compare(difference(actual.x, expected.x, at(tolerances.x)), what, "x");
    compare(difference(actual.r, expected.r, at(tolerances.r)), what, "r");
    // pcg_direction reads z and changes nothing but p.
    if (step_ == Step::direction)
      compare(unless(actual.z.same_bits(before.z), "changed"), what, "z");
    else
      compare(difference(actual.z, expected.z, at(tolerances.z)), what, "z");
    if (step_ != Step::start)
      compare(difference(actual.p, expected.p, at(tolerances.p)), what, "p");
    if (step_ == Step::single_reduction_update)
      compare(difference(actual.s, expected.s, at(tolerances.s)), what, "s");
    compare_scalars(actual.scalars, expected.scalars, tolerances, what);
    if (step_ != Step::direction) {
      compare_sum(actual.scalars.rz, actual.r, actual.z, what, "rz as a sum in double");
      compare_sum(actual.scalars.rr, actual.r, actual.r, what, "rr as a sum in double");
    }

    run(backend_, step_, M_, 1 + threads_ % max_threads, again);
    compare(unless(actual.same_vectors(again) && same_scalars(actual.scalars, again.scalars),
                   "other bits on another run or with other threads"),
            what);
  }

  /// A step that broke down set `breakdown`, and left all vectors and rz, rr as they were.
  void breaks_down(const PcgState<V>& before, PcgBreakdown breakdown, const std::string& what) {
    PcgState<V> after = before;
    run(backend_, step_, M_, threads_, after);
    compare(unless(after.scalars.breakdown == breakdown, "wrong kind of breakdown"), what);
    compare(unless(after.same_vectors(before), "vectors changed"), what);
    PcgScalars kept = before.scalars;
    kept.breakdown = after.scalars.breakdown;
    kept.alpha = after.scalars.alpha;
    kept.beta = after.scalars.beta;
    compare(unless(same_scalars(after.scalars, kept), "scalars changed"), what);
  }

 private:
  void compare(const std::string& text, const std::string& what, const char* part = "all") {
    findings_.compare(text, [&] {
      return std::string(name_of(step_)) + (sizeof(V) == 4 ? " f32" : " f64") + ", " + M_.name() +
             ", " + std::to_string(threads_) + " threads, " + what + ", " + part;
    });
  }
  /// The sums belong to the vectors that the step wrote, to the precision of double.
  void compare_sum(double actual, const GuardedVector<V>& a, const GuardedVector<V>& b,
                   const std::string& what, const char* part) {
    double sum = 0, absolute_sum = 0;
    for (index_t i = 0; i < a.size(); ++i) {
      sum += double(a[i]) * b[i];
      absolute_sum += std::abs(double(a[i]) * b[i]);
    }
    compare(difference(actual, sum, reduction_tolerance(a.size(), absolute_sum)), what, part);
  }
  void compare_scalars(const PcgScalars& actual, const PcgScalars& expected,
                       const StepTolerances<V>& tolerances, const std::string& what) {
    compare(difference(actual.alpha, expected.alpha, coefficient_tolerance(expected.alpha)), what,
            "alpha");
    compare(difference(actual.beta, expected.beta, coefficient_tolerance(expected.beta)), what,
            "beta");
    const bool sums = step_ != Step::direction;
    compare(difference(actual.rz, expected.rz, sums ? tolerances.rz : 0), what, "rz");
    compare(difference(actual.rr, expected.rr, sums ? tolerances.rr : 0), what, "rr");
    compare(unless(actual.rz_previous == expected.rz_previous, "differs"), what, "rz_previous");
    compare(unless(actual.breakdown == expected.breakdown, "differs"), what, "breakdown");
  }

  const Backend& backend_;
  Findings& findings_;
  Step step_;
  const TestPreconditioner<V>& M_;
  int threads_;
};

/// Calls body(check, state) for every length, alignment, number of threads and preconditioner.
template <class V, class Body>
void for_each_setting(const Backend& backend, Findings& findings, Step step, const Body& body) {
  if (!offers<V>(backend, step, findings)) return;
  for (int threads = 1; threads <= most_threads(backend); ++threads)
    for (const Alignment alignment : {Alignment::even, Alignment::odd})
      for (const index_t n : lengths)
        for (const TestPreconditioner<V>& M : test_preconditioners<V>(n, alignment))
          body(StepCheck<V>(backend, findings, step, M, threads), PcgState<V>(n, alignment),
               "n = " + std::to_string(n));
}

template <class V>
void check_start(const Backend& backend, Findings& findings) {
  for_each_setting<V>(backend, findings, Step::start, [](auto check, auto state, const auto& what) {
    state.make_first();
    state.z.fill(GuardedVector<V>::nan());
    state.q.fill(GuardedVector<V>::nan());
    state.scalars = {infinity, 1, 2, -infinity, 5, 6, PcgBreakdown::zero_curvature};
    check.agrees_with_reference(state, what);
  });
}

template <class V>
void check_step(const Backend& backend, Findings& findings, Step step) {
  for_each_setting<V>(backend, findings, step, [](auto check, auto state, const auto& what) {
    check.agrees_with_reference(state, what);
    state.make_first();
    check.agrees_with_reference(state, what + ", first iteration");
  });
}

/// A pair of r.z and curvature that no update can divide, and the name of the trouble.
struct BrokenPair {
  double rz, curvature;
  PcgBreakdown breakdown;
};
const BrokenPair broken_pairs[] = {
    {0.7, -1, PcgBreakdown::not_positive_definite},
    {-0.7, 1, PcgBreakdown::not_positive_definite},
    {-0.7, -1, PcgBreakdown::not_positive_definite},
    {0.7, 0, PcgBreakdown::zero_curvature},
    {0, 1, PcgBreakdown::zero_curvature},
    {0, 0, PcgBreakdown::zero_curvature},
    {0.7, GuardedVector<double>::nan(), PcgBreakdown::not_finite},
    {GuardedVector<double>::nan(), 1, PcgBreakdown::not_finite},
    {0.7, infinity, PcgBreakdown::not_finite},
    {0.7, -infinity, PcgBreakdown::not_finite},
    {infinity, 1, PcgBreakdown::not_finite},
};

template <class V>
void check_breakdown(const Backend& backend, Findings& findings, Step step) {
  for_each_setting<V>(backend, findings, step, [&](auto check, auto state, const auto& what) {
    const PcgState<V> good = state;
    for (const BrokenPair& pair : broken_pairs) {
      state = good;
      state.make_first();  // so that the curvature of both updates is pq itself
      state.scalars.rz = pair.rz;
      state.scalars.pq = pair.curvature;
      check.breaks_down(state, pair.breakdown,
                        what + ", rz " + std::to_string(pair.rz) + ", curvature " +
                            std::to_string(pair.curvature));
    }
    for (const PcgBreakdown breakdown : {PcgBreakdown::not_positive_definite,
                                         PcgBreakdown::not_finite, PcgBreakdown::zero_curvature}) {
      state = good;
      state.scalars.breakdown = breakdown;
      check.breaks_down(state, breakdown, what + ", already broken down");
    }
    if (step != Step::single_reduction_update || state.x.size() == 0) return;
    state = good;
    state.scalars.pq = 0.1;  // positive itself, but less than beta rz / alpha
    check.breaks_down(state, PcgBreakdown::not_positive_definite, what + ", negative denominator");
  });
}

template <class V>
void check_precondition(const Backend& backend, Findings& findings) {
  if (!findings.offered(vector_ops<V>(backend).precondition, "precondition")) return;
  for (int threads = 1; threads <= most_threads(backend); ++threads)
    for (const Alignment alignment : {Alignment::even, Alignment::odd})
      for (const index_t n : lengths)
        for (const TestPreconditioner<V>& M : test_preconditioners<V>(n, alignment)) {
          GuardedVector<V> r(n, alignment), z(n, alignment), expected(n, alignment);
          r.randomize(2);
          const TestQueue queue(backend, n, threads), oracle(reference(), n, 1);
          const GuardedVector<V>& from = r;
          vector_ops<V>(backend).precondition(queue, n, M.in(queue), queue(from), queue(z));
          queue.finish();
          vector_ops<V>(reference())
              .precondition(oracle, n, M.in(oracle), oracle(from), oracle(expected));
          std::vector<double> sizes;
          for (index_t i = 0; i < n; ++i) sizes.push_back(std::abs(double(r[i])));
          findings.compare(
              difference(z, expected,
                         [&](index_t i) {
                           return sum_tolerance<V>(M.block_size(), M.absolute_product(sizes, n, i));
                         }),
              [&] { return "precondition, " + M.name() + ", n = " + std::to_string(n); });
        }
}

void check_steps(const Backend& backend, Findings& findings) {
  const auto check = [&](auto zero) {
    using V = decltype(zero);
    check_precondition<V>(backend, findings);
    check_start<V>(backend, findings);
    for (const Step step : {Step::direction, Step::update, Step::single_reduction_update})
      check_step<V>(backend, findings, step);
  };
  check(0.0f);
  check(0.0);
}

void check_breakdowns(const Backend& backend, Findings& findings) {
  for (const Step step : {Step::update, Step::single_reduction_update}) {
    check_breakdown<float>(backend, findings, step);
    check_breakdown<double>(backend, findings, step);
  }
}

CNC_CONFORMANCE_TEST("pcg steps", check_steps);
CNC_CONFORMANCE_TEST("pcg steps that break down", check_breakdowns);

}  // namespace
}  // namespace cnc::testing
