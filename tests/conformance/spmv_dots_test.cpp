// y := A x with dots in the same pass: values, the dots in double, and their bits.

#include "conformance/layouts.hpp"
#include "conformance/per_backend.hpp"

namespace cnc::testing {
namespace {

/// Which dots a product leaves: none, x . y or w . y, and y . y too.
struct Wanted {
  enum With { nothing, x, another } with;
  bool self;
  std::string text() const {
    const char* const names[] = {"no dot", "x . y", "w . y"};
    return std::string(names[with]) + (self ? " and y . y" : "");
  }
};
constexpr Wanted all_wanted[] = {{Wanted::nothing, false},
                                 {Wanted::x, false},
                                 {Wanted::another, false},
                                 {Wanted::x, true},
                                 {Wanted::another, true}};

template <class V>
struct Result {
  GuardedVector<V> y;
  double with = std::numeric_limits<double>::quiet_NaN();
  double self = with;
  bool stayed_inside = true;  ///< used no more scratch than there is

  /// Not a number where there is no dot, and then unchanged.
  bool same_bits(const Result& other) const {
    return y.same_bits(other.y) && std::memcmp(&with, &other.with, sizeof with) == 0 &&
           std::memcmp(&self, &other.self, sizeof self) == 0;
  }
};

template <class V>
struct Vectors {
  GuardedVector<V> x, w;
  explicit Vectors(index_t n) : x(n, Alignment::odd), w(n, Alignment::odd) {
    x.randomize(21);
    w.randomize(22);
  }
  const GuardedVector<V>& factor(const Wanted& wanted) const {
    return wanted.with == Wanted::another ? w : x;
  }
};

template <class M, class V, class SparseMatrix>
Result<V> run(const Backend& backend, const SparseMatrix& A, const Vectors<V>& vectors,
              const Wanted& wanted, int threads) {
  Result<V> result{GuardedVector<V>(A.rows, Alignment::odd)};
  const TestQueue queue(backend, A.rows, threads);
  const V* const x = queue(vectors.x);
  ProductDots<V> dots;
  if (wanted.with != Wanted::nothing) {
    dots.with = wanted.with == Wanted::x ? x : queue(vectors.w);
    dots.with_result = queue(result.with);
    if (wanted.self) dots.self_result = queue(result.self);
  }
  matrix_ops<V>(backend, A.operand()).spmv_dot(queue, queue(A), x, queue(result.y), dots);
  queue.finish();
  result.stayed_inside = queue.walls_intact();
  return result;
}

/// How far y and the dots may be off: a dot inherits the errors of y, y . y those of both factors.
template <class M, class V>
struct Tolerances {
  std::vector<double> y;
  double with[2] = {}, self = 0;  ///< x . y, w . y; y . y

  Tolerances(const CsrMatrix<M>& A, const Vectors<V>& vectors, const GuardedVector<V>& product) {
    double with_size[2] = {}, self_size = 0;
    index_t row = 0;
    for (const RowWeight& weight : row_weights(A, vectors.x)) {
      const double tolerance = sum_tolerance<V>(weight.length, weight.absolute_sum);
      const double factors[] = {std::abs(double(vectors.x[row])), std::abs(double(vectors.w[row]))};
      for (int k = 0; k < 2; ++k) {
        with[k] += factors[k] * tolerance;
        with_size[k] += factors[k] * weight.absolute_sum;
      }
      self += (2 * std::abs(double(product[row])) + tolerance) * tolerance;
      self_size += weight.absolute_sum * weight.absolute_sum;
      y.push_back(tolerance);
      ++row;
    }
    for (int k = 0; k < 2; ++k) with[k] += reduction_tolerance(A.rows, with_size[k]);
    self += reduction_tolerance(A.rows, self_size);
  }
};

template <class M, class V>
void check_matrix(const Backend& backend, Findings& findings, const NamedMatrix<M>& matrix) {
  const Vectors<V> vectors(matrix.A.cols);
  std::vector<Result<V>> expected;
  for (const Wanted& wanted : all_wanted)
    expected.push_back(run<M>(reference(), matrix.A, vectors, wanted, 1));
  const Tolerances<M, V> tolerances(matrix.A, vectors, expected[0].y);
  const auto y_tolerance = [&](index_t row) { return tolerances.y[static_cast<std::size_t>(row)]; };

  int turn = 0;  // two and three threads by turns
  const auto check = [&](const Layout<M>& layout, const auto& A, std::size_t kind) {
    const Wanted& wanted = all_wanted[kind];
    const auto label = [&] {
      return "spmv_dot " + std::string(Precision<M, V>::name()) + " " + layout.name + ", " +
             matrix.name + ", " + wanted.text();
    };
    const Result<V> serial = run<M>(backend, A, vectors, wanted, 1);
    findings.compare(difference(serial.y, expected[kind].y, y_tolerance), label);
    findings.compare(difference(serial.with, expected[kind].with,
                                tolerances.with[wanted.with == Wanted::another]),
                     label);
    findings.compare(difference(serial.self, expected[kind].self, tolerances.self), label);
    findings.compare(unless(serial.stayed_inside, "used more scratch than there is"), label);
    for (const int threads : {1, 2 + turn % 2})
      findings.compare(unless(run<M>(backend, A, vectors, wanted, threads).same_bits(serial),
                              "other bits on another run or with more threads"),
                       label);
  };
  const auto check_layout = [&](const Layout<M>& layout, const auto& A) {
    const auto& ops = matrix_ops<V>(backend, A.operand());
    if (!findings.offered(ops.spmv_dot, "spmv_dot of " + layout.format)) return;
    for (std::size_t kind = 0; kind < std::size(all_wanted); ++kind) {
      // Where a product costs most, a layout takes one kind, and the next layout another.
      if (is_emulated(backend) && kind != static_cast<std::size_t>(turn) % std::size(all_wanted))
        continue;
      check(layout, A, kind);
    }
    ++turn;
  };
  for (const Layout<M>& layout : product_layouts(matrix.A, largest_block(matrix.A)))
    std::visit([&](const auto& a) { check_layout(layout, a); }, misaligned(layout.A));
  // Slices of a sum need not have rows that follow each other.
  for (const int b : {1, 2}) {
    const auto sorted = to_bsell(matrix.A, b, 0, std::max<index_t>(1, matrix.A.rows));
    check_layout({"bsell", "bsell:" + std::to_string(b) + " sorted as one", sorted}, sorted);
  }
}

void check_spmv_dots(const Backend& backend, Findings& findings) {
  for_each_precision([&](auto precision) {
    using M = typename decltype(precision)::M;
    using V = typename decltype(precision)::V;
    for (const NamedMatrix<M>& matrix : conformance_matrices<M>())
      if (matrix.A.rows == matrix.A.cols) check_matrix<M, V>(backend, findings, matrix);
    check_matrix<M, V>(backend, findings, {"square 2300", random_csr<M>(2300, 2300, 5, 9)});
  });
}

CNC_CONFORMANCE_TEST("spmv with dots", check_spmv_dots);

}  // namespace
}  // namespace cnc::testing
