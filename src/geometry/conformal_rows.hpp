#pragma once

#include "geometry/topology.hpp"

#include <cnc/system_builder.hpp>

namespace cnc::geometry {

/// Which vertex of the part a vertex of the mesh is: the vertices of a part ascend.
std::size_t local_vertex(const Component& part, index_t vertex);

/// Two equations that say that a triangle is mapped conformally: with z its corners in its own plane and U their places,
/// the sum over corners of (z_before - z_after) U = 0, over the root of twice the area. Unknowns are those of the part, u0, v0,
/// u1, v1, ...
void add_conformal_rows(SystemChunk<double>& chunk, const Mesh& mesh, const Component& part,
                        index_t triangle);

}  // namespace cnc::geometry
