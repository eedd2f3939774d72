#include "geometry/conformal_rows.hpp"

#include "geometry/point_math.hpp"

#include <algorithm>
#include <cmath>

namespace cnc::geometry {
namespace {

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

}  // namespace

std::size_t local_vertex(const Component& part, index_t vertex) {
  return static_cast<std::size_t>(
      std::lower_bound(part.vertices.begin(), part.vertices.end(), vertex) - part.vertices.begin());
}

void add_conformal_rows(SystemChunk<double>& chunk, const Mesh& mesh, const Component& part,
                        index_t triangle) {
  const Triangle& c = mesh.triangles[at(triangle)];
  const FlatTriangle flat =
      flatten(mesh.points[at(c[0])], mesh.points[at(c[1])], mesh.points[at(c[2])]);
  const double scale = 1 / std::sqrt(flat.double_area());
  const double x[3] = {0, flat.x1, flat.x2}, y[3] = {0, 0, flat.y2};
  double re[3], im[3];
  index_t u[3];
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t next = (k + 1) % 3, last = (k + 2) % 3;
    re[k] = (x[last] - x[next]) * scale;
    im[k] = (y[last] - y[next]) * scale;
    u[k] = static_cast<index_t>(2 * local_vertex(part, c[k]));
  }
  chunk.begin_row();
  for (std::size_t k = 0; k < 3; ++k) {
    chunk.coefficient(u[k], re[k]);
    chunk.coefficient(u[k] + 1, -im[k]);
  }
  chunk.end_row();
  chunk.begin_row();
  for (std::size_t k = 0; k < 3; ++k) {
    chunk.coefficient(u[k], im[k]);
    chunk.coefficient(u[k] + 1, re[k]);
  }
  chunk.end_row();
}

}  // namespace cnc::geometry
