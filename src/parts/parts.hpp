#pragma once

#include <cnc/contract/types.hpp>

#include "parts/host_array.hpp"

#include <cstdint>

// A matrix cut into parts for blocks of threads that keep all they gather. Rows of a part have local numbers: those of its own from 0,
// then those of its halo, which are rows of others that its product gathers. What a part exports goes through one word of
// memory for each row.
//
// Where the matrix is one rank's block of a larger one, its halo may have rows of other devices too: they are numbered after those
// of the block.

namespace cnc::detail {

/// Rows side by side in the layout of a part's matrix; waves are one or two of them.
inline constexpr index_t part_lanes = 32;

/// Sizes of a part, and where its share of each array begins.
struct Part {
  index_t own = 0, halo = 0;
  index_t slices = 0;         ///< of part_lanes own rows
  index_t groups = 0;         ///< of part_lanes pairs of entries
  index_t groups_beyond = 0;  ///< those besides the first few of each slice, which threads hold
  index_t absent = 0;
  index_t sent = 0;
  index_t first_row = 0;   ///< in rows, diagonal and exports, of own rows; those of the halo follow
  index_t first_halo = 0;  ///< in imports
  index_t first_slice = 0;  ///< in slices
  index_t first_group = 0;
  index_t first_absent = 0;
  index_t first_sent = 0;
};

/// Groups of a part before a slice.
struct Slice {
  index_t first = 0, first_beyond = 0;
};

/// The arrays of all parts, by where they are.
template <template <class> class Array>
struct PartArrays {
  Array<Part> part;
  Array<index_t> rows;  ///< own rows and halo of each part, by local number: in the whole matrix
  Array<index_t> diagonal;  ///< of own rows: place of the value; -1: there is none
  Array<index_t> exports;   ///< of own rows: the word that they go to; -1: nobody gathers them
  /// Of each halo: the words that it comes from; from HostParts::words on, columns beyond the block.
  Array<index_t> imports;
  Array<Slice> slices;  ///< of each part, and one more
  /// Local columns, two for each lane of a group, and places of their values; -1 where a row is shorter than the slice;
  /// place_beyond(k) for entry k of PatternBeyond.
  Array<std::uint32_t> columns;
  Array<index_t> places;
  Array<index_t> absent;  ///< places of values that must be zero
  /// @{
  /// What goes to other devices, places in PatternBeyond::sent_rows: of each part, in the order of its own rows; and of each row
  /// of `rows` where its share ends. Empty where there are no others.
  Array<index_t> sent, sent_end;
  /// @}
};

/// Its own inverse.
constexpr index_t place_beyond(index_t entry) { return -2 - entry; }

struct HostParts : PartArrays<HostArray> {
  int rows_per_thread = 1;
  index_t words = 0;
  bool numbered = true;  ///< local numbers have 16 bits
};

}  // namespace cnc::detail
