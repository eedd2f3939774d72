#pragma once

#include "geometry/mesh.hpp"
#include "geometry/read_mesh.hpp"
#include "io/io_support.hpp"

#include <array>
#include <bit>
#include <sstream>
#include <string>
#include <vector>

#include <zlib.h>

namespace cnc::test {

using geometry::Mesh;
using geometry::Point;
using geometry::Triangle;

inline Mesh parse_as(const std::string& name, const std::string& bytes) {
  return geometry::parse_mesh(bytes, name);
}

/// What reading says; the name stands before it. Every window of the text gives the same.
inline std::string mesh_message(const std::string& name, const std::string& bytes) {
  const std::string message = message_of([&] { geometry::parse_mesh(bytes, name); });
  for (const std::size_t window : {1, 7, 40}) {
    detail::ReadOptions options;
    options.window_bytes = window;
    const std::string other = message_of([&] { geometry::parse_mesh(bytes, name, options); });
    if (other != message) return "differs by window: " + message + " | " + other;
  }
  return message;
}

struct BadMesh {
  std::string bytes;
  std::string message;  // after the name and ":"
};

/// A tetrahedron: every surface is closed, every vertex has three triangles.
inline const std::vector<Point> corner_points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
inline const std::vector<Triangle> corner_triangles = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

inline Mesh tetrahedron() {
  return {.name = "tetrahedron", .points = corner_points, .triangles = corner_triangles};
}

inline bool is_tetrahedron(const Mesh& mesh) {
  return mesh.points == corner_points && mesh.triangles == corner_triangles;
}

/// The bytes of a number in a file.
template <class T>
std::string bytes_of(T value, std::endian order = std::endian::little) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  if (order != std::endian::native) std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

inline std::string gzip(const std::string& bytes) {
  std::string packed(bytes.size() + 100, '\0');
  z_stream stream{};
  if (::deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int result = ::deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error("gzip");
  return packed;
}

/// Points of an nx x ny grid in the plane and two triangles per cell.
inline Mesh grid(index_t nx, index_t ny) {
  Mesh mesh;
  mesh.name = "grid";
  for (index_t j = 0; j < ny; ++j) {
    for (index_t i = 0; i < nx; ++i) {
      mesh.points.push_back({static_cast<double>(i), static_cast<double>(j), 0});
    }
  }
  for (index_t j = 0; j + 1 < ny; ++j) {
    for (index_t i = 0; i + 1 < nx; ++i) {
      const index_t v = j * nx + i;
      mesh.triangles.push_back({v, v + 1, v + nx + 1});
      mesh.triangles.push_back({v, v + nx + 1, v + nx});
    }
  }
  return mesh;
}

}  // namespace cnc::test
