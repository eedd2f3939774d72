#pragma once

#include <cnc/contract/types.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace cnc::detail {

/// Distinct numbers, ascending, and the place of each. Numbers that lie close together are found by bits, without sorting.
class AscendingNumbers {
 public:
  AscendingNumbers() = default;
  /// Of those in a list, in any order and repeated.
  explicit AscendingNumbers(std::vector<offset_t> list) {
    if (list.empty()) return;
    const auto [least, most] = std::minmax_element(list.begin(), list.end());
    first_ = *least;
    const auto last = static_cast<std::uint64_t>(*most) - static_cast<std::uint64_t>(first_);
    constexpr std::size_t words_per_number = 4;  // a pass over so many takes less time than sorting
    if (last / 64 >= words_per_number * list.size() + 64) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
      numbers_ = std::move(list);
      return;
    }
    words_.resize(static_cast<std::size_t>(last) / 64 + 1);
    for (const offset_t number : list) {
      const auto bit = static_cast<std::size_t>(number - first_);
      words_[bit / 64].bits |= std::uint64_t(1) << (bit % 64);
    }
    index_t before = 0;
    for (Word& word : words_) {
      word.before = before;
      before += std::popcount(word.bits);
    }
    numbers_.reserve(static_cast<std::size_t>(before));
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (std::uint64_t bits = words_[w].bits; bits != 0; bits &= bits - 1)
        numbers_.push_back(first_ + static_cast<offset_t>(w) * 64 + std::countr_zero(bits));
  }

  const std::vector<offset_t>& list() const { return numbers_; }
  std::size_t size() const { return numbers_.size(); }
  offset_t operator[](std::size_t place) const { return numbers_[place]; }

  bool has(offset_t number) const {
    if (words_.empty()) return std::binary_search(numbers_.begin(), numbers_.end(), number);
    if (number < first_ || number > numbers_.back()) return false;
    const auto bit = static_cast<std::size_t>(number - first_);
    return (words_[bit / 64].bits >> (bit % 64) & 1) != 0;
  }
  /// Of a number that is one of them.
  index_t place_of(offset_t number) const {
    if (words_.empty())
      return static_cast<index_t>(std::lower_bound(numbers_.begin(), numbers_.end(), number) -
                                  numbers_.begin());
    const auto bit = static_cast<std::size_t>(number - first_);
    const Word& word = words_[bit / 64];
    const std::uint64_t below = (std::uint64_t(1) << (bit % 64)) - 1;
    return word.before + std::popcount(word.bits & below);
  }

 private:
  struct Word {
    std::uint64_t bits = 0;
    index_t before = 0;  ///< numbers in the words before it
  };
  std::vector<offset_t> numbers_;
  offset_t first_ = 0;
  std::vector<Word> words_;  ///< a bit for each number there may be; empty: they are far apart
};

}  // namespace cnc::detail
