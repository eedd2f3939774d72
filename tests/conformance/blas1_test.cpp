// Vector operations of every backend against the reference.

#include "conformance/per_backend.hpp"

namespace cnc::testing {
namespace {

constexpr index_t lengths[] = {0,  1,  3,  7,   8,   9,   15,   16,   17,   31,
                               32, 33, 65, 511, 512, 513, 1023, 1024, 1025, 5000};
constexpr double factors[] = {0, 1, -1, 0.3};
constexpr Alignment alignments[] = {Alignment::even, Alignment::odd};

/// One length, alignment of x and of y, and number of threads.
struct Setting {
  index_t n;
  Alignment x, y;
  int threads;
  std::string text() const {
    return ", n = " + std::to_string(n) + ", " + std::to_string(threads) + " threads" +
           (x == Alignment::odd ? ", x odd" : "") + (y == Alignment::odd ? ", y odd" : "");
  }
};

/// Runs body(table, queue, is_actual) with the backend and with the reference; each gets copies of its own.
template <class V, class Body>
void with_both(const Backend& backend, const Setting& setting, const Body& body) {
  const TestQueue queue(backend, setting.n, setting.threads);
  body(vector_ops<V>(backend), queue, true);
  queue.finish();
  body(vector_ops<V>(reference()), TestQueue(reference(), setting.n, 1), false);
}

template <class V>
struct Operands {
  GuardedVector<V> x, y, actual, expected;

  explicit Operands(const Setting& s)
      : x(s.n, s.x), y(s.n, s.y), actual(s.n, s.y), expected(s.n, s.y) {
    x.randomize(1);
    y.randomize(2);
    reset();
  }
  void reset() {
    actual.assign(y);
    expected.assign(y);
  }
  GuardedVector<V>& target(bool is_actual) { return is_actual ? actual : expected; }
  /// alpha x + beta y in V: two products and a sum.
  double tolerance(index_t i, double alpha, double beta) const {
    const double old = beta == 0 ? 0 : std::abs(beta * y[i]);
    return sum_tolerance<V>(1, std::abs(alpha * x[i]) + old);
  }
};

template <class V>
void check_axpy(const Backend& backend, Findings& findings, const Setting& setting) {
  if (!findings.offered(vector_ops<V>(backend).axpy, "axpy")) return;
  Operands<V> v(setting);
  for (const double alpha : factors) {
    v.reset();
    with_both<V>(backend, setting, [&](const auto& ops, const TestQueue& queue, bool actual) {
      ops.axpy(queue, setting.n, V(alpha), queue(v.x), queue(v.target(actual)));
    });
    findings.compare(
        difference(v.actual, v.expected, [&](index_t i) { return v.tolerance(i, alpha, 1); }),
        [&] { return "axpy, alpha " + std::to_string(alpha) + setting.text(); });
  }
}

template <class V>
void check_axpby(const Backend& backend, Findings& findings, const Setting& setting) {
  if (!findings.offered(vector_ops<V>(backend).axpby, "axpby")) return;
  Operands<V> v(setting);
  for (const double beta : factors) {
    if (beta == 0)
      v.y.fill(GuardedVector<V>::nan());
    else
      v.y.randomize(2);
    for (const double alpha : factors) {
      v.reset();
      with_both<V>(backend, setting, [&](const auto& ops, const TestQueue& queue, bool actual) {
        ops.axpby(queue, setting.n, V(alpha), queue(v.x), V(beta), queue(v.target(actual)));
      });
      findings.compare(
          difference(v.actual, v.expected, [&](index_t i) { return v.tolerance(i, alpha, beta); }),
          [&] {
            return "axpby, alpha " + std::to_string(alpha) + ", beta " + std::to_string(beta) +
                   setting.text();
          });
    }
  }
}

template <class V>
void check_scal(const Backend& backend, Findings& findings, const Setting& setting) {
  if (!findings.offered(vector_ops<V>(backend).scal, "scal")) return;
  Operands<V> v(setting);
  for (const double alpha : factors) {
    if (alpha == 0)
      v.y.fill(GuardedVector<V>::nan());
    else
      v.y.randomize(2);
    v.reset();
    with_both<V>(backend, setting, [&](const auto& ops, const TestQueue& queue, bool actual) {
      ops.scal(queue, setting.n, V(alpha), queue(v.target(actual)));
    });
    // One rounding, so the same bits.
    findings.compare(difference(v.actual, v.expected, [](index_t) { return 0.0; }),
                     [&] { return "scal, alpha " + std::to_string(alpha) + setting.text(); });
  }
}

template <class V>
void check_multiply(const Backend& backend, Findings& findings, const Setting& setting) {
  if (!findings.offered(vector_ops<V>(backend).multiply, "multiply")) return;
  enum Target { apart, onto_x, onto_y, square };
  for (const Target target : {apart, onto_x, onto_y, square}) {
    Operands<V> v(setting);
    with_both<V>(backend, setting, [&](const auto& ops, const TestQueue& queue, bool actual) {
      V* const z = queue(v.target(actual));  // holds a copy of y
      const V* const x = queue(std::as_const(v.x));
      if (target == apart) ops.multiply(queue, setting.n, x, queue(v.y), z);
      if (target == onto_x) ops.multiply(queue, setting.n, z, x, z);
      if (target == onto_y) ops.multiply(queue, setting.n, x, z, z);
      if (target == square) ops.multiply(queue, setting.n, z, z, z);
    });
    findings.compare(difference(v.actual, v.expected, [](index_t) { return 0.0; }), [&] {
      return "multiply, aliasing " + std::to_string(target) + setting.text();
    });
  }
}

template <class V>
void check_dot(const Backend& backend, Findings& findings, const Setting& setting) {
  if (!findings.offered(vector_ops<V>(backend).dot, "dot")) return;
  const Operands<V> v(setting);
  double absolute_sum = 0;
  for (index_t i = 0; i < setting.n; ++i) absolute_sum += std::abs(double(v.x[i]) * v.y[i]);
  double actual = GuardedVector<double>::nan(), expected = actual, serial = actual;
  with_both<V>(backend, setting, [&](const auto& ops, const TestQueue& queue, bool is_actual) {
    ops.dot(queue, setting.n, queue(v.x), queue(v.y), queue(is_actual ? actual : expected));
  });
  findings.compare(difference(actual, expected, reduction_tolerance(setting.n, absolute_sum)),
                   [&] { return "dot" + setting.text(); });
  const TestQueue queue(backend, setting.n, 1);
  vector_ops<V>(backend).dot(queue, setting.n, queue(v.x), queue(v.y), queue(serial));
  queue.finish();
  findings.compare(
      unless(serial == actual && queue.walls_intact(), "other bits, or too much scratch"),
      [&] { return "dot with one thread" + setting.text(); });
}

template <class V>
void check_nrm2(const Backend& backend, Findings& findings, const Setting& setting) {
  if (!findings.offered(vector_ops<V>(backend).nrm2, "nrm2")) return;
  GuardedVector<V> x(setting.n, setting.x);
  double actual = GuardedVector<double>::nan(), expected = actual;
  const auto run = [&] {
    with_both<V>(backend, setting, [&](const auto& ops, const TestQueue& queue, bool is_actual) {
      ops.nrm2(queue, setting.n, queue(std::as_const(x)), queue(is_actual ? actual : expected));
    });
  };
  x.randomize(1);
  run();
  // The root halves a relative error.
  findings.compare(difference(actual, expected, reduction_tolerance(setting.n, expected)),
                   [&] { return "nrm2" + setting.text(); });
  if (setting.n == 0) return;
  for (const V poison : {GuardedVector<V>::nan(), std::numeric_limits<V>::infinity()}) {
    x[setting.n - 1] = poison;
    run();
    findings.compare(unless(!std::isfinite(actual), "Inf or NaN got lost"),
                     [&] { return "nrm2" + setting.text(); });
  }
}

/// Vectors y_k some distance apart, NaN between them, and coefficients.
template <class V>
struct SeveralVectors {
  offset_t stride;
  GuardedVector<V> y;
  GuardedVector<double> c;

  SeveralVectors(const Setting& s, int count)
      : stride(s.n + 5),
        y(static_cast<index_t>(count * stride), s.y),
        c(max_vectors_together, Alignment::odd) {
    y.randomize(3);
    c.randomize(4);
    for (int k = 0; k < count; ++k)
      for (index_t i = s.n; i < stride; ++i)
        y[static_cast<index_t>(k * stride) + i] = GuardedVector<V>::nan();
  }
  V at(int k, index_t i) const { return y[static_cast<index_t>(k * stride) + i]; }
};

template <class V>
void check_mdot(const Backend& backend, Findings& findings, const Setting& setting, int count) {
  if (!findings.offered(vector_ops<V>(backend).mdot, "mdot")) return;
  const SeveralVectors<V> several(setting, count);
  GuardedVector<V> x(setting.n, setting.x);
  x.randomize(1);
  GuardedVector<double> actual(max_vectors_together, Alignment::odd), expected = actual;
  const auto name = [&] { return "mdot of " + std::to_string(count) + setting.text(); };
  const TestQueue queue(backend, setting.n, setting.threads);
  vector_ops<V>(backend).mdot(queue, setting.n, count, queue(several.y), several.stride,
                              queue(std::as_const(x)), queue(actual));
  queue.finish();
  const TestQueue oracle(reference(), setting.n, 1);
  vector_ops<V>(reference())
      .mdot(oracle, setting.n, count, oracle(several.y), several.stride, oracle(std::as_const(x)),
            oracle(expected));
  findings.compare(difference(actual, expected,
                              [&](index_t k) {
                                if (k >= count) return 0.0;  // not written
                                double sum = 0;
                                for (index_t i = 0; i < setting.n; ++i)
                                  sum += std::abs(double(several.at(k, i)) * x[i]);
                                return reduction_tolerance(setting.n, sum);
                              }),
                   name);
  findings.compare(unless(queue.walls_intact() && actual.walls_intact(), "too much scratch"), name);
}

template <class V>
void check_maxpy(const Backend& backend, Findings& findings, const Setting& setting, int count) {
  if (!findings.offered(vector_ops<V>(backend).maxpy, "maxpy")) return;
  const SeveralVectors<V> several(setting, count);
  for (const bool with_norm : {false, true}) {
    Operands<V> v(setting);
    double actual = GuardedVector<double>::nan(), expected = actual;
    const auto run = [&](const auto& ops, const TestQueue& queue, bool is_actual) {
      double& xx = is_actual ? actual : expected;
      ops.maxpy(queue, setting.n, count, -0.75, queue(several.c), queue(several.y), several.stride,
                queue(v.target(is_actual)), with_norm ? queue(xx) : nullptr);
    };
    with_both<V>(backend, setting, run);
    const auto name = [&] { return "maxpy of " + std::to_string(count) + setting.text(); };
    findings.compare(difference(v.actual, v.expected,
                                [&](index_t i) {
                                  double sum = std::abs(double(v.y[i]));
                                  for (int k = 0; k < count; ++k)
                                    sum += std::abs(several.c[k] * several.at(k, i));
                                  return sum_tolerance<V>(count + 1, sum);
                                }),
                     name);
    if (!with_norm) continue;
    double own = 0;
    for (index_t i = 0; i < setting.n; ++i) own += double(v.actual[i]) * v.actual[i];
    findings.compare(difference(actual, own, reduction_tolerance(setting.n, own)), name);
  }
}

template <class V>
void check_normalize(const Backend& backend, Findings& findings, const Setting& setting) {
  if (!findings.offered(vector_ops<V>(backend).normalize, "normalize")) return;
  for (double xx : {0.0, 0.37, 9.0, GuardedVector<double>::nan()}) {
    Operands<V> v(setting);
    v.actual.fill(GuardedVector<V>::nan());
    v.expected.fill(GuardedVector<V>::nan());
    with_both<V>(backend, setting, [&](const auto& ops, const TestQueue& queue, bool is_actual) {
      ops.normalize(queue, setting.n, queue(std::as_const(v.x)), queue(xx),
                    queue(v.target(is_actual)));
    });
    findings.compare(
        difference(v.actual, v.expected,
                   [&](index_t i) { return sum_tolerance<V>(1, std::abs(double(v.expected[i]))); }),
        [&] { return "normalize by the root of " + std::to_string(xx) + setting.text(); });
  }
}

template <class V>
void check_precision(const Backend& backend, Findings& findings) {
  for (int threads = 1; threads <= most_threads(backend);
       ++threads)  // outermost: a change of teams is slow
    for (const index_t n : lengths)
      for (const Alignment x : alignments)
        for (const Alignment y : alignments) {
          const Setting setting{n, x, y, threads};
          check_axpy<V>(backend, findings, setting);
          check_axpby<V>(backend, findings, setting);
          check_scal<V>(backend, findings, setting);
          check_multiply<V>(backend, findings, setting);
          check_dot<V>(backend, findings, setting);
          check_nrm2<V>(backend, findings, setting);
          if (x != y) continue;  // neighbours of others are unaligned anyway
          for (const int count : {1, 3, max_vectors_together}) {
            check_mdot<V>(backend, findings, setting, count);
            check_maxpy<V>(backend, findings, setting, count);
          }
          check_normalize<V>(backend, findings, setting);
        }
}

void check_blas1(const Backend& backend, Findings& findings) {
  check_precision<float>(backend, findings);
  check_precision<double>(backend, findings);
}

CNC_CONFORMANCE_TEST("vector operations", check_blas1);

}  // namespace
}  // namespace cnc::testing
