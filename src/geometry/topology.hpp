#pragma once

#include "geometry/mesh.hpp"

#include <string>
#include <vector>

namespace cnc::geometry {

using Edge = std::array<index_t, 2>;

/// One connected part of a surface, by edges: parts that meet in a vertex alone are two.
struct Component {
  std::vector<index_t> triangles;  // ascending
  std::vector<index_t> vertices;   // ascending
  std::vector<std::vector<index_t>>
      loops;           // boundary loops, each in the order of its edges as its triangles run (the
                       // surface to the left) from its least vertex on, the longest first (by
                       // length in space). Where edges are at fault, open chains are among them
  offset_t euler = 0;  // vertices - edges + triangles
  int genus = 0;       // handles: (2 - euler - loops) / 2; for a surface without faults
  bool is_closed() const { return loops.empty(); }
  bool is_disk() const { return euler == 1 && loops.size() == 1; }
};

/// What is connected to what, and what is wrong with it. Each list of faults is ascending. Triangles with a vertex
/// twice have no part in components, edges and the other faults.
struct Topology {
  std::vector<Component> components;          // by their least vertex, then by their least triangle
  std::vector<index_t> isolated;              // vertices without a triangle
  std::vector<Edge> nonmanifold_edges;        // with three triangles or more
  std::vector<Edge> misoriented_edges;        // with two triangles that run the same way along it
  std::vector<index_t> nonmanifold_vertices;  // whose triangles are not one fan
  std::vector<index_t>
      degenerate;  // triangles with a vertex twice, or of an area that is zero to rounding: the
                   // height is within 4 units in the last place of the largest coordinate
  std::vector<index_t> duplicates;  // triangles with the three vertices of an earlier one
  std::vector<Edge> edges;          // each once, i < j, ascending
};

/// Errors   InvalidArgument (a triangle names a vertex that is not there).
/// Cost     O(triangles log triangles).
Topology analyze(const Mesh& mesh);

/// Refuses a mesh that is no oriented manifold surface, with or without boundary: the first fault is named, by element
/// (counted from 1), and how many there are of its kind. Vertices without a triangle and areas of zero are no fault here.
/// Errors   InvalidArgument.
void require_manifold(const Mesh& mesh, const Topology& topology);

/// Refuses triangles of area zero (Topology::degenerate) in the same way: quotients by areas do not exist there.
/// Errors   InvalidArgument.
void require_areas(const Mesh& mesh, const Topology& topology);

/// Turns triangles until neighbours run opposite ways along their edges, fewer than half of each component. Edges with
/// three triangles or more ask for nothing. Returns how many were turned.
/// Errors   InvalidArgument where that cannot be (a Moebius strip); the mesh is then as it was.
index_t orient(Mesh& mesh);

}  // namespace cnc::geometry
