#pragma once

#include "geometry/distortion.hpp"

#include <span>
#include <vector>

namespace cnc::geometry {

/// A rectangle with sides along u and v.
struct Box {
  double low_u = 0, low_v = 0, high_u = 0, high_v = 0;
  double width() const { return high_u - low_u; }
  double height() const { return high_v - low_v; }
};
/// Of the uv of these vertices.
Box box_of(std::span<const Uv> uv, std::span<const index_t> vertices);

/// Turns (and does not mirror) the uv of these vertices so that their bounding box has the least area, its longer side
/// along u, and its lower left corner at the origin.
void turn_to_least_box(std::span<Uv> uv, std::span<const index_t> vertices);

/// Where the lower left corners of boxes of these sizes go: on shelves, the highest first, in about a square, apart from each
/// other by `gap`. In the order given.
///
/// Shapes   sizes: width and height of each
std::vector<Uv> pack_boxes(std::span<const Uv> sizes, double gap);

}  // namespace cnc::geometry
