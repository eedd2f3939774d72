#include "parts/partition.hpp"

#include "parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
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
      const index_t distance = std::abs(A.columns[std::size_t(k)] - i);
      if (distance == 0 || std::find(seen.begin(), seen.end(), distance) != seen.end()) continue;
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

/// Cuts what goes to some parts in two until each goes to one, all of a level at the same time: cut(whole) says where, take(whole, side) is
/// one half. A whole of one part, or of none, is done when it has been cut.
template <class Whole, class Cut, class Take>
void bisect(Whole all, index_t rows, const Cut& cut, const Take& take) {
  const int threads = threads_for(rows);
  std::vector<Whole> level;
  level.push_back(std::move(all));
  while (!level.empty()) {
    const auto size = static_cast<index_t>(level.size());
    parallel_for(
        size, [&](index_t k) { cut(level[std::size_t(k)]); }, threads);
    std::vector<Whole> halves(2 * level.size());
    parallel_for(
        2 * size,
        [&](index_t k) {
          const Whole& whole = level[std::size_t(k / 2)];
          if (whole.parts.size() < 2) return;
          const index_t middle = whole.parts.begin + whole.parts.size() / 2;
          Whole& half = halves[std::size_t(k)];
          half = take(whole, k % 2);
          half.parts =
              k % 2 == 0 ? Range{whole.parts.begin, middle} : Range{middle, whole.parts.end};
        },
        threads);
    level.clear();
    for (Whole& half : halves)
      if (half.parts.size() > 0) level.push_back(std::move(half));
  }
}

/// A grid in boxes whose sides are stairs, so that all have the same size. Rows of a line are taken together.
class GridBisection {
 public:
  GridBisection(index_t rows, std::vector<index_t> strides, index_t parts)
      : strides_(std::move(strides)), part_(static_cast<std::size_t>(rows)) {
    const index_t length = strides_.size() > 1 ? strides_[1] : std::max<index_t>(1, rows);
    Whole all{{}, rows, {0, parts}};
    for (index_t first = 0; first < rows; first += length)
      all.pieces.push_back({first, std::min(rows, first + length)});
    bisect(
        std::move(all), rows, [&](Whole& whole) { cut(whole); },
        [&](const Whole& whole, index_t side) { return half(whole, side); });
  }
  HostArray<index_t> take() { return std::move(part_); }

 private:
  struct Whole {
    std::vector<Range> pieces;
    index_t rows = 0;
    Range parts = {0, 0};
    std::size_t direction = 0;  ///< in which it is cut, ...
    index_t at = 0, rest = 0;   ///< ... at this coordinate, so many rows there going to the left
  };

  index_t coordinate(index_t row, std::size_t direction) const {
    const index_t inside = direction + 1 < strides_.size() ? row % strides_[direction + 1] : row;
    return inside / strides_[direction];
  }
  /// Of a piece of a line.
  Range coordinates(const Range& piece, std::size_t direction) const {
    const index_t first = coordinate(piece.begin, direction);
    return {first, direction == 0 ? first + piece.size() : first + 1};
  }

  /// Its first rows by their coordinate in the longest direction, then by number, are the left half.
  void cut(Whole& whole) {
    if (whole.parts.size() == 1) {
      for (const Range& piece : whole.pieces)
        std::fill(part_.begin() + piece.begin, part_.begin() + piece.end, whole.parts.begin);
      return;
    }
    Range extent = {0, 0};
    for (std::size_t direction = 0; direction < strides_.size(); ++direction) {
      Range all = {0, 0};
      for (const Range& piece : whole.pieces) {
        const Range at = coordinates(piece, direction);
        all =
            all.size() == 0 ? at : Range{std::min(all.begin, at.begin), std::max(all.end, at.end)};
      }
      if (all.size() >= extent.size()) extent = all, whole.direction = direction;
    }
    // How many rows there are at each coordinate: of changes from one to the next, their sums.
    std::vector<index_t> changes(static_cast<std::size_t>(extent.size()) + 1, 0);
    for (const Range& piece : whole.pieces) {
      const Range at = coordinates(piece, whole.direction);
      const index_t each = piece.size() / at.size();
      changes[std::size_t(at.begin - extent.begin)] += each;
      changes[std::size_t(at.end - extent.begin)] -= each;
    }
    whole.at = extent.begin;
    whole.rest = left_rows(whole.rows, whole.parts);
    for (index_t here = changes[0]; whole.at < extent.end && whole.rest >= here;
         here += changes[std::size_t(whole.at - extent.begin)]) {
      whole.rest -= here;
      ++whole.at;
    }
  }

  Whole half(const Whole& whole, index_t side) const {
    const index_t left = left_rows(whole.rows, whole.parts);
    Whole half{{}, side == 0 ? left : whole.rows - left, {}};
    index_t rest = whole.rest;
    for (const Range& piece : whole.pieces) {
      const Range at = coordinates(piece, whole.direction);
      const index_t each = piece.size() / at.size();
      index_t rows = each * std::clamp<index_t>(whole.at - at.begin, 0, at.size());
      if (at.begin <= whole.at && whole.at < at.end) {
        const index_t more = std::min(rest, each);
        rows += more;
        rest -= more;
      }
      const index_t between = piece.begin + rows;
      const Range mine = side == 0 ? Range{piece.begin, between} : Range{between, piece.end};
      if (mine.size() > 0) half.pieces.push_back(mine);
    }
    return half;
  }

  std::vector<index_t> strides_;
  HostArray<index_t> part_;
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
    // In the order of a search, neighbours are near.
    Whole all{in_order(A, search(A.rows, A.offsets, A.columns, 0)), {0, parts}, {}, {}};
    bisect(
        std::move(all), A.rows, [&](Whole& whole) { cut(whole); },
        [](const Whole& whole, index_t side) { return half(whole, side); });
  }
  HostArray<index_t> take() { return std::move(part_); }

 private:
  struct Whole {
    Graph graph;
    Range parts = {0, 0};
    std::vector<index_t> order, number;  ///< by which it is cut, and the place of each row in there
  };

  void cut(Whole& whole) {
    const Graph& graph = whole.graph;
    if (whole.parts.size() == 1 || graph.size() == 0) {
      for (const index_t row : graph.rows) part_[std::size_t(row)] = whole.parts.begin;
      whole.parts = {};
      return;
    }
    // Rows come in the order of a search that was larger: the last is far from others.
    index_t from = graph.size() - 1;
    for (int times = 0; times < 2; ++times) {
      whole.order = search(graph.size(), graph.offsets, graph.columns, from);
      from = whole.order.back();
    }
    whole.number = numbers(whole.order);
  }

  static Whole half(const Whole& whole, index_t side) {
    const Graph& graph = whole.graph;
    const index_t middle = left_rows(graph.size(), whole.parts);
    const Range rows = side == 0 ? Range{0, middle} : Range{middle, graph.size()};
    Whole half{take_rows(graph, whole.order, rows, whole.number), {}, {}, {}};
    half.graph.rows.reserve(static_cast<std::size_t>(rows.size()));
    for (index_t k = rows.begin; k < rows.end; ++k)
      half.graph.rows.push_back(graph.rows[std::size_t(whole.order[std::size_t(k)])]);
    return half;
  }

  static std::vector<index_t> numbers(const std::vector<index_t>& order) {
    std::vector<index_t> number(order.size());
    for (std::size_t k = 0; k < order.size(); ++k)
      number[std::size_t(order[k])] = static_cast<index_t>(k);
    return number;
  }

  /// All rows in an order, on the library's threads.
  static Graph in_order(const RowPattern& A, std::vector<index_t> order) {
    const std::vector<index_t> number = numbers(order);
    Graph graph;
    graph.offsets.allocate(order.size() + 1);
    graph.offsets[0] = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const auto row = static_cast<std::size_t>(order[k]);
      graph.offsets[k + 1] = graph.offsets[k] + A.offsets[row + 1] - A.offsets[row];
    }
    graph.columns.allocate(A.columns.size());
    parallel_for(A.rows, [&](index_t k) {
      auto to = static_cast<std::size_t>(graph.offsets[std::size_t(k)]);
      const auto row = static_cast<std::size_t>(order[std::size_t(k)]);
      for (index_t e = A.offsets[row]; e < A.offsets[row + 1]; ++e)
        graph.columns[to++] = number[std::size_t(A.columns[std::size_t(e)])];
    });
    graph.rows = std::move(order);
    return graph;
  }

  /// The entries among the rows at some places of an order, by these places.
  static Graph take_rows(const Graph& whole, const std::vector<index_t>& order, const Range& places,
                         const std::vector<index_t>& number) {
    const HostArray<index_t>&offsets = whole.offsets, &columns = whole.columns;
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
  static std::vector<index_t> search(index_t rows, const HostArray<index_t>& offsets,
                                     const HostArray<index_t>& columns, index_t from) {
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

  HostArray<index_t> part_;
};

}  // namespace

std::vector<index_t> grid_strides(const RowPattern& A) {
  if (!has_few_distances(A)) return {};
  std::vector<char> occurs(static_cast<std::size_t>(A.rows), 0);
  parallel_for(A.rows, [&](index_t i) {
    for (index_t k = A.offsets[std::size_t(i)]; k < A.offsets[std::size_t(i) + 1]; ++k) {
      const index_t distance = std::abs(A.columns[std::size_t(k)] - i);
      if (distance == 0) continue;
      const std::atomic_ref<char> at(occurs[std::size_t(distance)]);
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

HostArray<index_t> partition(const RowPattern& A, index_t parts) {
  if (A.rows == 0) return {};
  std::vector<index_t> strides = grid_strides(A);
  if (!strides.empty()) return GridBisection(A.rows, std::move(strides), parts).take();
  return GraphBisection(A, parts).take();
}

}  // namespace cnc::detail
