#include "harness/mesh_systems.hpp"

#include <cnc/error.hpp>
#include <cnc/triplets.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <utility>
#include <vector>

namespace cnc::perf {
namespace {

using geometry::Mesh;
using geometry::Point;

/// Sums the normal equations of rows that are given one after the other.
class NormalSum {
 public:
  NormalSum(index_t unknowns, std::size_t products)
      : unknowns_(unknowns), b_("b", static_cast<std::size_t>(unknowns)) {
    products_.reserve(products);
  }

  void coefficient(index_t unknown, double value) { row_.emplace_back(unknown, value); }

  /// Ends a row: its coefficients times the unknowns are `right`.
  void end_row(double right) {
    for (const auto& [i, a] : row_) {
      for (const auto& [j, c] : row_) products_.push_back({i, j, a * c});
      b_(i) += a * right;
    }
    row_.clear();
  }

  NormalEquations sum() const {
    return {csr_from_triplets<double>(unknowns_, unknowns_, products_), b_};
  }

 private:
  index_t unknowns_;
  Vector<double> b_;
  std::vector<std::pair<index_t, double>> row_;
  std::vector<Triplet<double>> products_;
};

void require_vertices(const Mesh& mesh) {
  for (const auto& triangle : mesh.triangles)
    for (const index_t v : triangle)
      require(v >= 0 && v < mesh.vertices(), "a triangle names a vertex that is not there");
}

/// The neighbours of each vertex, ascending: those of v from offsets[v] on.
struct Neighbours {
  std::vector<std::size_t> offsets;
  std::vector<index_t> vertices;
};

Neighbours neighbours_of(const Mesh& mesh) {
  std::vector<std::pair<index_t, index_t>> edges;
  edges.reserve(6 * mesh.triangles.size());
  for (const auto& [a, b, c] : mesh.triangles)
    edges.insert(edges.end(), {{a, b}, {b, a}, {b, c}, {c, b}, {c, a}, {a, c}});
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  std::erase_if(edges, [](const auto& edge) { return edge.first == edge.second; });
  Neighbours result;
  result.offsets.assign(mesh.points.size() + 1, 0);
  result.vertices.reserve(edges.size());
  for (const auto& [from, to] : edges) {
    ++result.offsets[static_cast<std::size_t>(from) + 1];
    result.vertices.push_back(to);
  }
  std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
  return result;
}

/// The part of each vertex that these triangles connect, as one of its vertices.
std::vector<index_t> parts_of(std::size_t vertices,
                              const std::vector<geometry::Triangle>& triangles) {
  std::vector<index_t> parent(vertices);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](index_t v) {
    const auto up = [&](index_t w) -> index_t& { return parent[static_cast<std::size_t>(w)]; };
    for (; up(v) != v; v = up(v)) up(v) = up(up(v));
    return v;
  };
  for (const auto& [a, b, c] : triangles) {
    parent[static_cast<std::size_t>(root(b))] = root(a);
    parent[static_cast<std::size_t>(root(c))] = root(a);
  }
  for (std::size_t v = 0; v < vertices; ++v) parent[v] = root(static_cast<index_t>(v));
  return parent;
}

Point minus(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
double product(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

using Complex = std::complex<double>;

/// A triangle laid flat, and twice its area: 0 where it has none.
struct FlatTriangle {
  std::array<Complex, 3> corners;
  double twice_area = 0;
};

FlatTriangle flat(const Mesh& mesh, const geometry::Triangle& triangle) {
  const auto at = [&](int k) { return mesh.points[static_cast<std::size_t>(triangle[k])]; };
  const Point first = minus(at(1), at(0)), second = minus(at(2), at(0));
  const double length = std::sqrt(product(first, first));
  if (!(length > 0)) return {};
  const double along = product(first, second) / length;
  const double squared = product(second, second) - along * along;
  const double across = std::sqrt(std::max(squared, 0.0));
  // A height that is rounding and nothing else.
  if (!(across > 1e-12 * length)) return {};
  return {{Complex(0), Complex(length), Complex(along, across)}, length * across};
}

/// Which vertices of a conformal map are free and where the others are held.
struct Unknowns {
  static constexpr index_t unused = -1, held = -2;
  std::vector<index_t> number;  ///< of each vertex among the free ones, or unused or held
  std::vector<double> u;        ///< of each that is held; its v is 0
  index_t free = 0;
};

/// The two vertices of a part that are farthest apart along the longest side of its box.
struct Ends {
  Point low, high;
  std::array<index_t, 3> lowest, highest;

  explicit Ends(const Point& p, index_t v) : low(p), high(p) {
    lowest.fill(v);
    highest.fill(v);
  }
  void add(const Point& p, index_t v) {
    for (std::size_t k = 0; k < 3; ++k) {
      if (p[k] < low[k]) low[k] = p[k], lowest[k] = v;
      if (p[k] > high[k]) high[k] = p[k], highest[k] = v;
    }
  }
  std::size_t longest_side() const {
    const Point sides = minus(high, low);
    return static_cast<std::size_t>(std::max_element(sides.begin(), sides.end()) - sides.begin());
  }
};

/// Holds the ends of each part of the vertices of these triangles.
Unknowns hold_ends(const Mesh& mesh, const std::vector<geometry::Triangle>& triangles) {
  const std::vector<index_t> part = parts_of(mesh.points.size(), triangles);
  std::vector<bool> used(mesh.points.size(), false);
  for (const auto& triangle : triangles)
    for (const index_t v : triangle) used[static_cast<std::size_t>(v)] = true;
  std::vector<std::pair<index_t, Ends>> ends;  // by part, in the order of their first vertices
  std::vector<std::size_t> place(mesh.points.size(), mesh.points.size());
  Unknowns unknowns;
  unknowns.number.assign(mesh.points.size(), Unknowns::unused);
  unknowns.u.assign(mesh.points.size(), 0);
  for (std::size_t v = 0; v < mesh.points.size(); ++v) {
    if (!used[v]) continue;
    std::size_t& here = place[static_cast<std::size_t>(part[v])];
    if (here == mesh.points.size()) {
      here = ends.size();
      ends.emplace_back(part[v], Ends(mesh.points[v], static_cast<index_t>(v)));
    }
    ends[here].second.add(mesh.points[v], static_cast<index_t>(v));
    unknowns.number[v] = 0;
  }
  for (const auto& [root, end] : ends) {
    const std::size_t side = end.longest_side();
    unknowns.number[static_cast<std::size_t>(end.lowest[side])] = Unknowns::held;
    unknowns.number[static_cast<std::size_t>(end.highest[side])] = Unknowns::held;
    unknowns.u[static_cast<std::size_t>(end.highest[side])] = end.high[side] - end.low[side];
  }
  for (index_t& number : unknowns.number)
    if (number == 0) number = unknowns.free++;
  return unknowns;
}

}  // namespace

Mesh terrain_mesh(index_t n) {
  require(n >= 3 && n <= 20000, "a terrain has 3 to 20000 vertices on a side");
  Mesh mesh;
  mesh.name = "terrain:" + std::to_string(n);
  const double step = 1.0 / (n - 1);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) {
      const double x = j * step, y = i * step;
      const double z =
          0.1 * std::sin(9 * x + 2 * y) * std::cos(7 * y) + 0.02 * std::sin(41 * x * y);
      mesh.points.push_back({x, y, z});
    }
  for (index_t i = 0; i + 1 < n; ++i)
    for (index_t j = 0; j + 1 < n; ++j) {
      const index_t corner = i * n + j;
      mesh.triangles.push_back({corner, corner + 1, corner + n});
      mesh.triangles.push_back({corner + 1, corner + n + 1, corner + n});
    }
  return mesh;
}

NormalEquations smoothing_system(const Mesh& mesh, double fit, int unknowns) {
  require(unknowns == 1 || unknowns == 3, "a vertex has 1 or 3 unknowns");
  require(fit > 0, "the weight of the fit must be positive");
  require_vertices(mesh);
  const Neighbours neighbours = neighbours_of(mesh);
  const auto k = static_cast<std::size_t>(unknowns);
  NormalSum sum(mesh.vertices() * unknowns, 50 * k * mesh.points.size());
  for (std::size_t v = 0; v < mesh.points.size(); ++v)
    for (std::size_t c = 0; c < k; ++c) {
      const auto unknown = [&](index_t w) { return w * unknowns + static_cast<index_t>(c); };
      const index_t own = unknown(static_cast<index_t>(v));
      const std::size_t begin = neighbours.offsets[v], end = neighbours.offsets[v + 1];
      for (std::size_t e = begin; e < end; ++e)
        sum.coefficient(unknown(neighbours.vertices[e]), -1.0 / static_cast<double>(end - begin));
      if (end > begin) {
        sum.coefficient(own, 1);
        sum.end_row(0);
      }
      sum.coefficient(own, fit);
      sum.end_row(fit * mesh.points[v][k == 1 ? 2 : c]);
    }
  return sum.sum();
}

NormalEquations conformal_system(const Mesh& mesh) {
  require_vertices(mesh);
  std::vector<geometry::Triangle> triangles = mesh.triangles;
  std::erase_if(triangles, [&](const auto& t) { return !(flat(mesh, t).twice_area > 0); });
  const Unknowns unknowns = hold_ends(mesh, triangles);
  require(unknowns.free > 0, [&] { return mesh.name + ": no vertex is free"; });
  NormalSum sum(2 * unknowns.free, 72 * triangles.size());
  for (const auto& triangle : triangles) {
    const FlatTriangle shape = flat(mesh, triangle);
    const double weight = 1 / std::sqrt(shape.twice_area);
    // The sum of w (u + i v) over the corners is zero, w being the side across: its real part, then the imaginary one.
    for (const bool imaginary : {false, true}) {
      double right = 0;
      for (std::size_t c = 0; c < 3; ++c) {
        const Complex w = weight * (shape.corners[(c + 2) % 3] - shape.corners[(c + 1) % 3]);
        const double of_u = imaginary ? w.imag() : w.real();
        const double of_v = imaginary ? w.real() : -w.imag();
        const auto v = static_cast<std::size_t>(triangle[c]);
        if (unknowns.number[v] == Unknowns::held) {
          right -= of_u * unknowns.u[v];
          continue;
        }
        sum.coefficient(2 * unknowns.number[v], of_u);
        sum.coefficient(2 * unknowns.number[v] + 1, of_v);
      }
      sum.end_row(right);
    }
  }
  return sum.sum();
}

}  // namespace cnc::perf
