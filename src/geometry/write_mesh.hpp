#pragma once

#include "geometry/mesh.hpp"

#include <iosfwd>
#include <span>
#include <string>

namespace cnc::geometry {

using TextureCoordinate = std::array<double, 2>;

/// Refuses a name that write_mesh would refuse, before the work is done.
/// Errors   InvalidArgument.
void require_mesh_name(const std::string& path);

/// Writes OBJ (".obj") or binary little-endian PLY (".ply"); ".gz" behind it compresses. Positions
/// and texture coordinates keep every bit. `uv`: none, or one per vertex (vt in OBJ, the properties
/// s and t in PLY). The file appears whole or not at all (write_file_atomically).
/// Errors   InvalidArgument (another name, a wrong number of uv); IoError.
void write_mesh(const std::string& path, const Mesh& mesh,
                std::span<const TextureCoordinate> uv = {});

/// The same to a stream, uncompressed. What became of it is the stream's to say.
/// Errors   InvalidArgument (a wrong number of uv).
void write_obj(std::ostream& out, const Mesh& mesh, std::span<const TextureCoordinate> uv = {});
void write_ply(std::ostream& out, const Mesh& mesh, std::span<const TextureCoordinate> uv = {});

}  // namespace cnc::geometry
