#pragma once

#include "convert/checks.hpp"
#include "solve/prepare.hpp"
#include "solve/system.hpp"

#include <cstdio>
#include <optional>

namespace cnc::detail {

/// Whether a row has a diagonal entry below zero; with `or_zero`, or none.
template <class T>
struct NegativeDiagonal {
  BcsrOperand<T> A;
  bool or_zero = false;
  KOKKOS_INLINE_FUNCTION bool operator()(offset_t row) const {
    for (index_t k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k)
      if (A.columns[k] == row) return A.values[k] < T(0) || (or_zero && A.values[k] == T(0));
    return or_zero;
  }
};

/// The largest magnitude of what was looked at.
struct LargestEntry : Facts {
  double value = 0;
  KOKKOS_INLINE_FUNCTION LargestEntry& operator+=(const LargestEntry& other) {
    if (other.value > value) value = other.value;
    return *this;
  }
};
template <class T>
struct FindLargestEntry {
  const T* values;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t k, LargestEntry& largest) const {
    const double magnitude = std::abs(static_cast<double>(values[k]));
    if (magnitude > largest.value) largest.value = magnitude;
  }
};

/// What there is to know of a matrix for the choice of a method: looked for when a solve gets nowhere, or before it where the
/// method is to be chosen, once for its values. It reads what solves read. Rows are named as the caller knows them.
template <class V, class Exec>
class Diagnosis {
 public:
  using Space = typename Exec::memory_space;

  /// source: the matrix in CSR; empty where a layout is all there is.
  Diagnosis(const System<V, Exec>& system, const Ordering<V, Exec>& ordering,
            const CsrMatrix<V, Space>& source)
      : system_(system), ordering_(ordering), source_(source) {}

  /// New values.
  void forget() {
    asymmetry_.reset();
    negative_row_.reset();
    nonpositive_row_.reset();
    clearly_nonsymmetric_ = false;
  }
  /// What the analysis of the matrix that iterations use has found.
  void know(const Asymmetry& asymmetry) { asymmetry_ = asymmetry; }

  /// Finds out about symmetry and diagonal at once; false if there is no matrix, or no memory to look at it.
  bool look() {
    const bool known = (asymmetry_ && nonpositive_row_) || found_in_csr(false, [&](const auto& A) {
                         if (!asymmetry_) asymmetry_ = find_asymmetry(A);
                         nonpositive_row_ = diagonal_row(A, true);
                         return true;
                       });
    return !system_.anywhere(!known);
  }

  /// Whether the matrix differs from its transpose by more than rounding, as far as that can be found out.
  bool nonsymmetric() {
    if (!asymmetry_)
      asymmetry_ = found_in_csr(Asymmetry{}, [](const auto& A) { return find_asymmetry(A); });
    return system_.anywhere(is_nonsymmetric_here());
  }
  /// Looks once, before there is a solve, whether the matrix differs from its transpose by more than files that are written
  /// with few digits do, and by more than what rounding leaves beside its largest entries.
  void check_symmetry() {
    if (!nonsymmetric()) return;
    clearly_nonsymmetric_ = system_.anywhere(is_clearly_nonsymmetric_here());
  }
  /// What check_symmetry() found.
  bool is_clearly_nonsymmetric() const { return clearly_nonsymmetric_; }
  /// "a(3, 5) = 1, a(5, 3) = -1 (counted from 0)": where it differs most.
  std::string asymmetric_entries_text() const {
    return system_.said_by_ranks(is_nonsymmetric_here() ? entries_text() : "");
  }
  std::string asymmetry_text() const {
    return "the matrix is not symmetric, which this method requires and bicgstab does not: " +
           asymmetric_entries_text();
  }

  /// "the diagonal entry of row 3 (counted from 0) is negative", or nothing.
  std::string negative_diagonal_text() {
    return diagonal_text(negative_row_, false, "is negative");
  }
  /// The same for entries that are not positive.
  std::string nonpositive_diagonal_text() {
    return diagonal_text(nonpositive_row_, true, "is not positive");
  }

 private:
  /// Of the block of a rank, or of all.
  bool is_nonsymmetric_here() const {
    return asymmetry_->relative > std::sqrt(double(std::numeric_limits<V>::epsilon()));
  }
  bool is_clearly_nonsymmetric_here() const {
    if (!(asymmetry_->relative > 1e-3)) return false;
    const double difference = std::abs(asymmetry_->value - asymmetry_->mirror);
    const double largest =
        found_in_csr(LargestEntry(), [&](const auto& A) {
          return sum_over<LargestEntry>(system_.ctx->execution_space_instance(), A.blocks(),
                                        FindLargestEntry<V>{A.values.data()});
        }).value;
    return !(difference <= std::numeric_limits<V>::epsilon() * largest);
  }
  std::string entries_text() const {
    const std::string i = row_text(asymmetry_->row), j = row_text(asymmetry_->column);
    char values[2][32];
    std::snprintf(values[0], sizeof values[0], "%.10g", asymmetry_->value);
    std::snprintf(values[1], sizeof values[1], "%.10g", asymmetry_->mirror);
    return "a(" + i + ", " + j + ") = " + values[0] + ", a(" + j + ", " + i + ") = " + values[1] +
           " (counted from 0)";
  }

  /// find(A) of the matrix in CSR; `unknown` where there is none, or no memory to make it.
  template <class Found, class Find>
  Found found_in_csr(const Found& unknown, const Find& find) const {
    if (system_.matrix_free) return unknown;
    try {
      system_.ctx->fence();
      const bool in_csr = source_.row_offsets.extent(0) != 0;
      return find(in_csr ? source_ : to_csr(system_.matrix));
    } catch (const Error&) {
      return unknown;
    }
  }

  index_t diagonal_row(const CsrMatrix<V, Space>& A, bool or_zero) const {
    return first_row(system_.ctx->execution_space_instance(), A.rows,
                     NegativeDiagonal<V>{A.operand(), or_zero});
  }
  std::string diagonal_text(std::optional<index_t>& known, bool or_zero, const char* what) {
    if (!known)
      known = found_in_csr(index_t(-1), [&](const auto& A) { return diagonal_row(A, or_zero); });
    return system_.said_by_ranks(*known < 0 ? ""
                                            : "the diagonal entry of row " + row_text(*known) +
                                                  " (counted from 0) " + what);
  }

  std::string row_text(index_t row) const {
    return system_.row_text(ordering_.active() ? ordering_.original_row(row) : row);
  }

  const System<V, Exec>& system_;
  const Ordering<V, Exec>& ordering_;
  const CsrMatrix<V, Space>& source_;
  std::optional<Asymmetry> asymmetry_;
  bool clearly_nonsymmetric_ = false;
  std::optional<index_t> negative_row_, nonpositive_row_;  ///< -1: none
};

}  // namespace cnc::detail
