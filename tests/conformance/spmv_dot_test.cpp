// y := A x with x . y in the same pass: values, the dot product in double, and its bits.

#include "conformance/layouts.hpp"
#include "conformance/per_backend.hpp"

namespace cnc::testing {
namespace {

template <class V>
struct Result {
  GuardedVector<V> y;
  double dot = std::numeric_limits<double>::quiet_NaN();
  bool stayed_inside = true;  ///< used no more scratch than there is
};

template <class M, class V, class SparseMatrix>
Result<V> run(const Backend& backend, const SparseMatrix& A, const GuardedVector<V>& x,
              int threads) {
  Result<V> result{GuardedVector<V>(A.rows, Alignment::odd)};
  const TestQueue queue(backend, A.rows, threads);
  matrix_ops(matrix_table<M, V>(backend), A.operand())
      .spmv_dot(queue, queue(A), queue(x), queue(result.y), queue(result.dot));
  queue.finish();
  result.stayed_inside = queue.walls_intact();
  return result;
}

/// How far y and x . y may be off: the dot product inherits the errors of y.
template <class M, class V>
struct Tolerances {
  std::vector<double> y;
  double dot = 0;

  Tolerances(const CsrMatrix<M>& A, const GuardedVector<V>& x) {
    double absolute_sum = 0;
    index_t row = 0;
    for (const RowWeight& weight : row_weights(A, x)) {
      const double size = std::abs(double(x[row++]));
      y.push_back(sum_tolerance<V>(weight.length, weight.absolute_sum));
      dot += size * y.back();
      absolute_sum += size * weight.absolute_sum;
    }
    dot += reduction_tolerance(A.rows, absolute_sum);
  }
};

template <class M, class V>
void check_matrix(const Backend& backend, Findings& findings, const NamedMatrix<M>& matrix) {
  GuardedVector<V> x(matrix.A.cols, Alignment::odd);
  x.randomize(21);
  const Result<V> expected = run<M>(reference(), matrix.A, x, 1);
  const Tolerances<M, V> tolerances(matrix.A, x);
  const auto y_tolerance = [&](index_t row) { return tolerances.y[static_cast<std::size_t>(row)]; };

  int turn = 0;  // two and three threads by turns
  const auto check = [&](const Layout<M>& layout, const auto& A) {
    const auto label = [&] {
      return "spmv_dot " + std::string(Precision<M, V>::name()) + " " + layout.name + ", " +
             matrix.name;
    };
    const auto& ops = matrix_ops(matrix_table<M, V>(backend), A.operand());
    if (!findings.offered(ops.spmv_dot, "spmv_dot of " + layout.format)) return;
    const Result<V> serial = run<M>(backend, A, x, 1);
    findings.compare(difference(serial.y, expected.y, y_tolerance), label);
    findings.compare(difference(serial.dot, expected.dot, tolerances.dot), label);
    findings.compare(unless(serial.stayed_inside, "used more scratch than there is"), label);
    for (const int threads : {1, 2 + turn++ % 2}) {
      const Result<V> again = run<M>(backend, A, x, threads);
      findings.compare(unless(again.y.same_bits(serial.y) && again.dot == serial.dot,
                              "other bits on another run or with more threads"),
                       label);
    }
  };
  for (const Layout<M>& layout : layouts(matrix.A, largest_block(matrix.A)))
    std::visit([&](const auto& a) { check(layout, a); }, misaligned(layout.A));
}

void check_spmv_dot(const Backend& backend, Findings& findings) {
  for_each_precision([&](auto precision) {
    using M = typename decltype(precision)::Matrix;
    using V = typename decltype(precision)::Vectors;
    for (const NamedMatrix<M>& matrix : conformance_matrices<M>())
      if (matrix.A.rows == matrix.A.cols) check_matrix<M, V>(backend, findings, matrix);
    check_matrix<M, V>(backend, findings, {"square 2300", random_csr<M>(2300, 2300, 5, 9)});
  });
}

CNC_CONFORMANCE_TEST("spmv with dot", check_spmv_dot);

}  // namespace
}  // namespace cnc::testing
