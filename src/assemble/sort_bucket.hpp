#pragma once

#include <cnc/contract/types.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace cnc::detail {

/// An entry on its way to its row.
template <class Position>
struct Item {
  std::uint32_t row;
  std::uint32_t column;
  Position position;
};

/// Sorts items by row and by column within it, those at one place in the order in which they come: counting sorts by the
/// digits of the column, then by row, each of which keeps the order of the one before.
template <class Position>
class BucketSort {
 public:
  /// Item k of the result is sorted()[k]; row first + r has those from starts()[r] on. The rows of the items are in
  /// [first, first + rows).
  void operator()(const Item<Position>* items, std::size_t n, std::uint32_t first,
                  std::size_t rows) {
    for (auto& half : halves_)
      if (half.size() < n) half.resize(n);
    const Item<Position>* from = items;
    const Digits digits = digits_of(items, n);
    for (int pass = 0; pass < digits.count; ++pass) {
      const int shift = pass * digits.bits;
      const std::uint32_t mask = (std::uint32_t(1) << digits.bits) - 1;
      from = sort_by(from, n, std::size_t(mask) + 1, [&](const Item<Position>& item) {
        return (item.column - digits.least) >> shift & mask;
      });
    }
    sorted_ = sort_by(from, n, rows, [&](const Item<Position>& item) { return item.row - first; });
  }
  const Item<Position>* sorted() const { return sorted_; }
  const std::uint32_t* starts() const { return starts_.data(); }

 private:
  struct Digits {
    std::uint32_t least;
    int bits;
    int count;
  };
  /// Few digits, but no more values of one than it takes time to look at all of them.
  static Digits digits_of(const Item<Position>* items, std::size_t n) {
    if (n == 0) return {0, 1, 0};
    std::uint32_t least = items[0].column, greatest = least;
    for (std::size_t i = 1; i < n; ++i) {
      least = std::min(least, items[i].column);
      greatest = std::max(greatest, items[i].column);
    }
    const int bits = std::bit_width(greatest - least);
    const int longest = std::clamp(static_cast<int>(std::bit_width(n)), 4, 13);
    const int count = (bits + longest - 1) / longest;
    return {least, count == 0 ? 1 : (bits + count - 1) / count, count};
  }

  /// One pass, from an array to a half that it is not.
  template <class Key>
  const Item<Position>* sort_by(const Item<Position>* from, std::size_t n, std::size_t keys,
                                const Key& key) {
    std::vector<Item<Position>>& half = halves_[from == halves_[0].data() ? 1 : 0];
    Item<Position>* const to = half.data();
    starts_.assign(keys + 2, 0);
    // While items are placed, starts[k + 1] is where the next one of key k goes.
    std::uint32_t* const starts = starts_.data();
    for (std::size_t i = 0; i < n; ++i) ++starts[key(from[i]) + 2];
    for (std::size_t k = 2; k < keys + 2; ++k) starts[k] += starts[k - 1];
    for (std::size_t i = 0; i < n; ++i) to[starts[key(from[i]) + 1]++] = from[i];
    return to;
  }

  std::array<std::vector<Item<Position>>, 2> halves_;
  std::vector<std::uint32_t> starts_;
  const Item<Position>* sorted_ = nullptr;
};

}  // namespace cnc::detail
