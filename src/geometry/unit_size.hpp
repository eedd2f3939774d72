#pragma once

#include "geometry/mesh.hpp"

#include <vector>

namespace cnc::geometry {

/// Where a surface is and how large: x = centre + size * u, and the coordinates u are between -1/2 and 1/2.
struct Placement {
  Point centre = {};
  double size = 1;  // the longest side of the bounding box, 1 where there is none
};

Placement placement_of(const std::vector<Point>& points);

/// The same surface, of size 1 around the origin: what is computed with it neither overflows nor underflows.
Mesh scaled_to_unit(const Mesh& mesh, const Placement& placement);

/// Where a point of the unit surface was.
Point to_original(const Point& u, const Placement& placement);

}  // namespace cnc::geometry
