#pragma once

#include "geometry/mesh.hpp"

#include <string>
#include <vector>

namespace cnc::geometry {

/// One connected part of a surface, by edges.
struct Component {
  std::vector<index_t> triangles;           // ascending
  std::vector<index_t> vertices;            // ascending
  std::vector<std::vector<index_t>> loops;  // boundary loops, each in the order of its edges, the longest first
  int genus = 0;                            // handles: (2 - chi - loops) / 2
  bool is_closed() const { return loops.empty(); }
};

/// What is connected to what, and what is wrong with it. Each list of faults is ascending.
struct Topology {
  std::vector<Component> components;               // by their least vertex
  std::vector<index_t> isolated;                   // vertices without a triangle
  std::vector<std::array<index_t, 2>> nonmanifold_edges;  // with three triangles or more, or two of one direction
  std::vector<index_t> nonmanifold_vertices;       // whose triangles are not one fan
  std::vector<index_t> degenerate;                 // triangles with a vertex twice, or of an area that is zero to rounding
  std::vector<std::array<index_t, 2>> edges;       // each once, i < j, ascending
};

/// Cost   O(triangles log triangles).
Topology analyze(const Mesh& mesh);

/// Refuses a mesh that is no manifold surface: the first fault is named, by element, and how many there are of its kind.
/// Errors   InvalidArgument.
void require_manifold(const Mesh& mesh, const Topology& topology);

}  // namespace cnc::geometry
