#pragma once

#include "geometry/distortion.hpp"
#include "geometry/topology.hpp"

#include <span>
#include <utility>
#include <vector>

namespace cnc::geometry {

/// A vertex that is held at a place in the plane.
struct Pin {
  index_t vertex = 0;
  double u = 0, v = 0;
};

/// Two vertices of the longest boundary loop that are far from each other along the edges of the surface.
std::pair<index_t, index_t> distant_boundary_vertices(const Mesh& mesh, const Component& part);

/// The surface seen along its mean normal, from outside: uv of the part's vertices, in their order.
std::vector<Uv> projection(const Mesh& mesh, const Component& part);

/// Moves, turns and scales all points so that they come as near as can be to the places of the pins, of which there are two at least, at
/// different places. `of`: which point each pin holds.
void move_towards(std::span<const Pin> pins, std::span<const std::size_t> of, std::span<Uv> points);

}  // namespace cnc::geometry
