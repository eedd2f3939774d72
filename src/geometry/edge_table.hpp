#pragma once

#include "geometry/mesh.hpp"

#include <array>
#include <span>
#include <vector>

namespace cnc::geometry {

/// The edges of a mesh and the triangles at them. Half-edge 3 t + k runs from corner k of triangle t
/// to the next one. Triangles that name a vertex twice are left out.
struct EdgeTable {
  const Mesh& mesh;
  std::vector<std::array<index_t, 2>> edges;  // i < j, ascending
  std::vector<index_t> offsets;               // of the uses of each edge; one more than edges
  std::vector<index_t> half_edges;            // uses, ascending within an edge
  std::vector<index_t> edge_of;               // of a half-edge; -1 in a triangle that is left out

  /// Cost   O(triangles log(triangles at a vertex)).
  explicit EdgeTable(const Mesh& mesh);

  std::span<const index_t> uses(index_t edge) const {
    const auto e = static_cast<std::size_t>(edge);
    return std::span(half_edges)
        .subspan(static_cast<std::size_t>(offsets[e]),
                 static_cast<std::size_t>(offsets[e + 1] - offsets[e]));
  }
  index_t edge(index_t half) const { return edge_of[static_cast<std::size_t>(half)]; }
  bool has(index_t triangle) const { return edge(3 * triangle) >= 0; }

  index_t vertex(index_t triangle, index_t corner) const {
    return mesh.triangles[static_cast<std::size_t>(triangle)][static_cast<std::size_t>(corner % 3)];
  }
  index_t tail(index_t half) const { return vertex(half / 3, half % 3); }
  index_t head(index_t half) const { return vertex(half / 3, half % 3 + 1); }
  index_t opposite(index_t half) const { return vertex(half / 3, half % 3 + 2); }

  /// The half-edge of the other triangle at the same edge; -1 unless there are exactly two.
  index_t across(index_t half) const {
    const std::span<const index_t> both = uses(edge(half));
    if (both.size() != 2) return -1;
    return both[0] == half ? both[1] : both[0];
  }

  /// The other half-edge of the same triangle at the vertex v, whichever way both run.
  index_t turn(index_t half, index_t v) const {
    const index_t step = head(half) == v ? 1 : 2;
    return half - half % 3 + (half + step) % 3;
  }
};

}  // namespace cnc::geometry
