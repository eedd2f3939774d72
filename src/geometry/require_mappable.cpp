#include "geometry/conformal.hpp"
#include "geometry/point_math.hpp"

#include <cnc/error.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace cnc::geometry {
namespace {

/// Height over longest side: equations have the root of its inverse.
constexpr double thinnest = 1e-10;

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }
std::string number(index_t i) { return std::to_string(offset_t{i} + 1); }

[[noreturn]] void refuse(const Mesh& mesh, const std::string& reason) {
  throw InvalidArgument(mesh.name + ": " + reason);
}

/// "" of the only part of a surface.
std::string which(const Topology& topology, std::size_t part) {
  if (topology.components.size() == 1) return "";
  return " (part " + std::to_string(part + 1) + " of " +
         std::to_string(topology.components.size()) + ", that of vertex " +
         number(topology.components[part].vertices.front()) + "; counted from 1)";
}

void require_disks(const Mesh& mesh, const Topology& topology) {
  for (std::size_t k = 0; k < topology.components.size(); ++k)
    if (topology.components[k].is_closed())
      refuse(mesh, "closed surface: cut it first" + which(topology, k));
  for (std::size_t k = 0; k < topology.components.size(); ++k)
    if (topology.components[k].genus > 0)
      refuse(mesh, "surface of genus " + std::to_string(topology.components[k].genus) +
                       ": cut it open along its handles first" + which(topology, k));
}

/// Whether the triangles of a part that have equations hang together by edges and reach every vertex: what they leave
/// is otherwise free to turn.
bool is_determined(const Mesh& mesh, const Component& part, const std::vector<index_t>& thin) {
  std::vector<std::array<index_t, 3>> sides;  // both ends of an edge, and the triangle
  std::vector<index_t> reached;
  std::size_t kept = 0;
  for (const index_t t : part.triangles) {
    if (std::binary_search(thin.begin(), thin.end(), t)) continue;
    const Triangle& c = mesh.triangles[at(t)];
    for (std::size_t k = 0; k < 3; ++k) {
      const index_t a = c[k], b = c[(k + 1) % 3];
      sides.push_back({std::min(a, b), std::max(a, b), static_cast<index_t>(kept)});
      reached.push_back(a);
    }
    ++kept;
  }
  std::sort(reached.begin(), reached.end());
  reached.erase(std::unique(reached.begin(), reached.end()), reached.end());
  if (reached.size() != part.vertices.size()) return false;
  std::sort(sides.begin(), sides.end());
  std::vector<std::size_t> parent(kept);
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto root = [&](std::size_t t) {
    while (parent[t] != t) t = parent[t] = parent[parent[t]];
    return t;
  };
  std::size_t parts = kept;
  for (std::size_t k = 1; k < sides.size(); ++k) {
    if (sides[k][0] != sides[k - 1][0] || sides[k][1] != sides[k - 1][1]) continue;
    const std::size_t a = root(at(sides[k - 1][2])), b = root(at(sides[k][2]));
    if (a == b) continue;
    parent[a] = b;
    --parts;
  }
  return parts == 1;
}

void require_determined(const Mesh& mesh, const Topology& topology) {
  const std::vector<index_t> thin = thin_triangles(mesh, topology);
  if (thin.empty()) return;
  for (std::size_t k = 0; k < topology.components.size(); ++k) {
    const Component& part = topology.components[k];
    const auto first = std::find_if(part.triangles.begin(), part.triangles.end(), [&](index_t t) {
      return std::binary_search(thin.begin(), thin.end(), t);
    });
    if (first == part.triangles.end() || is_determined(mesh, part, thin)) continue;
    refuse(mesh, "triangle " + number(*first) + " has no area, and without such triangles (" +
                     std::to_string(thin.size()) +
                     " in all; counted from 1) the surface falls apart");
  }
}

void require_apart(const Mesh& mesh, std::vector<PinRequest> pins) {
  std::sort(pins.begin(), pins.end(),
            [](const PinRequest& a, const PinRequest& b) { return *a.place < *b.place; });
  for (std::size_t k = 1; k < pins.size(); ++k)
    if (pins[k].place == pins[k - 1].place)
      refuse(mesh, "pins at vertices " + number(std::min(pins[k - 1].vertex, pins[k].vertex)) +
                       " and " + number(std::max(pins[k - 1].vertex, pins[k].vertex)) +
                       " are at one place");
}

void require_pins(const Mesh& mesh, const Topology& topology, const ConformalOptions& options) {
  if (options.method == ConformalMethod::spectral && !options.pins.empty())
    throw InvalidArgument("a spectral map has no pins");
  std::vector<index_t> vertices;
  for (const PinRequest& pin : options.pins) {
    if (pin.vertex < 0 || pin.vertex >= mesh.vertices())
      refuse(mesh, "there is no vertex " + number(pin.vertex) + " to pin: vertices are 1 to " +
                       std::to_string(mesh.vertices()));
    if (std::binary_search(topology.isolated.begin(), topology.isolated.end(), pin.vertex))
      refuse(mesh, "vertex " + number(pin.vertex) + " cannot be pinned: it has no triangle");
    if (pin.place && !(std::isfinite((*pin.place)[0]) && std::isfinite((*pin.place)[1])))
      refuse(mesh, "the pin at vertex " + number(pin.vertex) + " is at no finite place");
    vertices.push_back(pin.vertex);
  }
  std::sort(vertices.begin(), vertices.end());
  const auto twice = std::adjacent_find(vertices.begin(), vertices.end());
  if (twice != vertices.end()) refuse(mesh, "vertex " + number(*twice) + " is pinned twice");
  for (std::size_t k = 0; k < topology.components.size(); ++k) {
    const Component& part = topology.components[k];
    std::vector<PinRequest> own;
    std::size_t placed = 0;
    for (const PinRequest& pin : options.pins) {
      if (!std::binary_search(part.vertices.begin(), part.vertices.end(), pin.vertex)) continue;
      own.push_back(pin);
      placed += pin.place.has_value();
    }
    if (own.empty()) continue;
    if (own.size() == 1)
      refuse(mesh, "one pin does not hold a surface: give two or none" + which(topology, k));
    if (placed == own.size())
      require_apart(mesh, own);
    else if (placed > 0 || own.size() > 2)
      refuse(mesh,
             "give all pins a place VERTEX:U:V, or two vertices without" + which(topology, k));
  }
}

}  // namespace

std::vector<index_t> thin_triangles(const Mesh& mesh, const Topology& topology) {
  std::vector<index_t> thin;
  for (index_t t = 0; t < mesh.faces(); ++t) {
    const Triangle& c = mesh.triangles[at(t)];
    const Point &a = mesh.points[at(c[0])], &b = mesh.points[at(c[1])], &d = mesh.points[at(c[2])];
    const double longest = std::max({distance(a, b), distance(b, d), distance(d, a)});
    const double height = norm(area_normal(mesh.points, c)) / longest;
    if (!(height > thinnest * longest) ||
        std::binary_search(topology.degenerate.begin(), topology.degenerate.end(), t))
      thin.push_back(t);
  }
  return thin;
}

void require_mappable(const Mesh& mesh, const Topology& topology, const ConformalOptions& options) {
  require_manifold(mesh, topology);
  require_disks(mesh, topology);
  require_determined(mesh, topology);
  require_pins(mesh, topology, options);
}

}  // namespace cnc::geometry
