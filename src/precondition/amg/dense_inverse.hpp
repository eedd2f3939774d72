#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace cnc::detail {

/// The inverse of a dense matrix in place, row-major, on the host; of a singular one an inverse on the part that the pivots
/// reach, zeros for the rest: a constant, say, that A maps to zero.
///
/// Pivots are taken from the diagonal where the matrix is symmetric, whose inverse then is too, else from all that is left.
/// Cost     2 n^3 operations; n^3 where the matrix is symmetric, some pivots at a time.
/// Method   Gauss-Jordan elimination with complete pivoting, of a matrix that is equilibrated first: Golub & Van Loan, Matrix computations, 4th ed., 2013, section 3.4.8; sweeps of a
///          symmetric matrix: Goodnight, A tutorial on the SWEEP operator, 1979.
class DenseInverse {
 public:
  DenseInverse(std::vector<double>& a, std::size_t n, bool symmetric)
      : a_(a), n_(n), row_of_(n), column_of_(n), is_done_(n, false), column_is_done_(n, false) {
    scale(symmetric);
    // What rounding leaves of a zero in a matrix whose entries are one at most.
    const double least = 1e-13 * static_cast<double>(n);
    if (symmetric) sweep(least);
    for (; rank_ < n_; ++rank_) {  // what is left has zeros on its diagonal
      const Pivot next = pivot();
      if (!(next.magnitude > least) || !std::isfinite(next.magnitude)) break;
      eliminate(next.row, next.column);
    }
    arrange();
  }

  std::size_t rank() const { return rank_; }

 private:
  double& at(std::size_t i, std::size_t j) { return a_[i * n_ + j]; }

  struct Pivot {
    double magnitude = -1;  ///< negative: nothing is left but what is no number
    std::size_t row = 0, column = 0;
  };

  /// The power of two next below 1 / x, so that scaling does not round; 1 where there is none.
  static double inverse_power(double x) {
    return x > 0 && std::isfinite(x) ? std::ldexp(1.0, -std::ilogb(x)) : 1;
  }
  double row_maximum(std::size_t i) {
    double largest = 0;
    for (std::size_t j = 0; j < n_; ++j) largest = std::max(largest, std::abs(at(i, j)));
    return largest;
  }
  /// a := R a C, of entries about one: unknowns of different units are no loss of rank. R = C where a is symmetric.
  void scale(bool symmetric) {
    rows_scale_.assign(n_, 1);
    columns_scale_.assign(n_, 1);
    for (std::size_t i = 0; i < n_; ++i) {
      const double diagonal = std::abs(at(i, i));
      rows_scale_[i] = inverse_power(symmetric && diagonal > 0 ? std::sqrt(diagonal)
                                     : symmetric               ? std::sqrt(row_maximum(i))
                                                               : row_maximum(i));
    }
    if (symmetric) columns_scale_ = rows_scale_;
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < n_; ++j) at(i, j) *= rows_scale_[i] * columns_scale_[j];
    if (symmetric) return;
    for (std::size_t j = 0; j < n_; ++j) {
      double largest = 0;
      for (std::size_t i = 0; i < n_; ++i) largest = std::max(largest, std::abs(at(i, j)));
      columns_scale_[j] = inverse_power(largest);
      for (std::size_t i = 0; i < n_; ++i) at(i, j) *= columns_scale_[j];
    }
  }

  Pivot pivot() {
    Pivot best;
    for (std::size_t i = 0; i < n_; ++i) {
      if (is_done_[i]) continue;
      for (std::size_t j = 0; j < n_; ++j)
        if (!column_is_done_[j] && std::abs(at(i, j)) > best.magnitude)
          best = {std::abs(at(i, j)), i, j};
    }
    return best;
  }

  /// Sweeps of a symmetric matrix by pivots from its diagonal as long as there are any, of whose lower triangle each is
  /// a -= u u^T / d: u is column k, which is zero then, but for u[k] = -1, d = a[k][k], which is -1 / d afterwards. Some are made together: until then
  /// only the diagonal is what it should be.
  void sweep(double least) {
    constexpr std::size_t together = 8;
    std::vector<double> diagonal(n_), columns(together * n_);
    std::array<double, together> inverse = {};
    for (std::size_t i = 0; i < n_; ++i) diagonal[i] = at(i, i);
    std::size_t waiting = 0;
    const auto make = [&] {
      for (std::size_t i = 1; i < n_; ++i) {
        std::array<double, together> factor;
        for (std::size_t m = 0; m < together; ++m) factor[m] = columns[m * n_ + i] * inverse[m];
        subtract(factor, columns.data(), i, &at(i, 0));
      }
      inverse = {};
      waiting = 0;
    };
    for (;;) {
      std::size_t k = n_;
      double largest = least;
      for (std::size_t i = 0; i < n_; ++i)
        if (!is_done_[i] && std::abs(diagonal[i]) > largest) largest = std::abs(diagonal[k = i]);
      if (k == n_ || !std::isfinite(largest)) break;
      const double d = diagonal[k];
      double* const u = &columns[waiting * n_];
      for (std::size_t i = 0; i < n_; ++i) u[i] = i < k ? at(k, i) : at(i, k);
      for (std::size_t m = 0; m < waiting; ++m) {
        const double* const before = &columns[m * n_];
        const double factor = before[k] * inverse[m];
        for (std::size_t i = 0; i < n_; ++i) u[i] -= factor * before[i];
      }
      // The column is taken out, so that u[k] = -1 leaves u / d there: with what is there it would be the small difference of two large numbers.
      u[k] = -1;
      for (std::size_t m = 0; m < waiting; ++m) columns[m * n_ + k] = 0;
      for (std::size_t i = 0; i < n_; ++i) (i < k ? at(k, i) : at(i, k)) = 0;
      for (std::size_t i = 0; i < n_; ++i) diagonal[i] -= u[i] * u[i] / d;
      diagonal[k] = -1 / d;
      inverse[waiting++] = 1 / d;
      is_done_[k] = column_is_done_[k] = true;
      row_of_[k] = column_of_[k] = k;
      ++rank_;
      if (waiting == together) make();
    }
    make();
    // As elimination leaves it: sweeps have the inverse with the other sign.
    for (std::size_t i = 0; i < n_; ++i) {
      at(i, i) = is_done_[i] ? -diagonal[i] : diagonal[i];
      for (std::size_t j = 0; j < i; ++j) {
        const double a = at(i, j);
        at(i, j) = is_done_[j] ? -a : a;
        at(j, i) = is_done_[i] ? -a : a;
      }
    }
  }
  /// row -= the sum of factor[m] columns[m], of its first n entries.
  template <std::size_t together>
  void subtract(const std::array<double, together>& factor, const double* columns, std::size_t n,
                double* __restrict row) const {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t m = 0; m < together; ++m) sum += factor[m] * columns[m * n_ + j];
      row[j] -= sum;
    }
  }

  /// Exchanges x_column and b_row: afterwards row `row` says what x_column is.
  void eliminate(std::size_t row, std::size_t column) {
    is_done_[row] = column_is_done_[column] = true;
    row_of_[column] = row;
    column_of_[row] = column;
    const double inverse = 1 / at(row, column);
    double* const p = &at(row, 0);
    for (std::size_t j = 0; j < n_; ++j) p[j] *= inverse;
    p[column] = inverse;
    for (std::size_t i = 0; i < n_; ++i) {
      const double factor = at(i, column);
      if (i == row || factor == 0) continue;
      double* const to = &at(i, 0);
      to[column] = 0;
      for (std::size_t j = 0; j < n_; ++j) to[j] -= factor * p[j];
    }
  }

  /// Rows and columns from the pivots' order into their own; what was never a pivot is zero.
  void arrange() {
    std::vector<double> result(n_ * n_, 0);
    for (std::size_t row = 0; row < n_; ++row) {
      if (!is_done_[row]) continue;
      const std::size_t x = column_of_[row];
      for (std::size_t column = 0; column < n_; ++column)
        if (column_is_done_[column])
          result[x * n_ + row_of_[column]] =
              columns_scale_[x] * at(row, column) * rows_scale_[row_of_[column]];
    }
    a_.swap(result);
  }

  std::vector<double>& a_;
  std::size_t n_, rank_ = 0;
  std::vector<std::size_t> row_of_, column_of_;
  std::vector<bool> is_done_, column_is_done_;
  std::vector<double> rows_scale_, columns_scale_;
};

}  // namespace cnc::detail
