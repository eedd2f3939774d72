#include "geometry/topology.hpp"

#include "mesh_support.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <ctime>
#include <random>
#include <set>

using namespace cnc;
using namespace cnc::test;
using geometry::analyze;
using geometry::Edge;
using geometry::Topology;

namespace {

bool has_no_faults(const Topology& topology) {
  return topology.nonmanifold_edges.empty() && topology.misoriented_edges.empty() &&
         topology.nonmanifold_vertices.empty() && topology.degenerate.empty() &&
         topology.duplicates.empty();
}

/// Points on a bent curve, no three in a line.
std::vector<Point> bent(index_t n) {
  std::vector<Point> points;
  for (index_t k = 0; k < n; ++k) {
    const auto t = static_cast<double>(k);
    points.push_back({t, t * t, t * t * t});
  }
  return points;
}

Mesh surface(index_t vertices, std::vector<Triangle> triangles) {
  return {.name = "test", .points = bent(vertices), .triangles = std::move(triangles)};
}

/// A grid whose columns, and rows if asked, close to a ring; a torus in space in the second case.
Mesh ring_grid(index_t nx, index_t ny, bool close_rows) {
  Mesh mesh;
  mesh.name = "ring";
  const double turn = 6.283185307179586;
  for (index_t j = 0; j < ny; ++j) {
    for (index_t i = 0; i < nx; ++i) {
      const double a = turn * i / nx;
      const double b = turn * j / ny;
      const double radius = close_rows ? 3 + std::cos(b) : 1.0 + j;
      mesh.points.push_back(
          {radius * std::cos(a), radius * std::sin(a), close_rows ? std::sin(b) : 0.0});
    }
  }
  for (index_t j = 0; j + (close_rows ? 0 : 1) < ny; ++j) {
    for (index_t i = 0; i < nx; ++i) {
      const auto v = [&](index_t di, index_t dj) { return (j + dj) % ny * nx + (i + di) % nx; };
      mesh.triangles.push_back({v(0, 0), v(0, 1), v(1, 1)});
      mesh.triangles.push_back({v(0, 0), v(1, 1), v(1, 0)});
    }
  }
  return mesh;
}

/// A strip of n cells whose end is put to its beginning, turned over.
Mesh moebius(index_t n) {
  Mesh mesh;
  mesh.name = "moebius";
  mesh.points = bent(2 * n);
  for (index_t i = 0; i < n; ++i) {
    const index_t a = 2 * i;
    const index_t b = a + 1;
    const index_t c = i + 1 < n ? a + 2 : 1;
    const index_t d = i + 1 < n ? a + 3 : 0;
    mesh.triangles.push_back({a, c, b});
    mesh.triangles.push_back({b, c, d});
  }
  return mesh;
}

std::string refusal(const Mesh& mesh) {
  return message_of([&] { geometry::require_manifold(mesh, analyze(mesh)); });
}

}  // namespace

TEST_CASE("a tetrahedron is a sphere") {
  const Mesh mesh = tetrahedron();
  const Topology topology = analyze(mesh);
  CHECK(has_no_faults(topology));
  REQUIRE(topology.components.size() == 1);
  const geometry::Component& all = topology.components[0];
  CHECK(all.triangles == std::vector<index_t>{0, 1, 2, 3});
  CHECK(all.vertices == std::vector<index_t>{0, 1, 2, 3});
  CHECK(all.is_closed());
  CHECK(!all.is_disk());
  CHECK(all.euler == 2);
  CHECK(all.genus == 0);
  CHECK(topology.isolated.empty());
  CHECK(topology.edges == std::vector<Edge>{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}});
  CHECK(refusal(mesh) == "nothing");
}

TEST_CASE("a grid is a disk") {
  const Topology topology = analyze(grid(4, 3));
  CHECK(has_no_faults(topology));
  REQUIRE(topology.components.size() == 1);
  CHECK(topology.components[0].is_disk());
  CHECK(topology.components[0].genus == 0);
  // As the triangles run, from the least vertex on.
  CHECK(topology.components[0].loops ==
        std::vector<std::vector<index_t>>{{0, 1, 2, 3, 7, 11, 10, 9, 8, 4}});
  CHECK(topology.edges.size() == 12 + 12 - 1);
}

TEST_CASE("a single triangle") {
  const Topology topology = analyze(surface(5, {{3, 1, 4}}));
  REQUIRE(topology.components.size() == 1);
  CHECK(topology.components[0].loops == std::vector<std::vector<index_t>>{{1, 4, 3}});
  CHECK(topology.components[0].is_disk());
  CHECK(topology.isolated == std::vector<index_t>{0, 2});
}

TEST_CASE("an annulus has two loops, the longer one first") {
  const Mesh mesh = ring_grid(5, 3, false);
  const Topology topology = analyze(mesh);
  CHECK(has_no_faults(topology));
  REQUIRE(topology.components.size() == 1);
  const auto& loops = topology.components[0].loops;
  REQUIRE(loops.size() == 2);
  CHECK(std::set<index_t>(loops[0].begin(), loops[0].end()) ==
        std::set<index_t>{10, 11, 12, 13, 14});
  CHECK(std::set<index_t>(loops[1].begin(), loops[1].end()) == std::set<index_t>{0, 1, 2, 3, 4});
  CHECK(topology.components[0].euler == 0);
  CHECK(topology.components[0].genus == 0);
  // Length in space counts, not the number of edges: the inner ring is cut finer.
  Mesh finer = mesh;
  const Triangle first = finer.triangles[1];  // at the inner edge 0-1
  finer.triangles[1] = {first[0], first[1], 15};
  finer.triangles.push_back({15, first[1], first[2]});
  finer.points.push_back({0.5 * (finer.points[0][0] + finer.points[1][0]),
                          0.5 * (finer.points[0][1] + finer.points[1][1]), 0});
  const Topology cut = analyze(finer);
  CHECK(has_no_faults(cut));
  REQUIRE(cut.components[0].loops.size() == 2);
  CHECK(cut.components[0].loops[0].size() == 5);
  CHECK(cut.components[0].loops[1].size() == 6);
}

TEST_CASE("a torus has a handle") {
  const Topology topology = analyze(ring_grid(7, 5, true));
  CHECK(has_no_faults(topology));
  REQUIRE(topology.components.size() == 1);
  CHECK(topology.components[0].is_closed());
  CHECK(topology.components[0].euler == 0);
  CHECK(topology.components[0].genus == 1);
  CHECK(topology.edges.size() == 3 * 35);
}

TEST_CASE("a torus with a hole") {
  Mesh mesh = ring_grid(7, 5, true);
  mesh.triangles.erase(mesh.triangles.begin() + 10);
  const Topology topology = analyze(mesh);
  CHECK(has_no_faults(topology));
  CHECK(topology.components[0].loops.size() == 1);
  CHECK(topology.components[0].euler == -1);
  CHECK(topology.components[0].genus == 1);
  CHECK(!topology.components[0].is_disk());
}

TEST_CASE("two components, in the order of their least vertices") {
  const Topology topology = analyze(surface(8, {{7, 5, 6}, {1, 3, 4}, {5, 7, 2}}));
  REQUIRE(topology.components.size() == 2);
  CHECK(topology.components[0].vertices == std::vector<index_t>{1, 3, 4});
  CHECK(topology.components[0].triangles == std::vector<index_t>{1});
  CHECK(topology.components[1].vertices == std::vector<index_t>{2, 5, 6, 7});
  CHECK(topology.components[1].triangles == std::vector<index_t>{0, 2});
  CHECK(topology.components[1].loops == std::vector<std::vector<index_t>>{{2, 5, 6, 7}});
  CHECK(topology.isolated == std::vector<index_t>{0});
  CHECK(has_no_faults(topology));
}

TEST_CASE("two fans at a vertex") {
  const Mesh mesh = surface(5, {{0, 1, 2}, {2, 3, 4}});
  const Topology topology = analyze(mesh);
  CHECK(topology.nonmanifold_vertices == std::vector<index_t>{2});
  CHECK(topology.components.size() == 2);
  CHECK(topology.components[1].vertices == std::vector<index_t>{2, 3, 4});
  CHECK(refusal(mesh) ==
        "test: the triangles at vertex 3 are not one fan (1 such in all; counted from 1)");
}

TEST_CASE("two fans of one component at a vertex: each loop stays with its fan") {
  // A ring of cells of which the first and the last share the corner 0 alone.
  const Mesh mesh = surface(7, {{0, 1, 2}, {2, 1, 3}, {2, 3, 4}, {4, 3, 5}, {4, 5, 6}, {6, 5, 0}});
  const Topology topology = analyze(mesh);
  CHECK(topology.nonmanifold_vertices == std::vector<index_t>{0});
  REQUIRE(topology.components.size() == 1);
  CHECK(topology.components[0].loops ==
        std::vector<std::vector<index_t>>{{0, 1, 3, 5, 0, 6, 4, 2}});
}

TEST_CASE("two tetrahedra at a vertex") {
  Mesh mesh = tetrahedron();
  mesh.points = bent(7);
  for (const Triangle& t : corner_triangles) {
    mesh.triangles.push_back({t[0] + 3, t[1] + 3, t[2] + 3});
  }
  CHECK(analyze(mesh).nonmanifold_vertices == std::vector<index_t>{3});
}

TEST_CASE("three triangles at an edge") {
  const Mesh mesh = surface(5, {{0, 1, 2}, {1, 0, 3}, {0, 1, 4}});
  const Topology topology = analyze(mesh);
  CHECK(topology.nonmanifold_edges == std::vector<Edge>{{0, 1}});
  CHECK(topology.misoriented_edges.empty());
  CHECK(topology.nonmanifold_vertices == std::vector<index_t>{0, 1});
  CHECK(topology.components.size() == 1);
  CHECK(refusal(mesh) ==
        "test: edge 1-2 has more than two triangles (1 such in all; counted from 1)");
}

TEST_CASE("neighbours oriented against each other") {
  const Mesh mesh = surface(5, {{0, 1, 2}, {1, 2, 3}, {3, 1, 4}});
  const Topology topology = analyze(mesh);
  CHECK(topology.misoriented_edges == std::vector<Edge>{{1, 2}, {1, 3}});
  CHECK(topology.nonmanifold_edges.empty());
  CHECK(topology.nonmanifold_vertices.empty());
  CHECK(topology.components[0].loops.size() == 1);
  CHECK(topology.components[0].loops[0].size() == 5);
  CHECK(refusal(mesh) ==
        "test: the triangles at edge 2-3 are oriented against each other (2 such in all; counted "
        "from 1)");
}

TEST_CASE("a Moebius strip has one loop and cannot be oriented") {
  const Mesh mesh = moebius(6);
  const Topology topology = analyze(mesh);
  CHECK(topology.misoriented_edges == std::vector<Edge>{{0, 1}});
  CHECK(topology.nonmanifold_vertices.empty());
  REQUIRE(topology.components[0].loops.size() == 1);
  CHECK(topology.components[0].loops[0].size() == 12);
  CHECK(topology.components[0].euler == 0);
}

TEST_CASE("a triangle that is there twice") {
  for (const Triangle& again : std::vector<Triangle>{{0, 1, 2}, {2, 0, 1}, {1, 0, 2}}) {
    const Mesh mesh = surface(4, {{0, 1, 2}, {2, 1, 3}, again});
    CHECK(analyze(mesh).duplicates == std::vector<index_t>{2});
    CHECK(refusal(mesh) ==
          "test: triangle 3 has the vertices of an earlier one (1 such in all; counted from 1)");
  }
  // Both sides of one triangle, and nothing else.
  CHECK(analyze(surface(3, {{0, 1, 2}, {0, 2, 1}})).duplicates == std::vector<index_t>{1});
  CHECK(analyze(surface(3, {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}})).duplicates ==
        std::vector<index_t>{1, 2});
}

TEST_CASE("a triangle with a vertex twice") {
  const Mesh mesh = surface(5, {{0, 1, 2}, {2, 1, 1}, {3, 3, 3}, {4, 2, 4}});
  const Topology topology = analyze(mesh);
  CHECK(topology.degenerate == std::vector<index_t>{1, 2, 3});
  CHECK(topology.isolated == std::vector<index_t>{3, 4});
  CHECK(topology.components.size() == 1);
  CHECK(topology.edges.size() == 3);
  CHECK(refusal(mesh) == "test: triangle 2 names vertex 2 twice (3 such in all; counted from 1)");
}

TEST_CASE("areas of zero, in any unit and anywhere") {
  for (const double unit : {1.0, 1e-200, 1e70, 1e-310}) {
    const auto flat = [&](const Point& a, const Point& b, const Point& c) {
      Mesh mesh = surface(3, {{0, 1, 2}});
      mesh.points = {a, b, c};
      for (Point& x : mesh.points) {
        for (double& value : x) value *= unit;
      }
      CHECK(refusal(mesh) == "nothing");
      const Topology topology = analyze(mesh);
      const std::string message = message_of([&] { geometry::require_areas(mesh, topology); });
      CHECK(message == (topology.degenerate.empty()
                            ? "nothing"
                            : "test: triangle 1 has no area (1 such in all; counted from 1)"));
      return !topology.degenerate.empty();
    };
    INFO(unit);
    CHECK(flat({0, 0, 0}, {1, 1, 1}, {3, 3, 3}));
    CHECK(flat({0, 0, 0}, {0, 0, 0}, {0, 0, 0}));
    CHECK(flat({1, 2, 3}, {1, 2, 3}, {5, 1, 1}));
    CHECK(!flat({0, 0, 0}, {1, 0, 0}, {0, 1, 0}));
    CHECK(!flat({100, 100, 100}, {101, 100, 100}, {100.5, 100.0001, 100}));
    if (unit > 1e-300) {
      // Thin is not flat; a height that rounding made is.
      CHECK(flat({0, 0, 0}, {1, 0, 0}, {0.5, 1e-16, 0}));
      CHECK(!flat({0, 0, 0}, {1, 0, 0}, {0.5, 1e-14, 0}));
      CHECK(flat({0.1, 0.3, 0.7}, {0.2, 0.6, 1.4}, {0.3, 0.9, 2.1}));
    }
  }
}

TEST_CASE("corners out of range are refused") {
  CHECK(message_of([] {
          analyze(surface(3, {{0, 1, 2}, {0, 1, 3}}));
        }) == "test: triangle 2 names vertex 4 of 3");
  CHECK(message_of([] {
          analyze(surface(3, {{0, -1, 2}}));
        }) == "test: triangle 1 names vertex 0 of 3");
  CHECK(analyze(Mesh{}).components.empty());
}

TEST_CASE("the numbers of vertices and triangles change nothing") {
  const Mesh mesh = ring_grid(9, 6, true);
  std::mt19937 random(11);
  std::vector<index_t> name(mesh.points.size());
  for (std::size_t v = 0; v < name.size(); ++v) name[v] = static_cast<index_t>(v);
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::shuffle(name.begin(), name.end(), random);
    Mesh other = mesh;
    for (std::size_t v = 0; v < name.size(); ++v) {
      other.points[static_cast<std::size_t>(name[v])] = mesh.points[v];
    }
    for (Triangle& t : other.triangles) {
      for (index_t& v : t) v = name[static_cast<std::size_t>(v)];
      std::rotate(t.begin(), t.begin() + random() % 3, t.end());
    }
    std::shuffle(other.triangles.begin(), other.triangles.end(), random);
    other.triangles.pop_back();
    const Topology topology = analyze(other);
    CHECK(has_no_faults(topology));
    REQUIRE(topology.components.size() == 1);
    CHECK(topology.components[0].genus == 1);
    CHECK(topology.components[0].loops.size() == 1);
    CHECK(topology.components[0].loops[0].size() == 3);
  }
}

TEST_CASE("a hub of many triangles takes no longer") {
  // A fan of 150000 triangles, and as many at one edge: squares of that would take minutes.
  const index_t n = 150000;
  Mesh fan = surface(3, {});
  fan.points.resize(n + 2, {1, 0, 0});
  for (index_t k = 1; k <= n; ++k) fan.triangles.push_back({0, k, k + 1});
  Mesh book = fan;
  for (Triangle& t : book.triangles) t = {0, 1, t[2]};
  book.triangles[0] = {0, 1, 2};
  const std::clock_t start = std::clock();  // of the process: other tests run beside this one
  CHECK(analyze(fan).components[0].is_disk());
  const Topology topology = analyze(book);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  CHECK(topology.nonmanifold_edges == std::vector<Edge>{{0, 1}});
  CHECK(topology.components.size() == 1);
  CHECK(seconds < 15);
}
