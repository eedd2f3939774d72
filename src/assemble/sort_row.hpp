#pragma once

#include <cnc/contract/types.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace cnc::detail {

/// An entry of a row, by its column and its place in the order of calls.
template <class Position>
struct Placed {
  std::uint32_t column;
  Position position;
};

/// Sorts the entries of a row by column, those of a column in the order in which they come.
template <class Position>
class RowSort {
 public:
  /// to_source(position, first) for all entries in their new order, `first` where another column begins;
  /// to_column(column) for each column. Returns their number.
  template <class ToSource, class ToColumn>
  index_t operator()(Placed<Position>* entries, std::size_t n, const ToSource& to_source,
                     const ToColumn& to_column) {
    return n <= few ? by_insertion(entries, n, to_source, to_column)
                    : by_hash(entries, n, to_source, to_column);
  }

 private:
  static constexpr std::size_t few = 16;

  template <class ToSource, class ToColumn>
  static index_t by_insertion(Placed<Position>* entries, std::size_t n, const ToSource& to_source,
                              const ToColumn& to_column) {
    for (std::size_t i = 1; i < n; ++i) {
      const Placed<Position> entry = entries[i];
      std::size_t at = i;
      for (; at > 0 && entries[at - 1].column > entry.column; --at) entries[at] = entries[at - 1];
      entries[at] = entry;
    }
    index_t columns = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const bool first = i == 0 || entries[i].column != entries[i - 1].column;
      to_source(entries[i].position, first);
      if (first) {
        to_column(entries[i].column);
        ++columns;
      }
    }
    return columns;
  }

  /// A column that the row has.
  struct Column {
    std::uint32_t column;
    std::uint32_t number;  ///< in the order in which they were found
  };

  // Rows of elements have each column several times: their columns are found first, which leaves fewer to sort, and
  // entries are then counted into them.
  template <class ToSource, class ToColumn>
  index_t by_hash(const Placed<Position>* entries, std::size_t n, const ToSource& to_source,
                  const ToColumn& to_column) {
    find_columns(entries, n);
    sort_columns();
    const std::size_t distinct = columns_.size();
    starts_.resize(distinct);
    std::uint32_t start = 0;
    for (const Column& column : columns_) {
      to_column(column.column);
      starts_[column.number] = start;
      start += counts_[column.number];
    }
    sorted_.resize(n);
    for (std::size_t i = 0; i < n; ++i) sorted_[starts_[numbers_[i]]++] = entries[i].position;
    std::size_t i = 0;
    for (const Column& column : columns_) {
      to_source(sorted_[i], true);
      for (const std::size_t end = starts_[column.number]; ++i < end;) to_source(sorted_[i], false);
    }
    return static_cast<index_t>(distinct);
  }

  void find_columns(const Placed<Position>* entries, std::size_t n) {
    const int bits = std::bit_width(n) + 1;
    table_.assign(std::size_t(1) << bits, 0);
    columns_.clear();
    counts_.clear();
    numbers_.resize(n);
    const std::size_t mask = table_.size() - 1;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t column = entries[i].column;
      std::size_t at =
          static_cast<std::uint32_t>(column * 0x9e3779b1u) >> (32 - std::min(bits, 32));
      while (table_[at] != 0 && columns_[table_[at] - 1].column != column) at = (at + 1) & mask;
      if (table_[at] == 0) {
        columns_.push_back({column, static_cast<std::uint32_t>(columns_.size())});
        counts_.push_back(0);
        table_[at] = static_cast<std::uint32_t>(columns_.size());
      }
      const std::uint32_t number = table_[at] - 1;
      ++counts_[number];
      numbers_[i] = number;
    }
  }

  void sort_columns() {
    if (columns_.size() > 48) {
      std::sort(columns_.begin(), columns_.end(),
                [](const Column& a, const Column& b) { return a.column < b.column; });
      return;
    }
    for (std::size_t i = 1; i < columns_.size(); ++i) {
      const Column column = columns_[i];
      std::size_t at = i;
      for (; at > 0 && columns_[at - 1].column > column.column; --at)
        columns_[at] = columns_[at - 1];
      columns_[at] = column;
    }
  }

  std::vector<std::uint32_t>
      table_;                    ///< 1 + the number of a column, by its hash; 0 where there is none
  std::vector<Column> columns_;  ///< of the row
  std::vector<std::uint32_t> counts_;   ///< entries of each, by number
  std::vector<std::uint32_t> starts_;   ///< where the next entry of each goes, by number
  std::vector<std::uint32_t> numbers_;  ///< of the column of each entry
  std::vector<Position> sorted_;
};

}  // namespace cnc::detail
