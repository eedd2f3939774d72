#include "geometry/pins.hpp"

#include "geometry/conformal_rows.hpp"
#include "geometry/point_math.hpp"

#include <algorithm>
#include <complex>
#include <limits>
#include <queue>

namespace cnc::geometry {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

/// The edges of a part with their lengths, vertex by vertex.
class EdgeGraph {
 public:
  EdgeGraph(const Mesh& mesh, const Component& part) : first_(part.vertices.size() + 1) {
    std::vector<std::array<std::size_t, 3>> corners;
    corners.reserve(part.triangles.size());
    for (const index_t t : part.triangles) {
      const Triangle& c = mesh.triangles[at(t)];
      corners.push_back(
          {local_vertex(part, c[0]), local_vertex(part, c[1]), local_vertex(part, c[2])});
      for (const std::size_t v : corners.back()) first_[v + 1] += 2;
    }
    for (std::size_t v = 1; v < first_.size(); ++v) first_[v] += first_[v - 1];
    ends_.resize(first_.back());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (const auto& c : corners)
      for (std::size_t k = 0; k < 3; ++k)
        for (const std::size_t end : {c[(k + 1) % 3], c[(k + 2) % 3]})
          ends_[next[c[k]]++] = {end, distance(mesh.points[at(part.vertices[c[k]])],
                                               mesh.points[at(part.vertices[end])])};
  }

  /// Lengths of the shortest ways from there, by Dijkstra's method.
  std::vector<double> distances(std::size_t from) const {
    std::vector<double> length(first_.size() - 1, infinite);
    using Item = std::pair<double, std::size_t>;
    std::priority_queue<Item, std::vector<Item>, std::greater<>> queue;
    length[from] = 0;
    queue.push({0, from});
    while (!queue.empty()) {
      const auto [so_far, v] = queue.top();
      queue.pop();
      if (so_far > length[v]) continue;
      for (std::size_t k = first_[v]; k < first_[v + 1]; ++k) {
        const double total = so_far + ends_[k].length;
        if (!(total < length[ends_[k].vertex])) continue;
        length[ends_[k].vertex] = total;
        queue.push({total, ends_[k].vertex});
      }
    }
    return length;
  }

 private:
  struct End {
    std::size_t vertex;
    double length;
  };
  std::vector<std::size_t> first_;
  std::vector<End> ends_;
};

}  // namespace

std::pair<index_t, index_t> distant_boundary_vertices(const Mesh& mesh, const Component& part) {
  const EdgeGraph graph(mesh, part);
  const std::vector<index_t>& loop = part.loops.front();
  const auto furthest_from = [&](index_t start) {
    const std::vector<double> length = graph.distances(local_vertex(part, start));
    return *std::max_element(loop.begin(), loop.end(), [&](index_t a, index_t b) {
      return length[local_vertex(part, a)] < length[local_vertex(part, b)];
    });
  };
  index_t a = loop.front(), b = furthest_from(a);
  for (int sweep = 0; sweep < 2; ++sweep) {
    a = b;
    b = furthest_from(a);
  }
  // Where all lengths are zero but for rounding, any two will do.
  return {a, b != a ? b : loop[loop.front() == a ? 1 : 0]};
}

std::vector<Uv> projection(const Mesh& mesh, const Component& part) {
  Point sum = {};
  for (const index_t t : part.triangles)
    sum = sum + area_normal(mesh.points, mesh.triangles[at(t)]);
  const Point n = unit(sum), eu = perpendicular(n), ev = cross(n, eu);
  std::vector<Uv> uv;
  uv.reserve(part.vertices.size());
  for (const index_t v : part.vertices)
    uv.push_back({dot(mesh.points[at(v)], eu), dot(mesh.points[at(v)], ev)});
  return uv;
}

void move_towards(std::span<const Pin> pins, std::span<const std::size_t> of,
                  std::span<Uv> points) {
  using Complex = std::complex<double>;
  const auto point = [&](std::size_t k) { return Complex(points[k][0], points[k][1]); };
  const auto place = [&](std::size_t k) { return Complex(pins[k].u, pins[k].v); };
  const double share = 1 / static_cast<double>(pins.size());
  Complex from = 0, to = 0, product = 0;
  for (std::size_t k = 0; k < pins.size(); ++k) {
    from += share * point(of[k]);
    to += share * place(k);
  }
  double square = 0, wanted = 0;
  for (std::size_t k = 0; k < pins.size(); ++k) {
    const Complex x = point(of[k]) - from, y = place(k) - to;
    product += std::conj(x) * y;
    square += std::norm(x);
    wanted += std::norm(y);
  }
  // Points on top of each other say nothing about the turn; the size is then that of the pins.
  const double size = points.empty() ? 1 : std::sqrt(wanted);
  const bool tells =
      square > 1e-8 * wanted && std::abs(product) > 1e-8 * std::sqrt(square * wanted);
  const Complex factor = tells ? product / square : Complex(size);
  for (Uv& p : points) {
    const Complex moved = to + factor * (Complex(p[0], p[1]) - from);
    p = {moved.real(), moved.imag()};
  }
}

}  // namespace cnc::geometry
