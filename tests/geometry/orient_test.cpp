#include "geometry/topology.hpp"
#include "mesh_support.hpp"
#include "support/catch.hpp"

#include <random>

using namespace cnc;
using namespace cnc::test;
using geometry::orient;

namespace {

void turn(Triangle& triangle) { std::swap(triangle[1], triangle[2]); }

}  // namespace

TEST_CASE("a surface that is oriented stays as it is") {
  Mesh mesh = tetrahedron();
  CHECK(orient(mesh) == 0);
  CHECK(is_tetrahedron(mesh));
}

TEST_CASE("the smaller part of a component is turned") {
  std::mt19937 random(5);
  Mesh mesh = grid(12, 9);
  const Mesh original = mesh;
  const std::size_t n = mesh.triangles.size();
  for (std::size_t k = 0; k < n / 3; ++k) turn(mesh.triangles[3 * k]);
  CHECK(!geometry::analyze(mesh).misoriented_edges.empty());
  CHECK(orient(mesh) == static_cast<index_t>(n / 3));
  CHECK(mesh.triangles == original.triangles);
  // Where most are turned, the others follow.
  for (std::size_t k = 0; k < n; ++k) {
    if (k % 3 != 0) turn(mesh.triangles[k]);
  }
  CHECK(orient(mesh) == static_cast<index_t>((n + 2) / 3));
  CHECK(geometry::analyze(mesh).misoriented_edges.empty());
}

TEST_CASE("each component is oriented by itself") {
  Mesh mesh = grid(3, 3);
  const index_t n = mesh.vertices();
  const Mesh once = mesh;
  for (const Triangle& t : once.triangles) mesh.triangles.push_back({t[0] + n, t[2] + n, t[1] + n});
  for (const Point& x : once.points) mesh.points.push_back({x[0], x[1], 1});
  CHECK(orient(mesh) == 0);
  turn(mesh.triangles[3]);
  turn(mesh.triangles[12]);
  CHECK(orient(mesh) == 2);
  geometry::require_manifold(mesh, geometry::analyze(mesh));
}

TEST_CASE("what cannot be oriented stays as it is") {
  // Three cells in a ring, the last of them turned over.
  Mesh mesh;
  mesh.name = "strip";
  mesh.points = {{0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {1, 1, 0}, {2, 0, 1}, {2, 1, 2}};
  mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {2, 4, 3}, {3, 4, 5}, {4, 1, 5}, {5, 1, 0}};
  const Mesh original = mesh;
  const std::string message = message_of([&] { orient(mesh); });
  CHECK(message ==
        "strip: not orientable: going round from triangle 5 to its neighbour 4 turns the surface "
        "over");
  CHECK(mesh.triangles == original.triangles);
  CHECK_THROWS_AS(orient(mesh), InvalidArgument);
}

TEST_CASE("triangles with a vertex twice and edges with many ask for nothing") {
  Mesh mesh;
  mesh.points.resize(6);
  mesh.triangles = {{0, 1, 2}, {0, 1, 3}, {0, 1, 4}, {2, 2, 5}, {2, 0, 5}};
  CHECK(orient(mesh) == 1);  // the last one, against the first
  CHECK(mesh.triangles[3] == Triangle{2, 2, 5});
}
