#pragma once

#include "geometry/mesh.hpp"
#include "geometry/words.hpp"
#include "io/read_options.hpp"

#include <cstddef>
#include <string>

namespace cnc::geometry {

/// Coordinates are at most this large: squares of areas, fourth powers of lengths, then stay finite.
inline constexpr double largest_coordinate = 1e75;

/// The mesh of a file while it is read. Memory grows with what has come, never with what a header
/// promises. `line` is that of the file for messages, 0 in a binary one.
class MeshBuilder {
 public:
  MeshBuilder(const std::string& name, const detail::ReadOptions& options);

  offset_t vertices() const { return static_cast<offset_t>(mesh_.points.size()); }
  offset_t faces() const { return faces_; }  ///< begun so far

  /// The coordinate (0 to 2) of the vertex that comes next.
  /// Errors   IoError, also from add_...: vertex and offending text.
  double read_coordinate(Words& words, int axis, std::size_t line) const;
  double check_coordinate(double value, int axis) const;  ///< of a binary file
  void add_vertex(const Point& x, std::size_t line);
  void read_vertex(Words& words, std::size_t line);

  /// A polygon, corner by corner, cut into a fan around its first one.
  void begin_face();
  void add_corner(index_t vertex, std::size_t line);
  void end_face(std::size_t line);

  void add_triangle(const Triangle& corners, std::size_t line);

  /// The vertex that a face names, from `base` on, of as many as `vertices`.
  index_t check_index(offset_t named, offset_t base, offset_t vertices, std::size_t line) const;

  /// Errors   IoError where there is no triangle.
  Mesh finish();

  [[noreturn]] void fail(std::size_t line, const std::string& reason) const;

 private:
  template <class Item>
  void make_room(std::vector<Item>& items) const;
  std::string describe_coordinate(int axis, const std::string& text) const;
  std::string describe_face() const { return "face " + std::to_string(faces_); }

  Mesh mesh_;
  detail::ReadOptions options_;
  offset_t faces_ = 0;
  offset_t corners_ = 0;  // of the face at hand
  index_t first_ = 0;
  index_t previous_ = 0;
};

}  // namespace cnc::geometry
