// y := alpha A x + beta y of every backend, for every format, block size, precision and edge shape,
// against the reference backend on the CSR matrix that the layouts were built from.

#include "conformance/layouts.hpp"
#include "conformance/per_backend.hpp"

#include <cnc/error.hpp>

namespace cnc::testing {
namespace {

constexpr double factors[] = {0, 1, -1, 0.3};

/// One product: the operands, and what the reference makes of them.
template <class M, class V>
struct Product {
  double alpha, beta;
  GuardedVector<V> before, expected;

  Product(const CsrMatrix<M>& A, const GuardedVector<V>& x, double alpha_, double beta_)
      : alpha(alpha_),
        beta(beta_),
        before(A.rows, Alignment::even),
        expected(A.rows, Alignment::even) {
    before.randomize(5);
    if (beta == 0) before.fill(GuardedVector<V>::nan());
    expected.assign(before);
    matrix_ops<BcsrOperand<M>, V>(reference())
        .spmv(TestQueue(reference(), A.rows, 1), V(alpha), A.operand(), x.data(), V(beta),
              expected.data());
  }
  double tolerance(const RowWeight& weight, index_t row) const {
    const double old = beta == 0 ? 0 : std::abs(beta * before[row]);
    return sum_tolerance<V>(weight.length, std::abs(alpha) * weight.absolute_sum + old);
  }
};

template <class M, class V>
class SpmvCheck {
 public:
  SpmvCheck(const Backend& backend, Findings& findings, const NamedMatrix<M>& matrix)
      : backend_(backend), findings_(findings), matrix_(matrix), A_(matrix.A) {
    for (const Alignment alignment : {Alignment::even, Alignment::odd}) {
      x_.emplace_back(A_.cols, alignment);
      x_.back().randomize(3);
    }
    weights_ = row_weights(A_, x_.front());
    for (const double alpha : factors)
      for (const double beta : factors) products_.emplace_back(A_, x_.front(), alpha, beta);
  }

  void run() {
    for (const Layout<M>& layout : product_layouts(A_, largest_block(A_))) {
      const Matrix<M> other = misaligned(layout.A);
      // Each product runs on one number of threads and in one alignment; the next layout deals them
      // out differently. Threads are the outer loop because a change of teams is slow.
      for (int threads = 1; threads <= max_threads; ++threads)
        for (std::size_t k = 0; k < products_.size(); ++k) {
          if ((k + turn_) % max_threads != static_cast<std::size_t>(threads - 1)) continue;
          // What is read and written does not depend on alpha and beta: where each product costs most, a
          // layout takes a fifth of them, and the next layout others.
          if (is_sanitized && is_emulated(backend_) && (k + turn_) % 5 != 0) continue;
          const bool odd = (k / max_threads + turn_) % 2 != 0;
          std::visit([&](const auto& a) { check(layout, a, products_[k], odd, threads); },
                     odd ? other : layout.A);
        }
      ++turn_;
    }
  }

 private:
  template <class SparseMatrix>
  void check(const Layout<M>& layout, const SparseMatrix& A, const Product<M, V>& product, bool odd,
             int threads) {
    const auto label = [&] {
      return "spmv " + std::string(Precision<M, V>::name()) + " " + layout.name + ", " +
             matrix_.name + ", alpha " + std::to_string(product.alpha) + ", beta " +
             std::to_string(product.beta) + ", " + std::to_string(threads) + " threads" +
             (odd ? ", odd alignment" : "");
    };
    const auto& ops = matrix_ops<decltype(A.operand()), V>(backend_);
    if (!findings_.offered(ops.spmv, "spmv of " + layout.format)) return;
    GuardedVector<V> y(A.rows, odd ? Alignment::odd : Alignment::even);
    y.assign(product.before);
    const TestQueue queue(backend_, A.rows, threads);
    try {
      ops.spmv(queue, V(product.alpha), Planned(ops, queue, queue(A)).operand,
               queue(std::as_const(x_[odd])), V(product.beta), queue(y));
    } catch (const UnsupportedOperation&) {
      return findings_.not_offered("spmv of " + layout.name);
    }
    queue.finish();
    findings_.compare(difference(y, product.expected,
                                 [&](index_t row) {
                                   return product.tolerance(weights_[static_cast<std::size_t>(row)],
                                                            row);
                                 }),
                      label);
  }

  const Backend& backend_;
  Findings& findings_;
  const NamedMatrix<M>& matrix_;
  const CsrMatrix<M>& A_;
  std::vector<GuardedVector<V>> x_;  ///< the same entries, even and odd
  std::vector<RowWeight> weights_;
  std::vector<Product<M, V>> products_;
  std::size_t turn_ = 0;
};

void check_spmv(const Backend& backend, Findings& findings) {
  for_each_precision([&](auto precision) {
    using M = typename decltype(precision)::M;
    using V = typename decltype(precision)::V;
    for (const NamedMatrix<M>& matrix : conformance_matrices<M>())
      if (matrix.A.rows < 1000 || !is_emulated(backend))
        SpmvCheck<M, V>(backend, findings, matrix).run();
  });
}

CNC_CONFORMANCE_TEST("spmv", check_spmv);

/// What a backend makes of layouts some of whose arrays are wrong on purpose, because it should not read them.
class WrongArraysCheck {
 public:
  WrongArraysCheck(const Backend& backend, Findings& findings, const CsrMatrix<double>& A)
      : backend_(backend),
        findings_(findings),
        rows_(A.rows),
        x_(random_x(A.cols)),
        y_(A.rows, Alignment::even),
        product_(A, x_, 1, 0),
        weights_(row_weights(A, x_)) {}

  template <class Layout>
  void run(const Layout& a, const std::string& what) {
    const auto& ops = matrix_ops<double>(backend_, a.operand());
    const TestQueue queue(backend_, rows_, 2);
    ops.spmv(queue, 1.0, Planned(ops, queue, queue(a)).operand, queue(std::as_const(x_)), 0.0,
             queue(y_));
    queue.finish();
    findings_.compare(difference(y_, product_.expected,
                                 [&](index_t row) {
                                   return product_.tolerance(weights_[std::size_t(row)], row);
                                 }),
                      [&] { return what; });
  }

 private:
  static GuardedVector<double> random_x(index_t n) {
    GuardedVector<double> x(n, Alignment::even);
    x.randomize(3);
    return x;
  }

  const Backend& backend_;
  Findings& findings_;
  index_t rows_;
  GuardedVector<double> x_, y_;
  Product<double, double> product_;
  std::vector<RowWeight> weights_;
};

/// Where the other columns are wrong, a product is right if it reads the short ones.
void check_reads_short_columns(const Backend& backend, Findings& findings) {
  if (!backend.short_columns) return findings.not_offered("short columns");
  const CsrMatrix<double> A = generate_problem("wathen:14x11");
  WrongArraysCheck check(backend, findings, A);
  for (const char* const format : {"csr", "bsell", "bcsr:2", "bsell:2"}) {
    Matrix<double> layout = build_format(A, parse_format(format));
    findings.compare(unless(find_short_columns(layout), "none were found"),
                     [&] { return std::string(format); });
    std::visit(
        [&](auto& a) {
          if constexpr (requires { a.short_columns; }) {
            a.columns = zeroed<index_t>("columns", a.columns.extent(0));
            check.run(a, std::string("columns of 16 bits in ") + format);
          }
        },
        layout);
  }
}

CNC_CONFORMANCE_TEST("short columns", check_reads_short_columns);

/// Where the values are wrong, a product is right if it reads the table of them.
void check_reads_value_table(const Backend& backend, Findings& findings) {
  if (!backend.value_tables) return findings.not_offered("a table of values");
  CsrMatrix<double> A = generate_problem("wathen:14x11");
  for (std::size_t k = 0; k < A.values.extent(0); ++k) A.values(k) = std::sqrt(2.0 + k % 255);
  WrongArraysCheck check(backend, findings, A);
  for (const char* const format : {"csr", "bsell"})
    for (const bool are_short : {false, true}) {
      Matrix<double> layout = build_format(A, parse_format(format));
      findings.compare(unless(find_value_table(layout), "none was found"),
                       [&] { return std::string(format); });
      if (are_short) find_short_columns(layout);
      std::visit(
          [&](auto& a) {
            if constexpr (requires { a.value_table; }) {
              a.values = zeroed<double>("values", a.values.extent(0));
              check.run(a, std::string("a table of values in ") + format);
            }
          },
          layout);
    }
}

CNC_CONFORMANCE_TEST("table of values", check_reads_value_table);

}  // namespace
}  // namespace cnc::testing
