#pragma once

#include <cnc/io.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace cnc::detail {

/// What can be wrong with an entry line.
enum class EntryFault {
  none,
  row_not_integer,
  row_out_of_range,
  column_not_integer,
  column_out_of_range,
  other_triangle,
  not_a_number,
  not_an_integer,
  not_finite,
  overflow,
  nonzero_skew_diagonal,
  surplus_text,
  second_banner,
};

/// Entries of a part of a file, indices from 0, in the file's order. The three arrays are apart so
/// that each can be freed as soon as it is used up.
template <class T>
struct EntryPiece {
  std::size_t count = 0;
  std::unique_ptr<index_t[]> rows;
  std::unique_ptr<index_t[]> cols;
  std::unique_ptr<T[]> values;  ///< null for a pattern: every value is 1

  /// Of an entry, at most.
  static constexpr double entry_bytes = 2 * sizeof(index_t) + sizeof(T);
};

/// The triangle in which the entries of a symmetric file lie. The format asks for the lower one;
/// files with the upper one are common enough. One file has to keep to one of them.
enum class Triangle { unknown, lower, upper };

/// Whole lines, each ended by '\n', and what became of them.
template <class T>
struct EntryChunk {
  std::string_view text;
  std::size_t lines = 0;  ///< as many entries at most
  EntryPiece<T> entries;  ///< those before the fault; an array file fills `values` alone
  Triangle triangle = Triangle::unknown;
  std::size_t first_off_diagonal = 0;  ///< the entry that told the triangle
  EntryFault fault = EntryFault::none;
  std::size_t fault_at = 0;  ///< position in `text` of the offending word
};

/// Parses the entries up to the first fault. `lines` has been counted.
template <class T>
void parse_chunk(const MatrixMarketHeader& header, EntryChunk<T>& chunk);

/// The reason of a fault in words.
template <class T>
std::string describe_fault(const MatrixMarketHeader& header, const EntryChunk<T>& chunk);

/// Position in the text of the line of entry number `entry` (from 0).
std::size_t position_of_entry(std::string_view text, std::size_t entry);

}  // namespace cnc::detail
