#pragma once

#include <assemble/stream_memory.hpp>
#include <cnc/bcsr_matrix.hpp>

#include <cstdint>
#include <type_traits>
#include <variant>
#include <vector>

namespace cnc::detail {

// From entries in the order of calls to the pattern of a matrix, and a map that says which of them are summed into
// which value of it.

/// Entries of a stream that lie side by side. A row of -1 - i is the i-th that the stream appends; a column of -1 - k
/// is right-hand side k.
struct EntrySpan {
  const index_t* rows;
  const index_t* columns;
  offset_t count;
  offset_t position;  ///< of the first among all entries; they ascend from span to span
  index_t appended;   ///< the row that the first appended one of the stream is
};

/// How entries become rows and columns of a matrix.
struct Placement {
  index_t rows;
  index_t cols;
  const index_t*
      unknown;  ///< columns of variables, negative for locked ones; null where none is locked
  bool rows_are_variables;
};

/// Entries summed into values: value e is the sum of consecutive sources, the first of them marked by the highest bit.
template <class Position>
struct SumMap {
  static constexpr Position first = Position(1) << (8 * sizeof(Position) - 1);
  /// Where a bucket of rows begins.
  struct Bucket {
    offset_t source;
    offset_t value;
  };
  const Position* sources = nullptr;
  std::vector<Bucket> buckets;  ///< and the end
};

template <class Position>
struct EntryMap {
  BareArray<Position>
      sources;  ///< positions of entries: those of the matrix, then those of right-hand sides
  SumMap<Position> matrix;
  SumMap<Position> right_hand_side;  ///< one value per row of rhs_rows
};

/// The pattern of a matrix and its map.
struct SortedEntries {
  Vector<index_t> row_offsets;  ///< [rows + 1]
  Vector<index_t> columns;
  Vector<index_t> rhs_rows;  ///< ascending: those whose right-hand sides have entries
  std::variant<EntryMap<std::uint32_t>, EntryMap<std::uint64_t>> map;
};

/// Whether positions have to be of 64 bits is told by `positions`, an upper bound of them.
///
/// Errors   InvalidArgument (more than 2^31 - 1 entries after summing), OutOfMemory.
/// Cost     two passes over the entries and one over buckets of them that fit a cache, in parallel.
SortedEntries sort_entries(const std::vector<EntrySpan>& spans, const Placement& placement,
                           offset_t positions);

}  // namespace cnc::detail
