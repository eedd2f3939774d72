#include "harness/mesh_systems.hpp"

#include "geometry/topology.hpp"

#include <cnc/error.hpp>
#include <cnc/least_squares.hpp>
#include <cnc/system_builder.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <vector>

namespace cnc::perf {
namespace {

using geometry::Mesh;
using geometry::Point;
using geometry::Topology;

/// A^T A x = A^T b of the rows that were assembled.
NormalEquations normal_equations(const SystemBuilder<double>& rows) {
  const CsrMatrix<double>& A = rows.matrix();
  const Vector<double> right = rows.right_hand_side();
  NormalEquations equations{normal_matrix(A), Vector<double>("b", std::size_t(A.cols))};
  for (std::size_t i = 0; i < right.extent(0); ++i)
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k)
      equations.b(std::size_t(A.columns(k))) += A.values(k) * right(i);
  return equations;
}

/// The neighbours of each vertex: those of v from offsets[v] to offsets[v + 1].
struct Neighbours {
  std::vector<std::size_t> offsets;
  std::vector<index_t> vertices;

  explicit Neighbours(const Mesh& mesh, const Topology& topology)
      : offsets(mesh.points.size() + 1), vertices(2 * topology.edges.size()) {
    for (const geometry::Edge& edge : topology.edges)
      for (const index_t v : edge) ++offsets[std::size_t(v) + 1];
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    std::vector<std::size_t> next(offsets.begin(), offsets.end() - 1);
    for (const auto& [a, b] : topology.edges) {
      vertices[next[std::size_t(a)]++] = b;
      vertices[next[std::size_t(b)]++] = a;
    }
  }
};

Point minus(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
double product(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

using Complex = std::complex<double>;

/// A triangle laid flat, and twice its area.
struct FlatTriangle {
  std::array<Complex, 3> corners;
  double twice_area = 0;

  explicit FlatTriangle(const Mesh& mesh, const geometry::Triangle& triangle) {
    const Point& origin = mesh.points[std::size_t(triangle[0])];
    const Point first = minus(mesh.points[std::size_t(triangle[1])], origin);
    const Point second = minus(mesh.points[std::size_t(triangle[2])], origin);
    const double length = std::sqrt(product(first, first));
    const double along = product(first, second) / length;
    const double across = std::sqrt(std::max(product(second, second) - along * along, 0.0));
    corners = {Complex(0), Complex(length), Complex(along, across)};
    twice_area = length * across;
  }
};

/// Holds the two ends of a part along the longest side of its box: u from 0 to that side's length, v 0.
void hold_ends(const Mesh& mesh, const geometry::Component& part, SystemBuilder<double>& rows) {
  const auto at = [&](index_t v) -> const Point& { return mesh.points[std::size_t(v)]; };
  double longest = -1;
  index_t first = 0, last = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const auto [low, high] =
        std::minmax_element(part.vertices.begin(), part.vertices.end(),
                            [&](index_t v, index_t w) { return at(v)[k] < at(w)[k]; });
    const double side = at(*high)[k] - at(*low)[k];
    if (side > longest) longest = side, first = *low, last = *high;
  }
  rows.lock(2 * first, 0);
  rows.lock(2 * first + 1, 0);
  rows.lock(2 * last, longest);
  rows.lock(2 * last + 1, 0);
}

/// The sum over the corners of w (u + i v) is zero, w being the side across: its real part, or the imaginary one.
void add_conformal_row(const geometry::Triangle& triangle, const FlatTriangle& shape,
                       bool imaginary, SystemChunk<double>& chunk) {
  chunk.begin_row();
  for (std::size_t c = 0; c < 3; ++c) {
    const Complex w = shape.corners[(c + 2) % 3] - shape.corners[(c + 1) % 3];
    chunk.coefficient(2 * triangle[c], imaginary ? w.imag() : w.real());
    chunk.coefficient(2 * triangle[c] + 1, imaginary ? w.real() : -w.imag());
  }
  chunk.scale(1 / std::sqrt(shape.twice_area));
  chunk.end_row();
}

constexpr SystemOptions appended_rows() {
  SystemOptions options;
  options.rows = RowKind::equations;
  return options;
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
      const double hill = 0.1 * std::sin(9 * x + 2 * y) * std::cos(7 * y);
      mesh.points.push_back({x, y, hill + 0.02 * std::sin(41 * x * y)});
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
  const Neighbours neighbours(mesh, geometry::analyze(mesh));
  SystemBuilder<double> rows(mesh.vertices() * unknowns, appended_rows());
  rows.assemble(mesh.vertices(), [&](SystemChunk<double>& chunk, offset_t vertex) {
    const auto v = static_cast<std::size_t>(vertex);
    const std::size_t begin = neighbours.offsets[v], end = neighbours.offsets[v + 1];
    for (index_t c = 0; c < unknowns; ++c) {
      const index_t own = static_cast<index_t>(vertex) * unknowns + c;
      if (end > begin) {
        chunk.begin_row();
        chunk.coefficient(own, 1);
        for (std::size_t e = begin; e < end; ++e)
          chunk.coefficient(neighbours.vertices[e] * unknowns + c,
                            -1.0 / static_cast<double>(end - begin));
        chunk.end_row();
      }
      chunk.begin_row();
      chunk.coefficient(own, fit);
      chunk.right_hand_side(fit * mesh.points[v][unknowns == 1 ? 2 : std::size_t(c)]);
      chunk.end_row();
    }
  });
  return normal_equations(rows);
}

NormalEquations conformal_system(const Mesh& mesh) {
  const Topology topology = geometry::analyze(mesh);
  geometry::require_areas(mesh, topology);
  SystemBuilder<double> rows(2 * mesh.vertices(), appended_rows());
  for (const geometry::Component& part : topology.components) hold_ends(mesh, part, rows);
  for (const index_t v : topology.isolated) {
    rows.lock(2 * v, 0);
    rows.lock(2 * v + 1, 0);
  }
  require(rows.free_variables() > 0, [&] { return mesh.name + ": no vertex is free"; });
  rows.assemble(mesh.faces(), [&](SystemChunk<double>& chunk, offset_t face) {
    const geometry::Triangle& triangle = mesh.triangles[static_cast<std::size_t>(face)];
    const FlatTriangle shape(mesh, triangle);
    add_conformal_row(triangle, shape, false, chunk);
    add_conformal_row(triangle, shape, true, chunk);
  });
  return normal_equations(rows);
}

}  // namespace cnc::perf
