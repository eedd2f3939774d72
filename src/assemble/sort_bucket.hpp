#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace cnc::detail {

/// An entry on its way to its row: a key, which is its row and column in a bucket, and its position among all entries.
struct PackedItem {
  std::uint64_t bits;

  using Count = std::uint32_t;  ///< there are no more positions
  static constexpr int key_bits = 32;
  static PackedItem of(std::uint64_t key, std::uint64_t position) { return {key << 32 | position}; }
  std::uint64_t key() const { return bits >> 32; }
  std::uint64_t position() const { return bits & 0xffffffff; }
};

/// The same for keys or positions that need more bits.
struct WideItem {
  std::uint64_t key_, position_;

  using Count = std::uint64_t;
  static constexpr int key_bits = 64;
  static WideItem of(std::uint64_t key, std::uint64_t position) { return {key, position}; }
  std::uint64_t key() const { return key_; }
  std::uint64_t position() const { return position_; }
};

/// Sorts items by their keys, those of one key in the order in which they come: counting sorts by the digits of the key,
/// each of which keeps the order of the one before.
template <class Item>
class BucketSort {
 public:
  /// Returns where the items are in their order: here, or where they were. Keys have so many bits.
  const Item* operator()(const Item* items, std::size_t n, int bits) {
    if (bits == 0 || n < 2) return items;
    // Few passes, but no more values of a digit than it takes time to look at them all.
    const int longest = std::clamp(static_cast<int>(std::bit_width(n)), 4, 12);
    const int passes = (bits + longest - 1) / longest;
    const int digit = (bits + passes - 1) / passes;
    count(items, n, passes, digit);
    for (auto& half : halves_)
      if (half.size() < n) half.resize(n);
    const Item* from = items;
    for (int pass = 0; pass < passes; ++pass) {
      Item* const to = halves_[static_cast<std::size_t>(pass % 2)].data();
      place(from, n, pass * digit, counts_of(pass, digit), digit, to);
      from = to;
    }
    return from;
  }

 private:
  using Count = typename Item::Count;

  Count* counts_of(int pass, int digit) {
    return counts_.data() + (static_cast<std::size_t>(pass) << digit);
  }
  /// Where the items of each value of each digit begin.
  void count(const Item* items, std::size_t n, int passes, int digit) {
    counts_.assign(static_cast<std::size_t>(passes) << digit, 0);
    const std::uint64_t mask = (std::uint64_t(1) << digit) - 1;
    Count* const counts = counts_.data();
    if (passes == 2) {
      Count* const second = counts_of(1, digit);
      for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t key = items[i].key();
        ++counts[key & mask];
        ++second[key >> digit];
      }
    } else {
      for (std::size_t i = 0; i < n; ++i)
        for (int pass = 0; pass < passes; ++pass)
          ++counts_of(pass, digit)[items[i].key() >> (pass * digit) & mask];
    }
    for (int pass = 0; pass < passes; ++pass) {
      Count sum = 0;
      Count* const of_pass = counts_of(pass, digit);
      for (std::size_t value = 0; value <= mask; ++value) {
        const Count length = of_pass[value];
        of_pass[value] = sum;
        sum += length;
      }
    }
  }
  static void place(const Item* __restrict from, std::size_t n, int shift, Count* __restrict starts,
                    int digit, Item* __restrict to) {
    const std::uint64_t mask = (std::uint64_t(1) << digit) - 1;
    const auto place_one = [&](const Item& item) {
      to[starts[item.key() >> shift & mask]++] = item;
    };
    std::size_t i = 0;
    // Four are read before the first is written: a write may be to where the next is read from, for all that the
    // processor knows.
    for (; i + 4 <= n; i += 4) {
      const Item items[] = {from[i], from[i + 1], from[i + 2], from[i + 3]};
      for (const Item& item : items) place_one(item);
    }
    for (; i < n; ++i) place_one(from[i]);
  }

  std::array<std::vector<Item>, 2> halves_;
  std::vector<Count> counts_;  ///< [passes][values of a digit]
};

}  // namespace cnc::detail
