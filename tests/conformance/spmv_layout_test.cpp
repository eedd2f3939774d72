// What the formats promise beyond the values of a random product: an Inf or NaN in x reaches no row
// that does not reference it, and BSELL works with any slice height and sort window.

#include "conformance/layouts.hpp"
#include "conformance/per_backend.hpp"

#include <cnc/error.hpp>

namespace cnc::testing {
namespace {

/// A x by the backend against the reference on CSR; `skip_row(i)` rows are not compared.
template <class M, class V, class SparseMatrix, class SkipRow>
void check_product(const Backend& backend, Findings& findings, const std::string& name,
                   const CsrMatrix<M>& csr, const SparseMatrix& A, const GuardedVector<V>& x,
                   const SkipRow& skip_row) {
  using Operand = decltype(A.operand());
  const auto& ops = matrix_ops<Operand, V>(backend);
  if (!findings.offered(ops.spmv, std::string("spmv of ") + A.format_name())) return;
  GuardedVector<V> y(csr.rows, Alignment::even), expected(csr.rows, Alignment::even);
  matrix_ops<BcsrOperand<M>, V>(reference())
      .spmv(TestQueue(reference(), csr.rows, 1), V(1), csr.operand(), x.data(), V(0),
            expected.data());
  const auto weights = row_weights(csr, x);
  for (int threads = 1; threads <= most_threads(backend); ++threads) {
    y.fill(GuardedVector<V>::nan());
    const TestQueue queue(backend, csr.rows, threads);
    try {
      ops.spmv(queue, V(1), Planned(ops, queue, queue(A)).operand, queue(x), V(0), queue(y));
    } catch (const UnsupportedOperation&) {
      return findings.not_offered("spmv of " + name);
    }
    queue.finish();
    for (index_t i = 0; i < csr.rows; ++i)
      if (skip_row(i)) y[i] = expected[i];
    findings.compare(difference(y, expected,
                                [&](index_t i) {
                                  const RowWeight& weight = weights[static_cast<std::size_t>(i)];
                                  return sum_tolerance<V>(weight.length, weight.absolute_sum);
                                }),
                     [&] { return name + " " + Precision<M, V>::name(); });
  }
}

/// Every third entry of x is NaN, Inf or -Inf in turn; entry 0 is NaN, where padding likes to point.
template <class V>
GuardedVector<V> poisoned(index_t n) {
  GuardedVector<V> x(n, Alignment::odd);
  x.randomize(31);
  const V infinity = std::numeric_limits<V>::infinity();
  const V poison[] = {GuardedVector<V>::nan(), infinity, -infinity};
  for (index_t i = 0; i < n; i += 3) x[i] = poison[i / 3 % 3];
  return x;
}

void check_containment(const Backend& backend, Findings& findings) {
  for_each_precision([&](auto precision) {
    using M = typename decltype(precision)::M;
    using V = typename decltype(precision)::V;
    for (const NamedMatrix<M>& matrix : conformance_matrices<M>()) {
      const CsrMatrix<M>& A = matrix.A;
      const GuardedVector<V> x = poisoned<V>(A.cols);
      check_product<M>(backend, findings, "containment csr, " + matrix.name, A, A, x,
                       [](index_t) { return false; });
      // The contract excepts empty rows: their padding has no column of its own to repeat.
      check_product<M>(backend, findings, "containment bsell, " + matrix.name, A, to_bsell(A), x,
                       [&](index_t i) { return A.row_offsets(i) == A.row_offsets(i + 1); });
    }
  });
}

void check_slices(const Backend& backend, Findings& findings) {
  for_each_precision([&](auto precision) {
    using M = typename decltype(precision)::M;
    using V = typename decltype(precision)::V;
    const CsrMatrix<M> A = random_csr<M>(171, 166, 5, 41);
    GuardedVector<V> x(A.cols, Alignment::odd);
    x.randomize(43);
    for (const int block_size : {1, 2, 3, 7})
      for (const int slice_height : {1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 32, 64, 1024})
        for (const index_t sort_window : {0, 1, 40, 1000})
          check_product<M>(backend, findings,
                           "bsell:" + std::to_string(block_size) + ", slice height " +
                               std::to_string(slice_height) + ", sort window " +
                               std::to_string(sort_window),
                           A, to_bsell(A, block_size, slice_height, sort_window), x,
                           [](index_t) { return false; });
  });
}

CNC_CONFORMANCE_TEST("spmv keeps Inf and NaN where they belong", check_containment);
CNC_CONFORMANCE_TEST("spmv of any slice height and sort window", check_slices);

}  // namespace
}  // namespace cnc::testing
