#include "geometry/unit_size.hpp"

#include <algorithm>

namespace cnc::geometry {

Placement placement_of(const std::vector<Point>& points) {
  Placement placement;
  if (points.empty()) return placement;
  Point low = points[0], high = points[0];
  for (const Point& p : points)
    for (std::size_t k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], p[k]);
      high[k] = std::max(high[k], p[k]);
    }
  placement.size = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    placement.centre[k] = 0.5 * low[k] + 0.5 * high[k];
    placement.size = std::max(placement.size, high[k] - low[k]);
  }
  if (!(placement.size > 0)) placement.size = 1;
  return placement;
}

Mesh scaled_to_unit(const Mesh& mesh, const Placement& placement) {
  Mesh unit = mesh;
  for (Point& p : unit.points)
    for (std::size_t k = 0; k < 3; ++k) p[k] = (p[k] - placement.centre[k]) / placement.size;
  return unit;
}

Point to_original(const Point& u, const Placement& placement) {
  Point x;
  for (std::size_t k = 0; k < 3; ++k) x[k] = placement.centre[k] + placement.size * u[k];
  return x;
}

}  // namespace cnc::geometry
