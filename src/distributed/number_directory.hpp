#pragma once

#include "distributed/ascending_numbers.hpp"
#include "distributed/channel.hpp"
#include "parallel.hpp"

#include <cnc/vector.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace cnc::detail {

/// New numbers for rows that ranks have in any order: those of a rank follow each other. Each rank knows the new numbers of as many
/// rows as the others, and is asked for them.
class NumberDirectory {
 public:
  /// Collective.
  /// Errors   InvalidArgument (a row of two ranks, or outside the rows that there are; more than 2^31 - 1 of them).
  NumberDirectory(Channel& channel, std::span<const offset_t> numbers)
      : channel_(channel), numbers_(numbers) {
    const auto mine = static_cast<offset_t>(numbers.size());
    const offset_t* const counts = channel.gather_all(&mine, 1);
    for (int r = 0; r < channel.size(); ++r) {
      if (r < channel.rank()) first_ += counts[r];
      all_rows_ += counts[r];
    }
    require(all_rows_ <= 2147483647,
            "PartitionedMatrix: rows with numbers are 2^31 - 1 at most, of all ranks");
    share_ = std::max<offset_t>(1, (all_rows_ + channel.size() - 1) / channel.size());
    Lists rows = lists();
    channel.on_each([&] {
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        auto& list = rows[keeper(numbers[i], "row")];
        list.push_back(numbers[i]);
        list.push_back(first_ + static_cast<offset_t>(i));
      }
    });
    const Lists known = channel.exchange_lists(rows);
    new_.assign(static_cast<std::size_t>(share_), -1);
    channel.on_each([&] {
      for (std::size_t r = 0; r < known.size(); ++r)
        for (std::size_t k = 0; k < known[r].size(); k += 2) {
          offset_t& number = new_[place(known[r][k])];
          require(number < 0, [&] {
            return "PartitionedMatrix: row " + std::to_string(known[r][k]) +
                   " is there twice, once on rank " + std::to_string(r);
          });
          number = known[r][k + 1];
        }
    });
  }

  offset_t first() const { return first_; }  ///< new number of the first own row

  /// Collective.
  /// Errors   InvalidArgument (a number outside).
  std::vector<offset_t> new_numbers(std::span<const offset_t> columns) const {
    AscendingNumbers wanted;
    Lists questions = lists();
    channel_.on_each([&] {
      wanted = AscendingNumbers({columns.begin(), columns.end()});
      for (const offset_t column : wanted.list())
        questions[keeper(column, "column")].push_back(column);
    });
    Lists asked = channel_.exchange_lists(questions);
    for (auto& of_rank : asked)
      for (offset_t& number : of_rank) number = new_[place(number)];
    const Lists answers = channel_.exchange_lists(asked);
    std::vector<offset_t> found;  // as wanted: keepers ascend with the numbers
    for (const auto& of_rank : answers) found.insert(found.end(), of_rank.begin(), of_rank.end());
    std::vector<offset_t> result(columns.size());
    parallel_for(columns.size(), [&](std::size_t k) {
      result[k] = found[static_cast<std::size_t>(wanted.place_of(columns[k]))];
    });
    return result;
  }

  /// On the first rank the numbers of all rows, in their new order. Collective.
  Vector<index_t> order() const {
    Lists mine = lists();
    mine[0].assign(numbers_.begin(), numbers_.end());
    const Lists all = channel_.exchange_lists(mine);
    Vector<index_t> order;
    if (channel_.rank() != 0) return order;
    order = uninitialized<index_t>("cnc::order", static_cast<std::size_t>(all_rows_));
    std::size_t at = 0;
    for (const auto& of_rank : all)
      for (const offset_t number : of_rank) order(at++) = static_cast<index_t>(number);
    return order;
  }

 private:
  using Lists = std::vector<std::vector<offset_t>>;
  Lists lists() const { return Lists(static_cast<std::size_t>(channel_.size())); }
  std::size_t keeper(offset_t number, const char* what) const {
    require(number >= 0 && number < all_rows_, [&] {
      return std::string("PartitionedMatrix: ") + what + " " + std::to_string(number) +
             " is outside the " + std::to_string(all_rows_) + " rows";
    });
    return static_cast<std::size_t>(number / share_);
  }
  std::size_t place(offset_t number) const { return static_cast<std::size_t>(number % share_); }

  Channel& channel_;
  std::span<const offset_t> numbers_;
  offset_t first_ = 0, all_rows_ = 0;
  offset_t share_ = 1;         ///< rows that a rank knows of
  std::vector<offset_t> new_;  ///< their new numbers
};

}  // namespace cnc::detail
