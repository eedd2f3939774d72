#pragma once

#include <gpu/row_pattern.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

// Rows in parts of equal size that gather little from each other, by recursive bisection: a grid, told by the few
// distances between neighbours, across its longest side; any other graph between levels of a breadth-first search from one of
// its ends.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Row distances of a grid's neighbours in its directions, ascending from 1; empty: it does not look like a grid.
inline std::vector<index_t> grid_strides(const RowPattern& A) {
  constexpr std::size_t most_distances = 64;
  std::vector<char> occurs(static_cast<std::size_t>(A.rows), 0);
  for (index_t i = 0; i < A.rows; ++i)
    for (index_t k = A.offsets[std::size_t(i)]; k < A.offsets[std::size_t(i) + 1]; ++k)
      if (A.columns[std::size_t(k)] > i) occurs[std::size_t(A.columns[std::size_t(k)] - i)] = 1;
  std::vector<index_t> distances;
  for (index_t distance = 1; distance < A.rows; ++distance)
    if (occurs[std::size_t(distance)] != 0) distances.push_back(distance);
  if (distances.empty() || distances.size() > most_distances) return {};
  // Neighbours along a line of the grid are near; those in the next lines are around multiples of its length; and so on
  // with planes.
  std::vector<index_t> strides = {1};
  while (!distances.empty() && strides.size() < 3) {
    const index_t reach = 2 * strides.back();
    std::vector<index_t> centres;
    for (std::size_t k = 0; k < distances.size();) {
      const index_t first = distances[k];
      index_t last = first;
      for (++k; k < distances.size() && distances[k] - last <= reach; ++k) last = distances[k];
      if (first > reach) centres.push_back(first + (last - first) / 2);
    }
    if (!centres.empty()) strides.push_back(centres.front());
    distances = std::move(centres);
  }
  return strides;
}

class Bisection {
 public:
  Bisection(const RowPattern& A, index_t parts)
      : A_(A),
        strides_(grid_strides(A)),
        rows_(static_cast<std::size_t>(A.rows)),
        part_(rows_.size(), 0),
        mark_(strides_.empty() ? rows_.size() : 0, 0) {
    std::iota(rows_.begin(), rows_.end(), 0);
    for (std::size_t direction = 0; direction < strides_.size(); ++direction) {
      coordinates_.emplace_back(rows_.size());
      for (const index_t row : rows_)
        coordinates_[direction][std::size_t(row)] = coordinate(row, direction);
    }
    split({0, A.rows}, {0, parts});
  }
  /// The part of each row.
  const std::vector<index_t>& part() const { return part_; }

 private:
  struct Range {
    index_t begin, end;
    index_t size() const { return end - begin; }
  };

  void split(Range rows, Range parts) {
    if (parts.size() == 1) {
      for (index_t k = rows.begin; k < rows.end; ++k)
        part_[std::size_t(rows_[std::size_t(k)])] = parts.begin;
      return;
    }
    const index_t left = parts.size() / 2;
    const auto middle =
        rows.begin + static_cast<index_t>(offset_t(rows.size()) * left / parts.size());
    if (rows.size() > 1) strides_.empty() ? order_by_levels(rows) : halve_grid(rows, middle);
    split({rows.begin, middle}, {parts.begin, parts.begin + left});
    split({middle, rows.end}, {parts.begin + left, parts.end});
  }

  index_t coordinate(index_t row, std::size_t direction) const {
    const index_t inside = direction + 1 < strides_.size() ? row % strides_[direction + 1] : row;
    return inside / strides_[direction];
  }

  void halve_grid(Range rows, index_t middle) {
    std::size_t longest = 0;
    index_t length = -1;
    for (std::size_t direction = 0; direction < strides_.size(); ++direction) {
      index_t least = A_.rows, most = 0;
      for (index_t k = rows.begin; k < rows.end; ++k) {
        const index_t at = coordinates_[direction][std::size_t(rows_[std::size_t(k)])];
        least = std::min(least, at);
        most = std::max(most, at);
      }
      if (most - least >= length) length = most - least, longest = direction;
    }
    std::vector<std::uint64_t> keys(static_cast<std::size_t>(rows.size()));
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const index_t row = rows_[std::size_t(rows.begin) + k];
      keys[k] = std::uint64_t(coordinates_[longest][std::size_t(row)]) << 32 | std::uint64_t(row);
    }
    std::nth_element(keys.begin(), keys.begin() + (middle - rows.begin), keys.end());
    for (std::size_t k = 0; k < keys.size(); ++k)
      rows_[std::size_t(rows.begin) + k] = static_cast<index_t>(keys[k] & 0xffffffffu);
  }

  /// Puts the rows in the order of a search from one that is as far from others as can be found quickly.
  void order_by_levels(Range rows) {
    search(rows);
    for (int again = 0; again < 2; ++again) {
      std::swap(rows_[std::size_t(rows.begin)], rows_[std::size_t(rows.end) - 1]);
      search(rows);
    }
  }
  /// From the first of them; where it does not reach all, from the first that is left.
  void search(Range rows) {
    const index_t inside = ++marks_, found = ++marks_;
    for (index_t k = rows.begin; k < rows.end; ++k)
      mark_[std::size_t(rows_[std::size_t(k)])] = inside;
    std::vector<index_t> reached;
    reached.reserve(static_cast<std::size_t>(rows.size()));
    const auto reach = [&](index_t row) {
      if (mark_[std::size_t(row)] != inside) return;
      mark_[std::size_t(row)] = found;
      reached.push_back(row);
    };
    std::size_t next = 0;
    for (index_t k = rows.begin; k < rows.end; ++k) {
      reach(rows_[std::size_t(k)]);
      for (; next < reached.size(); ++next) {
        const auto row = static_cast<std::size_t>(reached[next]);
        for (index_t e = A_.offsets[row]; e < A_.offsets[row + 1]; ++e)
          reach(A_.columns[std::size_t(e)]);
      }
    }
    std::copy(reached.begin(), reached.end(), rows_.begin() + rows.begin);
  }

  const RowPattern& A_;
  std::vector<index_t> strides_;
  std::vector<std::vector<index_t>> coordinates_;  ///< in the directions of a grid
  std::vector<index_t> rows_;                      ///< those of a part together, in the end
  std::vector<index_t> part_;
  std::vector<index_t> mark_;  ///< marks of a search
  index_t marks_ = 0;
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
