#pragma once

#include "geometry/edge_table.hpp"

#include <vector>

namespace cnc::geometry {

struct BoundaryLoop {
  std::vector<index_t> vertices;  // in the order of the edges, from the least one on
  double length = 0;              // in space
  index_t triangle = 0;           // one at its first edge
};

/// The chains of edges with one triangle, the longest first. At a vertex with several, a chain stays with its fan.
std::vector<BoundaryLoop> boundary_loops(const EdgeTable& table);

}  // namespace cnc::geometry
