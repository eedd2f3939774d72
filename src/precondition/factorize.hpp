#pragma once

#include "convert/checks.hpp"

#include <cnc/incomplete.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <vector>

// Incomplete factorisations on the host, in double, row by row.

namespace cnc::detail {

/// Rows one after the other.
struct SparseRows {
  std::vector<index_t> offsets{0}, columns;
  std::vector<double> values;

  void end_row() {
    require_offset<index_t>(static_cast<offset_t>(columns.size()), "entries in a factor");
    offsets.push_back(static_cast<index_t>(columns.size()));
  }
  void add(index_t column, double value) {
    columns.push_back(column);
    values.push_back(value);
  }
  index_t begin(index_t row) const { return offsets[static_cast<std::size_t>(row)]; }
  index_t end(index_t row) const { return offsets[static_cast<std::size_t>(row) + 1]; }
};

/// A ~ (I + L) D (I + U), L and U strictly triangular.
struct Factors {
  SparseRows lower, upper;
  std::vector<double> inverse;  ///< of D

  /// D^-1 U in place of U, which elimination needs as it is.
  void scale_upper() {
    for (std::size_t i = 0; i < inverse.size(); ++i)
      for (auto e = static_cast<std::size_t>(upper.offsets[i]);
           e < static_cast<std::size_t>(upper.offsets[i + 1]); ++e)
        upper.values[e] *= inverse[i];
  }
  /// L = U^T.
  void mirror_upper() {
    const std::size_t n = inverse.size();
    lower.offsets.assign(n + 1, 0);
    for (const index_t column : upper.columns)
      ++lower.offsets[static_cast<std::size_t>(column) + 1];
    for (std::size_t i = 0; i < n; ++i) lower.offsets[i + 1] += lower.offsets[i];
    lower.columns.resize(upper.columns.size());
    lower.values.resize(upper.values.size());
    std::vector<index_t> next(lower.offsets.begin(), lower.offsets.end() - 1);
    for (index_t i = 0; i < static_cast<index_t>(n); ++i)
      for (index_t e = upper.begin(i); e < upper.end(i); ++e) {
        const auto from = static_cast<std::size_t>(e);
        const auto to =
            static_cast<std::size_t>(next[static_cast<std::size_t>(upper.columns[from])]++);
        lower.columns[to] = i;
        lower.values[to] = upper.values[from];
      }
  }
};

/// One attempt at a factorisation of a matrix with ascending rows.
template <class V>
class Factorization {
 public:
  Factorization(const CsrMatrix<V>& A, const IncompleteOptions& options, double shift)
      : A_(A),
        options_(options),
        shift_(shift),
        row_(static_cast<std::size_t>(A.rows), 0),
        is_in_(static_cast<std::size_t>(A.rows), false) {
    if (!is_symmetric()) return;
    next_entry_.resize(row_.size());
    next_row_.assign(row_.size(), -1);
    first_row_.assign(row_.size(), -1);
    root_.assign(row_.size(), 1);
    for (index_t i = 0; i < A.rows; ++i)
      for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k)
        if (A.columns(k) == i && A.values(k) > 0)
          root_[static_cast<std::size_t>(i)] = std::sqrt(static_cast<double>(A.values(k)));
  }

  /// The first row whose pivot is not usable, or -1.
  index_t run(Factors& factors) {
    factors = {};
    factors.inverse.reserve(row_.size());
    for (index_t i = 0; i < A_.rows; ++i)
      if (!add_row(i, factors)) return i;
    factors.scale_upper();
    if (is_symmetric()) factors.mirror_upper();
    return -1;
  }

 private:
  bool fills() const { return has_threshold(options_.kind); }
  /// Whether only U is eliminated, and L is its transpose.
  bool is_symmetric() const {
    return options_.kind == IncompleteKind::ic0 || options_.kind == IncompleteKind::ict;
  }

  void put(index_t column, double value) {
    const auto at = static_cast<std::size_t>(column);
    if (!is_in_[at]) {
      is_in_[at] = true;
      row_[at] = 0;
      pattern_.push_back(column);
    }
    row_[at] += value;
  }

  bool add_row(index_t i, Factors& factors) {
    load(i);
    is_symmetric() ? eliminate_symmetric(i, factors) : eliminate(i, factors);
    const double pivot = row_[static_cast<std::size_t>(i)];
    store(i, factors);
    if (is_symmetric()) await(i, factors.upper.begin(i), factors);
    for (const index_t column : pattern_) is_in_[static_cast<std::size_t>(column)] = false;
    pattern_.clear();
    const bool positive = pivot > 0 || !is_symmetric();
    if (!finite_ || !std::isfinite(pivot) || !(std::abs(pivot) > 1e-12 * magnitude_) || !positive)
      return false;
    factors.inverse.push_back(1 / pivot);
    return true;
  }

  /// Row i of A with its diagonal, shifted.
  void load(index_t i) {
    double sum = 0, largest = 0;
    entries_ = 0;
    const index_t size = options_.block_rows > 0 ? options_.block_rows : A_.rows;
    const index_t first = i / size * size;
    for (index_t k = A_.row_offsets(i); k < A_.row_offsets(i + 1); ++k) {
      const auto value = static_cast<double>(A_.values(k));
      sum += std::abs(value);
      largest = std::max(largest, std::abs(value));
      if (A_.columns(k) < first || A_.columns(k) - first >= size) continue;
      if (is_symmetric() && A_.columns(k) < i) continue;
      put(A_.columns(k), value);
      ++entries_;
    }
    put(i, 0);
    finite_ = std::isfinite(sum);
    const index_t in_row = A_.row_offsets(i + 1) - A_.row_offsets(i);
    mean_ = in_row > 0 ? sum / in_row : 0;
    double& diagonal = row_[static_cast<std::size_t>(i)];
    const double part = shift_ * (diagonal != 0 ? std::abs(diagonal) : mean_);
    diagonal += diagonal < 0 ? -part : part;
    // Of the unknown's own unit: what a row holds besides may be of another.
    magnitude_ = diagonal != 0 ? std::abs(diagonal) : largest;
  }

  void eliminate(index_t i, const Factors& factors) {
    // Columns below i in ascending order, with those that fill in.
    std::priority_queue<index_t, std::vector<index_t>, std::greater<>> waiting;
    for (const index_t column : pattern_)
      if (column < i) waiting.push(column);
    while (!waiting.empty()) {
      const index_t k = waiting.top();
      waiting.pop();
      double& entry = row_[static_cast<std::size_t>(k)];
      entry *= factors.inverse[static_cast<std::size_t>(k)];
      if (fills() && std::abs(entry) * pivot_of(factors, k) < options_.drop * mean_) {
        entry = 0;
        continue;
      }
      for (index_t e = factors.upper.begin(k); e < factors.upper.end(k); ++e) {
        const index_t column = factors.upper.columns[static_cast<std::size_t>(e)];
        const double change = -entry * factors.upper.values[static_cast<std::size_t>(e)];
        if (is_in_[static_cast<std::size_t>(column)]) {
          row_[static_cast<std::size_t>(column)] += change;
        } else if (fills()) {
          put(column, change);
          if (column < i) waiting.push(column);
        }
      }
    }
  }
  /// Rows k before i with an entry u(k, i): each is in the list of the column of its next entry, from i on.
  void eliminate_symmetric(index_t i, const Factors& factors) {
    index_t k = first_row_[static_cast<std::size_t>(i)];
    while (k >= 0) {
      const index_t following = next_row_[static_cast<std::size_t>(k)];
      const index_t at = next_entry_[static_cast<std::size_t>(k)];
      const double entry = factors.upper.values[static_cast<std::size_t>(at)] *
                           factors.inverse[static_cast<std::size_t>(k)];
      for (index_t e = at; e < factors.upper.end(k); ++e) {
        const index_t column = factors.upper.columns[static_cast<std::size_t>(e)];
        const double change = -entry * factors.upper.values[static_cast<std::size_t>(e)];
        if (is_in_[static_cast<std::size_t>(column)])
          row_[static_cast<std::size_t>(column)] += change;
        else if (fills())
          put(column, change);
      }
      await(k, at + 1, factors);
      k = following;
    }
  }
  /// Puts row k into the list of the column of its entry `at`.
  void await(index_t k, index_t at, const Factors& factors) {
    if (at == factors.upper.end(k)) return;
    const auto column =
        static_cast<std::size_t>(factors.upper.columns[static_cast<std::size_t>(at)]);
    next_entry_[static_cast<std::size_t>(k)] = at;
    next_row_[static_cast<std::size_t>(k)] = first_row_[column];
    first_row_[column] = k;
  }
  static double pivot_of(const Factors& factors, index_t k) {
    return std::abs(1 / factors.inverse[static_cast<std::size_t>(k)]);
  }

  void store(index_t i, Factors& factors) {
    std::vector<index_t> below, above;
    for (const index_t column : pattern_)
      if (column != i) (column < i ? below : above).push_back(column);
    if (fills()) {
      const auto most = static_cast<std::size_t>(std::ceil(options_.fill * std::max(entries_, 1)));
      keep_largest(below, most, 0);
      keep_largest(above, most, options_.drop * (is_symmetric() ? root(i) : mean_));
    }
    for (auto* part : {&below, &above}) {
      std::sort(part->begin(), part->end());
      SparseRows& rows = part == &below ? factors.lower : factors.upper;
      for (const index_t column : *part) rows.add(column, row_[static_cast<std::size_t>(column)]);
      rows.end_row();
    }
  }
  void keep_largest(std::vector<index_t>& columns, std::size_t most, double least) const {
    const auto size = [&](index_t c) {
      return std::abs(row_[static_cast<std::size_t>(c)]) / (is_symmetric() ? root(c) : 1);
    };
    std::erase_if(columns, [&](index_t c) { return size(c) <= least; });
    if (columns.size() <= most) return;
    std::nth_element(
        columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(most), columns.end(),
        [&](index_t a, index_t b) { return size(a) > size(b) || (size(a) == size(b) && a < b); });
    columns.resize(most);
  }

  /// sqrt(a(i, i)), which entries of symmetric factors are compared with: what is dropped does not depend on units.
  double root(index_t i) const { return root_[static_cast<std::size_t>(i)]; }

  const CsrMatrix<V>& A_;
  const IncompleteOptions& options_;
  double shift_;
  std::vector<double> row_;  ///< the row under way, by columns
  std::vector<bool> is_in_;
  std::vector<index_t> pattern_;  ///< of it
  std::vector<double> root_;
  /// Of symmetric factors, by rows of U: the entry that comes next and the next row in the list that it is in; by columns, such lists.
  std::vector<index_t> next_entry_, next_row_, first_row_;
  double magnitude_ = 0, mean_ = 0;
  bool finite_ = true;
  int entries_ = 0;
};

/// Tries larger and larger shifts. The row at fault, or -1.
template <class V>
index_t factorize(const CsrMatrix<V>& A, const IncompleteOptions& options, Factors& factors,
                  double& shift) {
  index_t fault = -1;
  for (shift = 0; shift < 20; shift = shift == 0 ? 1e-3 : 10 * shift) {
    fault = Factorization<V>(A, options, shift).run(factors);
    if (fault < 0) break;
  }
  return fault;
}

}  // namespace cnc::detail
