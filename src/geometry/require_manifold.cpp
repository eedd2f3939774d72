#include "geometry/topology.hpp"

#include <cnc/error.hpp>

#include <string>

namespace cnc::geometry {

namespace {

std::string number(index_t i) { return std::to_string(offset_t{i} + 1); }
std::string ends(const Edge& edge) { return number(edge[0]) + "-" + number(edge[1]); }

[[noreturn]] void refuse(const Mesh& mesh, const std::string& fault, std::size_t such) {
  throw InvalidArgument(mesh.name + ": " + fault + " (" + std::to_string(such) +
                        " such in all; counted from 1)");
}

bool names_twice(const Triangle& c) { return c[0] == c[1] || c[1] == c[2] || c[2] == c[0]; }

void require_three_corners(const Mesh& mesh, const Topology& topology) {
  index_t first = -1;
  std::size_t such = 0;
  for (const index_t t : topology.degenerate) {
    if (!names_twice(mesh.triangles[static_cast<std::size_t>(t)])) continue;
    if (such++ == 0) first = t;
  }
  if (such == 0) return;
  const Triangle& c = mesh.triangles[static_cast<std::size_t>(first)];
  refuse(mesh,
         "triangle " + number(first) + " names vertex " +
             number(c[0] == c[1] || c[0] == c[2] ? c[0] : c[1]) + " twice",
         such);
}

}  // namespace

void require_manifold(const Mesh& mesh, const Topology& topology) {
  require_three_corners(mesh, topology);
  if (!topology.duplicates.empty()) {
    refuse(mesh,
           "triangle " + number(topology.duplicates[0]) + " has the vertices of an earlier one",
           topology.duplicates.size());
  }
  if (!topology.nonmanifold_edges.empty()) {
    refuse(mesh, "edge " + ends(topology.nonmanifold_edges[0]) + " has more than two triangles",
           topology.nonmanifold_edges.size());
  }
  if (!topology.misoriented_edges.empty()) {
    refuse(mesh,
           "the triangles at edge " + ends(topology.misoriented_edges[0]) +
               " are oriented against each other",
           topology.misoriented_edges.size());
  }
  if (!topology.nonmanifold_vertices.empty()) {
    refuse(
        mesh,
        "the triangles at vertex " + number(topology.nonmanifold_vertices[0]) + " are not one fan",
        topology.nonmanifold_vertices.size());
  }
}

void require_areas(const Mesh& mesh, const Topology& topology) {
  if (!topology.degenerate.empty()) {
    refuse(mesh, "triangle " + number(topology.degenerate[0]) + " has no area",
           topology.degenerate.size());
  }
}

}  // namespace cnc::geometry
