#pragma once

#include <cnc/contract/types.hpp>

#include <array>
#include <string>
#include <vector>

namespace cnc::geometry {

using Point = std::array<double, 3>;
using Triangle = std::array<index_t, 3>;  // vertices from 0, counter-clockwise seen from outside

/// A triangle surface. Polygons of a file are cut into fans.
struct Mesh {
  std::string name;  // of the file, for messages
  std::vector<Point> points;
  std::vector<Triangle> triangles;
  index_t polygons_cut = 0;  // faces of the file that had more than three corners

  index_t vertices() const { return static_cast<index_t>(points.size()); }
  index_t faces() const { return static_cast<index_t>(triangles.size()); }
};

/// Triangles of a mesh, at most: the 3 half-edges of each are counted with an index_t.
inline constexpr index_t most_triangles = 715827882;

}  // namespace cnc::geometry
