#pragma once

#include "geometry/mesh.hpp"
#include "io/read_options.hpp"

#include <string>
#include <string_view>

namespace cnc::geometry {

/// Reads a surface: OBJ, OFF (with colours, normals, texture coordinates: skipped), PLY (ascii and
/// binary of both byte orders, faces or triangle strips) or STL (ascii and binary; equal points
/// become one vertex), each plain or gzip. The format is told by the contents, and by the name where
/// they do not tell (binary STL inside gzip, OFF without its keyword). Polygons are cut into fans
/// around their first corner. Vertices without a triangle, degenerate and non-manifold parts stay as
/// they are: analyze (topology.hpp) finds them.
///
/// Errors   IoError (file, line of a text, reason) for anything that is not a whole, well-formed
///          surface: counts that do not fit, indices out of range, coordinates that are not numbers
///          or beyond 1e75, no triangle at all; OutOfMemory, asked as vertices and triangles come.
/// Cost     one pass over the file and a sort of the corners for STL; at most 3 times the memory
///          of the result.
Mesh read_mesh(const std::string& path);

/// The same from memory; `name` stands in for the path.
Mesh parse_mesh(std::string_view bytes, const std::string& name,
                const detail::ReadOptions& options = {});

}  // namespace cnc::geometry
