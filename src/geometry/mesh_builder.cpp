#include "geometry/mesh_builder.hpp"

#include "io/memory_limit.hpp"

#include <charconv>
#include <cmath>
#include <limits>

namespace cnc::geometry {

namespace {

const char* const not_finite = " is not finite";
const char* const too_large = " is larger than 1e75, the most that is taken";

}  // namespace

MeshBuilder::MeshBuilder(const std::string& name, const detail::ReadOptions& options)
    : options_(options) {
  mesh_.name = name;
}

void MeshBuilder::fail(std::size_t line, const std::string& reason) const {
  throw IoError(mesh_.name, line, reason);
}

std::string MeshBuilder::describe_coordinate(int axis, const std::string& text) const {
  return "vertex " + std::to_string(vertices() + 1) + ": " + "xyz"[axis] + " = " + text;
}

double MeshBuilder::read_coordinate(Words& words, int axis, std::size_t line) const {
  double value = 0;
  const Words before = words;
  switch (words.take_real(value)) {
    case detail::EntryFault::none: break;
    case detail::EntryFault::not_finite:
      fail(line, describe_coordinate(axis, before.quoted()) + not_finite);
    case detail::EntryFault::overflow:
      fail(line, describe_coordinate(axis, before.quoted()) + too_large);
    default:
      fail(line, "vertex " + std::to_string(vertices() + 1) + ": expected " + "xyz"[axis] +
                     ", a number, found " + before.quoted());
  }
  if (std::abs(value) > largest_coordinate) {
    fail(line, describe_coordinate(axis, before.quoted()) + too_large);
  }
  return value;
}

double MeshBuilder::check_coordinate(double value, int axis) const {
  if (!(std::abs(value) <= largest_coordinate)) {
    char digits[32];
    const char* const end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    const std::string text = "'" + std::string(static_cast<const char*>(digits), end) + "'";
    fail(0, describe_coordinate(axis, text) + (std::isfinite(value) ? too_large : not_finite));
  }
  return value;
}

void MeshBuilder::read_vertex(Words& words, std::size_t line) {
  Point x{};
  for (int axis = 0; axis < 3; ++axis) {
    x[static_cast<std::size_t>(axis)] = read_coordinate(words, axis, line);
  }
  add_vertex(x, line);
}

template <class Item>
void MeshBuilder::make_room(std::vector<Item>& items) const {
  if (items.size() < items.capacity()) return;
  constexpr std::size_t least = 1024;
  const std::size_t more = std::max(least, 2 * items.capacity());
  const double held = static_cast<double>(mesh_.points.capacity()) * sizeof(Point) +
                      static_cast<double>(mesh_.triangles.capacity()) * sizeof(Triangle);
  detail::check_memory(mesh_.name, held, static_cast<double>(more) * sizeof(Item), options_);
  items.reserve(more);
}

void MeshBuilder::add_vertex(const Point& x, std::size_t line) {
  if (vertices() == std::numeric_limits<index_t>::max()) fail(line, "more than 2^31 - 1 vertices");
  make_room(mesh_.points);
  mesh_.points.push_back(x);
}

void MeshBuilder::add_triangle(const Triangle& corners, std::size_t line) {
  if (mesh_.faces() == most_triangles) {
    fail(line, "more than " + std::to_string(most_triangles) + " triangles");
  }
  make_room(mesh_.triangles);
  mesh_.triangles.push_back(corners);
}

void MeshBuilder::begin_face() {
  ++faces_;
  corners_ = 0;
}

void MeshBuilder::add_corner(index_t vertex, std::size_t line) {
  if (corners_ == 0) first_ = vertex;
  if (corners_ >= 2) add_triangle({first_, previous_, vertex}, line);
  previous_ = vertex;
  ++corners_;
}

void MeshBuilder::end_face(std::size_t line) {
  if (corners_ < 3) {
    fail(line, describe_face() + " has " + std::to_string(corners_) +
                   (corners_ == 1 ? " corner" : " corners") + ", a polygon has three or more");
  }
  mesh_.polygons_cut += corners_ > 3;
}

index_t MeshBuilder::check_index(offset_t named, offset_t base, offset_t vertices,
                                 std::size_t line) const {
  if (named < base || named >= base + vertices) {
    fail(line, describe_face() + " names vertex " + std::to_string(named) +
                   (vertices == 0 ? ", but there is no vertex"
                                  : ", which is out of range " + std::to_string(base) + ".." +
                                        std::to_string(base + vertices - 1)));
  }
  return static_cast<index_t>(named - base);
}

Mesh MeshBuilder::finish() {
  if (mesh_.triangles.empty()) fail(0, "no triangles");
  return std::move(mesh_);
}

}  // namespace cnc::geometry
