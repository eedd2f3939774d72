#pragma once

#include "nl/pattern.hpp"

#include <cnc/system_builder.hpp>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace cnc::nl {

/// A coefficient of the row that is being built: the unknown or variable, and the value.
using Coefficient = std::pair<index_t, double>;

/// One matrix of a context, from nlBegin(NL_MATRIX) to nlEnd(NL_MATRIX), and what came of it.
class Assembly {
 public:
  /// Forgets what was built for the system before, but for what a refresh needs.
  void reset();

  /// @{
  /// NL_MATRIX_PATTERN.
  void begin_pattern(index_t n, bool symmetric) { pattern_.emplace(n, symmetric); }
  bool has_pattern() const { return pattern_.has_value(); }
  Pattern& pattern() { return *pattern_; }
  /// @}

  /// @{
  /// NL_MATRIX: of n columns and as many rows, or of as many as are appended.
  void begin(index_t n, bool rows_are_appended);
  void append_row(const std::vector<Coefficient>& row);
  void add_row(index_t i, const std::vector<Coefficient>& row);
  void add(index_t i, index_t j, double value);
  void end();
  /// @}

  bool is_constructed() const { return constructed_; }
  bool was_refreshed() const { return refreshed_; }
  /// Once it is constructed. Refreshed in place where the pattern stays.
  const CsrMatrix<double>& matrix() const { return matrix_; }
  /// Counts the patterns of matrices constructed so far, and the matrices.
  std::uint64_t pattern_version() const { return pattern_version_; }
  std::uint64_t value_version() const { return value_version_; }

 private:
  std::optional<Pattern> pattern_;
  std::optional<SystemBuilder<double>> builder_;
  CsrMatrix<double> matrix_;
  bool constructed_ = false, refreshed_ = false;
  std::uint64_t pattern_version_ = 0, value_version_ = 0;
};

}  // namespace cnc::nl
