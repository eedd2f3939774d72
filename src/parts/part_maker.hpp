#pragma once

#include "parts/parts.hpp"
#include "parts/row_pattern.hpp"

namespace cnc::detail {

/// How the rows of a part are dealt out to a block.
struct PartShape {
  index_t parts = 1;
  int threads = 1;
  bool with_diagonal = false;  ///< among the entries of the rows
  /// Pairs of entries of each row that a thread with so many rows holds.
  index_t (*held)(int rows_per_thread) = nullptr;
};

/// Cuts a matrix into parts. Where local numbers do not suffice there are no entries. On the library's threads.
/// beyond: what its rows have to do with other devices; null: nothing.
HostParts make_parts(const RowPattern& A, const PartShape& shape,
                     const PatternBeyond* beyond = nullptr);

}  // namespace cnc::detail
