#pragma once

#include "geometry/mesh.hpp"

#include <array>
#include <span>
#include <vector>

namespace cnc::geometry {

using Uv = std::array<double, 2>;

/// What a map into the plane does to a triangle: how much its two principal directions are stretched, and
/// whether it comes out the other way round.
struct Stretch {
  double s1 = 0, s2 = 0;  // s1 >= s2 >= 0
  bool flipped = false;
};
Stretch stretch_of(const Point& a, const Point& b, const Point& c, const Uv& ua, const Uv& ub,
                   const Uv& uc);

/// What a map into the plane does to a surface. Means and the percentile are weighted by areas on the surface.
struct Distortion {
  double angle_mean = 1;  // of s1 / s2, 1 where angles are kept
  double angle_99 = 1;    // 99 % of the area have no more
  double angle_max = 1;
  double area_mean =
      1;  // of max(a, 1 / a), a the ratio of areas where both surfaces have the same in all
  double area_max = 1;
  index_t flipped = 0;    // triangles the other way round
  index_t collapsed = 0;  // triangles without an area in the plane: in flipped or not, in no mean
};

/// `skip`: triangles that are left out, ascending. Maxima of a map with collapsed triangles are infinite.
///
/// Shapes   uv: [vertices]
Distortion measure_distortion(const Mesh& mesh, std::span<const Uv> uv,
                              std::span<const index_t> skip = {});

}  // namespace cnc::geometry
