#pragma once

#include <cnc/contract/types.hpp>

#include "parts/host_array.hpp"

#include <cstddef>
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

/// Calls f with the array of each of some, one after the other.
template <class F, class... Arrays>
void for_each_array(const F& f, Arrays&&... a) {
  f(a.part...);
  f(a.rows...);
  f(a.diagonal...);
  f(a.exports...);
  f(a.imports...);
  f(a.slices...);
  f(a.columns...);
  f(a.places...);
  f(a.absent...);
  f(a.sent...);
  f(a.sent_end...);
}

/// An array that has its place in memory with others.
template <class T>
class PlacedArray {
 public:
  void resize(std::size_t n) { size_ = n; }
  std::size_t size() const { return size_; }
  T* data() const { return data_; }
  T& operator[](std::size_t k) const { return data_[k]; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }

  /// Takes its room from `end` on, which moves on behind it; from nothing, it only tells where it would end.
  void place(std::byte* memory, std::size_t& end) {
    constexpr std::size_t line = 256;  // as devices read best
    end = (end + line - 1) / line * line;
    if (memory != nullptr) data_ = reinterpret_cast<T*>(memory + end);
    end += size_ * sizeof(T);
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// All arrays in one piece of memory, which goes to a device at once.
struct HostParts : PartArrays<PlacedArray> {
  HostArray<std::byte> memory;
  int rows_per_thread = 1;
  index_t words = 0;
  bool numbered = true;  ///< local numbers have 16 bits

  /// Once all have their sizes.
  void allocate() {
    const auto place = [this](std::byte* to) {
      std::size_t end = 0;
      for_each_array([&](auto& array) { array.place(to, end); }, *this);
      return end;
    };
    memory.allocate(place(nullptr));
    place(memory.data());
  }
};

}  // namespace cnc::detail
