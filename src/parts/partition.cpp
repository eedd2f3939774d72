#include "parts/partition.hpp"

#include "parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>

namespace cnc::detail {
namespace {

constexpr std::size_t most_distances = 64;

/// Whether there are few distances between neighbours, as far as some rows tell.
bool has_few_distances(const RowPattern& A) {
  constexpr index_t looked_at = 1024;
  std::vector<index_t> seen;
  for (index_t i = 0; i < std::min(A.rows, looked_at); ++i)
    for (index_t k = A.offsets[std::size_t(i)]; k < A.offsets[std::size_t(i) + 1]; ++k) {
      const index_t distance = A.columns[std::size_t(k)] - i;
      if (distance <= 0 || std::find(seen.begin(), seen.end(), distance) != seen.end()) continue;
      seen.push_back(distance);
      if (seen.size() > most_distances) return false;
    }
  return true;
}

/// Rows and parts that belong together: from begin to end.
struct Range {
  index_t begin, end;
  index_t size() const { return end - begin; }
};

/// How many of some rows go to the left half of some parts.
index_t left_rows(index_t rows, const Range& parts) {
  return static_cast<index_t>(offset_t(rows) * (parts.size() / 2) / parts.size());
}

/// A grid in boxes whose sides are stairs, so that all have the same size. Rows of a line are taken together.
class GridBisection {
 public:
  GridBisection(index_t rows, std::vector<index_t> strides, index_t parts)
      : strides_(std::move(strides)), part_(static_cast<std::size_t>(rows)) {
    const index_t length = strides_.size() > 1 ? strides_[1] : std::max<index_t>(1, rows);
    std::vector<Range> lines;
    for (index_t first = 0; first < rows; first += length)
      lines.push_back({first, std::min(rows, first + length)});
    split(std::move(lines), rows, {0, parts});
  }
  std::vector<index_t> take() { return std::move(part_); }

 private:
  index_t coordinate(index_t row, std::size_t direction) const {
    const index_t inside = direction + 1 < strides_.size() ? row % strides_[direction + 1] : row;
    return inside / strides_[direction];
  }
  /// Of a piece of a line.
  Range coordinates(const Range& piece, std::size_t direction) const {
    const index_t first = coordinate(piece.begin, direction);
    return {first, direction == 0 ? first + piece.size() : first + 1};
  }

  void split(std::vector<Range> pieces, index_t rows, const Range& parts) {
    if (parts.size() == 1) {
      for (const Range& piece : pieces)
        std::fill(part_.begin() + piece.begin, part_.begin() + piece.end, parts.begin);
      return;
    }
    const index_t left = left_rows(rows, parts), middle = parts.begin + parts.size() / 2;
    std::vector<Range> halves[2];
    halve(pieces, left, halves);
    pieces = {};
    split(std::move(halves[0]), left, {parts.begin, middle});
    split(std::move(halves[1]), rows - left, {middle, parts.end});
  }

  /// The first `left` rows by their coordinate in the longest direction, then by number, and the others.
  void halve(const std::vector<Range>& pieces, index_t left, std::vector<Range> (&halves)[2]) {
    std::size_t longest = 0;
    Range extent = {0, 0};
    for (std::size_t direction = 0; direction < strides_.size(); ++direction) {
      Range all = {0, 0};
      for (const Range& piece : pieces) {
        const Range at = coordinates(piece, direction);
        all =
            all.size() == 0 ? at : Range{std::min(all.begin, at.begin), std::max(all.end, at.end)};
      }
      if (all.size() >= extent.size()) extent = all, longest = direction;
    }
    // How many rows there are at each coordinate: of changes from one to the next, their sums.
    std::vector<index_t> changes(static_cast<std::size_t>(extent.size()) + 1, 0);
    for (const Range& piece : pieces) {
      const Range at = coordinates(piece, longest);
      const index_t each = piece.size() / at.size();
      changes[std::size_t(at.begin - extent.begin)] += each;
      changes[std::size_t(at.end - extent.begin)] -= each;
    }
    index_t cut = extent.begin, here = changes[0], rest = left;
    while (cut < extent.end && rest >= here) {
      rest -= here;
      ++cut;
      here += changes[std::size_t(cut - extent.begin)];
    }
    for (const Range& piece : pieces) {
      const Range at = coordinates(piece, longest);
      const index_t each = piece.size() / at.size();
      index_t to_left = each * std::clamp<index_t>(cut - at.begin, 0, at.size());
      if (at.begin <= cut && cut < at.end) {
        const index_t more = std::min(rest, each);
        to_left += more;
        rest -= more;
      }
      const index_t between = piece.begin + to_left;
      if (piece.begin < between) halves[0].push_back({piece.begin, between});
      if (between < piece.end) halves[1].push_back({between, piece.end});
    }
  }

  std::vector<index_t> strides_;
  std::vector<index_t> part_;
};

/// Some rows of a matrix, numbered anew, and the entries among them.
struct Graph {
  std::vector<index_t> rows;            ///< in the matrix
  HostArray<index_t> offsets, columns;  ///< those beyond the last offset say nothing

  index_t size() const { return static_cast<index_t>(rows.size()); }
};

class GraphBisection {
 public:
  GraphBisection(const RowPattern& A, index_t parts) : part_(static_cast<std::size_t>(A.rows)) {
    std::vector<Half> level(1), next;
    level[0].parts = {0, parts};
    {  // in the order of a search, neighbours are near
      const std::vector<index_t> order = search(A.rows, A.offsets, A.columns, 0);
      level[0].graph = take_rows(A.offsets, A.columns, order, {0, A.rows}, numbers(order));
      level[0].graph.rows = order;
    }
    while (!level.empty()) {
      std::vector<Half> halves(2 * level.size());
      parallel_for(
          static_cast<index_t>(level.size()),
          [&](index_t k) {
            const auto at = static_cast<std::size_t>(k);
            split(level[at], halves[2 * at], halves[2 * at + 1]);
          },
          threads_for(A.rows));
      level.clear();
      for (Half& half : halves)
        if (half.parts.size() > 0) level.push_back(std::move(half));
    }
  }
  std::vector<index_t> take() { return std::move(part_); }

 private:
  struct Half {
    Graph graph;
    Range parts = {0, 0};
  };

  void split(Half& whole, Half& left, Half& right) {
    Graph& graph = whole.graph;
    const Range parts = whole.parts;
    if (parts.size() == 1 || graph.size() == 0) {
      for (const index_t row : graph.rows) part_[std::size_t(row)] = parts.begin;
      return;
    }
    // Rows come in the order of a search that was larger: the last is far from others.
    std::vector<index_t> order;
    index_t from = graph.size() - 1;
    for (int times = 0; times < 2; ++times) {
      order = search(graph.size(), graph.offsets, graph.columns, from);
      from = order.back();
    }
    const std::vector<index_t> number = numbers(order);
    const index_t cut = left_rows(graph.size(), parts), middle = parts.begin + parts.size() / 2;
    const auto take_half = [&](const Range& rows, const Range& its_parts) {
      Half half{take_rows(graph.offsets, graph.columns, order, rows, number), its_parts};
      half.graph.rows.reserve(static_cast<std::size_t>(rows.size()));
      for (index_t k = rows.begin; k < rows.end; ++k)
        half.graph.rows.push_back(graph.rows[std::size_t(order[std::size_t(k)])]);
      return half;
    };
    left = take_half({0, cut}, {parts.begin, middle});
    right = take_half({cut, graph.size()}, {middle, parts.end});
    graph = {};
  }

  static std::vector<index_t> numbers(const std::vector<index_t>& order) {
    std::vector<index_t> number(order.size());
    for (std::size_t k = 0; k < order.size(); ++k)
      number[std::size_t(order[k])] = static_cast<index_t>(k);
    return number;
  }

  /// The entries among the rows at some places of an order, by these places.
  template <class Indices>
  static Graph take_rows(const Indices& offsets, const Indices& columns,
                         const std::vector<index_t>& order, const Range& places,
                         const std::vector<index_t>& number) {
    Graph part;
    part.offsets.allocate(static_cast<std::size_t>(places.size()) + 1);
    index_t entries = 0;
    const auto for_rows = [&](const auto& f) {
      for (index_t k = places.begin; k < places.end; ++k)
        f(static_cast<std::size_t>(order[std::size_t(k)]), k - places.begin);
    };
    for_rows([&](std::size_t row, index_t) { entries += offsets[row + 1] - offsets[row]; });
    part.columns.allocate(static_cast<std::size_t>(entries) + 1);
    std::size_t end = 0;
    part.offsets[0] = 0;
    for_rows([&](std::size_t row, index_t k) {
      for (index_t e = offsets[row]; e < offsets[row + 1]; ++e) {
        const index_t at = number[std::size_t(columns[std::size_t(e)])];
        part.columns[end] = at - places.begin;  // which the next one takes the place of
        end += places.begin <= at && at < places.end;
      }
      part.offsets[std::size_t(k) + 1] = static_cast<index_t>(end);
    });
    return part;
  }

  /// Rows in the order of a breadth-first search; where it does not reach all, from the first that is left.
  template <class Indices>
  static std::vector<index_t> search(index_t rows, const Indices& offsets, const Indices& columns,
                                     index_t from) {
    const auto n = static_cast<std::size_t>(rows);
    std::vector<index_t> reached(n + 1);
    std::vector<char> found(n, 0);
    std::size_t next = 0, end = 0;
    // Without a branch, which nobody could foresee.
    const auto reach = [&](index_t row) {
      char& is_found = found[std::size_t(row)];
      reached[end] = row;
      end += is_found == 0;
      is_found = 1;
    };
    for (index_t k = -1; k < static_cast<index_t>(n); ++k) {
      if (end == n) break;
      reach(k < 0 ? from : k);
      for (; next < end; ++next) {
        const auto row = static_cast<std::size_t>(reached[next]);
        for (index_t e = offsets[row]; e < offsets[row + 1]; ++e) reach(columns[std::size_t(e)]);
      }
    }
    reached.resize(n);
    return reached;
  }

  std::vector<index_t> part_;
};

}  // namespace

std::vector<index_t> grid_strides(const RowPattern& A) {
  if (!has_few_distances(A)) return {};
  std::vector<char> occurs(static_cast<std::size_t>(A.rows), 0);
  parallel_for(A.rows, [&](index_t i) {
    for (index_t k = A.offsets[std::size_t(i)]; k < A.offsets[std::size_t(i) + 1]; ++k) {
      if (A.columns[std::size_t(k)] <= i) continue;
      const std::atomic_ref<char> at(occurs[std::size_t(A.columns[std::size_t(k)] - i)]);
      if (at.load(std::memory_order_relaxed) == 0) at.store(1, std::memory_order_relaxed);
    }
  });
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

std::vector<index_t> partition(const RowPattern& A, index_t parts) {
  if (A.rows == 0) return {};
  std::vector<index_t> strides = grid_strides(A);
  if (!strides.empty()) return GridBisection(A.rows, std::move(strides), parts).take();
  return GraphBisection(A, parts).take();
}

}  // namespace cnc::detail
