#include "geometry/boundary_loops.hpp"

#include <algorithm>
#include <cmath>

namespace cnc::geometry {

namespace {

class LoopWalk {
 public:
  explicit LoopWalk(const EdgeTable& table) : table_(table), seen_(table.edges.size()) {}

  bool starts_at(index_t edge) const {
    return table_.uses(edge).size() == 1 && !seen_[static_cast<std::size_t>(edge)];
  }

  BoundaryLoop walk(index_t edge) {
    index_t half = table_.uses(edge)[0];
    BoundaryLoop loop;
    loop.triangle = half / 3;
    index_t from = table_.tail(half);
    while (half >= 0) {
      seen_[static_cast<std::size_t>(table_.edge(half))] = true;
      const index_t to = table_.head(half) == from ? table_.tail(half) : table_.head(half);
      loop.vertices.push_back(from);
      loop.length += distance(from, to);
      half = next(half, to);
      from = to;
    }
    const bool closed = from == loop.vertices.front();
    if (closed) {
      auto& vertices = loop.vertices;
      std::rotate(vertices.begin(), std::min_element(vertices.begin(), vertices.end()),
                  vertices.end());
    } else {
      loop.vertices.push_back(from);
    }
    return loop;
  }

 private:
  /// The boundary's next half-edge at v, at the other end of the fan; -1 where it was seen, or where
  /// the fan ends at an edge of many triangles.
  index_t next(index_t half, index_t v) const {
    half = table_.turn(half, v);
    for (index_t other = table_.across(half); other >= 0; other = table_.across(half)) {
      half = table_.turn(other, v);
    }
    return starts_at(table_.edge(half)) ? half : -1;
  }

  double distance(index_t a, index_t b) const {
    const Point& x = table_.mesh.points[static_cast<std::size_t>(a)];
    const Point& y = table_.mesh.points[static_cast<std::size_t>(b)];
    return std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
  }

  const EdgeTable& table_;
  std::vector<bool> seen_;
};

}  // namespace

std::vector<BoundaryLoop> boundary_loops(const EdgeTable& table) {
  std::vector<BoundaryLoop> loops;
  LoopWalk walk(table);
  for (index_t edge = 0; edge < static_cast<index_t>(table.edges.size()); ++edge) {
    if (walk.starts_at(edge)) loops.push_back(walk.walk(edge));
  }
  std::stable_sort(loops.begin(), loops.end(), [](const BoundaryLoop& a, const BoundaryLoop& b) {
    return a.length > b.length;
  });
  return loops;
}

}  // namespace cnc::geometry
