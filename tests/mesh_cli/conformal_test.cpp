#include "solve_here.hpp"
#include "support/catch.hpp"
#include "surfaces.hpp"

#include "geometry/conformal.hpp"
#include "geometry/pack.hpp"
#include "geometry/unit_size.hpp"

#include <cnc/error.hpp>

#include <cmath>
#include <numbers>

using namespace cnc;
using namespace cnc::geometry;
using namespace cnc::test;

namespace {

constexpr double pi = std::numbers::pi;

struct Mapped {
  Topology topology;
  ConformalMap map;
  Distortion distortion;
};

Mapped mapped(const Mesh& mesh, const ConformalOptions& options = {},
              LeastSquaresMethod method = LeastSquaresMethod::automatic) {
  SolveHere solver(method);
  Mapped result;
  result.topology = analyze(mesh);
  result.map = map_conformally(mesh, result.topology, options, solver);
  result.distortion = measure_distortion(mesh, result.map.uv, result.map.skipped);
  return result;
}

void check_isometric(const Mapped& result) {
  for (const Chart& chart : result.map.charts) CHECK(chart.report.converged());
  CHECK(result.distortion.flipped == 0);
  CHECK(result.distortion.collapsed == 0);
  CHECK(result.distortion.angle_max - 1 < 1e-6);
  CHECK(result.distortion.area_max - 1 < 1e-6);
}

/// A cap around the pole of the unit sphere, down to this angle from it.
Mesh cap(index_t n, double angle) {
  return grid(n, n, [angle](double s, double t) {
    const double x = 2 * s - 1, y = 2 * t - 1, r = std::max(std::abs(x), std::abs(y));
    const double length = std::hypot(x, y), polar = r * angle;
    if (length == 0) return Point{0, 0, 1};
    return Point{std::sin(polar) * x / length, std::sin(polar) * y / length, std::cos(polar)};
  });
}

std::string refusal(const Mesh& mesh, const ConformalOptions& options = {}) {
  try {
    require_mappable(mesh, analyze(mesh), options);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

bool says(const std::string& text, const std::string& part) {
  CAPTURE(text, part);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a plane is mapped to itself, moved, turned and scaled") {
  Noise noise;
  Mesh mesh = flat_grid(12);
  for (Point& p : mesh.points)
    if (p[0] > 0 && p[0] < 1 && p[1] > 0 && p[1] < 1) {
      p[0] += 0.02 * noise();
      p[1] += 0.02 * noise();
    }
  // Turned in space, so that no axis is special.
  for (Point& p : mesh.points) p = {0.6 * p[0] + 0.2, 0.8 * p[0] - 1, p[1]};
  check_isometric(mapped(mesh));
}

TEST_CASE("what can be unrolled is unrolled") {
  const auto cylinder = [](double s, double t) {
    return Point{std::cos(1.2 * pi * s), std::sin(1.2 * pi * s), 2 * t};
  };
  const auto cone = [](double s, double t) {
    const double r = 0.3 + t, a = 1.3 * pi * s;
    return Point{r * std::cos(a), r * std::sin(a), -0.7 * r};
  };
  check_isometric(mapped(grid(20, 10, cylinder)));
  check_isometric(mapped(grid(24, 8, cone)));
}

TEST_CASE("lsqr, cgnr and the normal equations find the same map") {
  const Mesh mesh = cap(8, 0.5 * pi);
  const Mapped normal = mapped(mesh, {}, LeastSquaresMethod::normal_equations);
  for (const LeastSquaresMethod method : {LeastSquaresMethod::lsqr, LeastSquaresMethod::cgnr}) {
    const Mapped other = mapped(mesh, {}, method);
    REQUIRE(other.map.charts[0].report.converged());
    for (std::size_t v = 0; v < mesh.points.size(); ++v)
      for (std::size_t k = 0; k < 2; ++k)
        CHECK(std::abs(other.map.uv[v][k] - normal.map.uv[v][k]) < 1e-6);
  }
}

TEST_CASE("a hemisphere is mapped with little distortion of angles and nothing flipped") {
  const Mapped coarse = mapped(cap(8, 0.5 * pi)), fine = mapped(cap(32, 0.5 * pi));
  CHECK(fine.distortion.flipped == 0);
  CHECK(fine.distortion.angle_mean < 1.05);
  // The exact map is conformal: what is left is of the triangles.
  CHECK(fine.distortion.angle_mean < coarse.distortion.angle_mean);
}

TEST_CASE("pins are kept exactly, and their chart stays where they are") {
  const Mesh mesh = cap(10, 1.0);
  ConformalOptions options;
  options.pins = {{0, Uv{0.1, 0.7}}, {10, Uv{3.3, -0.2}}, {60, Uv{1.0 / 3, 1e-3}}};
  Mapped result = mapped(mesh, options);
  lay_out(result.map, result.topology);
  for (const PinRequest& pin : options.pins)
    CHECK(result.map.uv[static_cast<std::size_t>(pin.vertex)] == *pin.place);
  CHECK(result.map.charts[0].placed);
  CHECK(result.map.charts[0].report.converged());
}

TEST_CASE("pins without places hold these vertices") {
  ConformalOptions options;
  options.pins = {{3, {}}, {77, {}}};
  const Mapped result = mapped(flat_grid(10), options);
  REQUIRE(result.map.charts[0].pins.size() == 2);
  CHECK(result.map.charts[0].pins[0].vertex == 3);
  CHECK(result.map.charts[0].pins[1].vertex == 77);
  check_isometric(result);
}

TEST_CASE("a surface all of whose vertices are pinned has nothing to solve") {
  Mesh mesh = flat_grid(1);
  mesh.triangles.pop_back();  // its last vertex is then of no triangle
  ConformalOptions options;
  options.pins = {{0, Uv{0, 0}}, {1, Uv{2, 0}}, {3, Uv{2, 2}}};
  const Mapped result = mapped(mesh, options);
  CHECK(result.map.charts[0].report.converged());
  CHECK(result.map.uv[3] == Uv{2, 2});
}

TEST_CASE("parts are laid out side by side within the unit square") {
  Mesh mesh = together(together(flat_grid(6), cap(6, 1.2)), flat_grid(2));
  for (std::size_t v = 0; v < 49; ++v) mesh.points[v][2] += 5;
  Mapped result = mapped(mesh);
  lay_out(result.map, result.topology);
  REQUIRE(result.topology.components.size() == 3);
  std::vector<Box> boxes;
  for (const Component& part : result.topology.components)
    boxes.push_back(box_of(result.map.uv, part.vertices));
  for (std::size_t a = 0; a < 3; ++a) {
    CHECK(boxes[a].low_u >= -1e-12);
    CHECK(boxes[a].low_v >= -1e-12);
    CHECK(boxes[a].high_u <= 1 + 1e-12);
    CHECK(boxes[a].high_v <= 1 + 1e-12);
    for (std::size_t b = 0; b < a; ++b) {
      const bool apart = boxes[a].low_u > boxes[b].high_u || boxes[b].low_u > boxes[a].high_u ||
                         boxes[a].low_v > boxes[b].high_v || boxes[b].low_v > boxes[a].high_v;
      CHECK(apart);
    }
  }
  CHECK(result.distortion.area_mean < 1.2);  // charts have the areas of their parts
}

TEST_CASE("boxes of any sizes are packed without overlap in about a square") {
  Noise noise;
  std::vector<Uv> sizes;
  double area = 0;
  for (int k = 0; k < 60; ++k) {
    sizes.push_back({1.2 + noise(), 1.1 + noise()});
    area += sizes.back()[0] * sizes.back()[1];
  }
  const double gap = 0.05;
  const std::vector<Uv> corner = pack_boxes(sizes, gap);
  double width = 0, height = 0;
  for (std::size_t a = 0; a < sizes.size(); ++a) {
    width = std::max(width, corner[a][0] + sizes[a][0]);
    height = std::max(height, corner[a][1] + sizes[a][1]);
    for (std::size_t b = 0; b < a; ++b) {
      bool apart = false;
      for (std::size_t k = 0; k < 2; ++k)
        apart = apart || corner[a][k] >= corner[b][k] + sizes[b][k] + 0.99 * gap ||
                corner[b][k] >= corner[a][k] + sizes[a][k] + 0.99 * gap;
      CHECK(apart);
    }
  }
  CHECK(width * height < 2 * area);
}

TEST_CASE("a chart is turned to its least box") {
  const double a = 0.4, c = std::cos(a), s = std::sin(a);
  std::vector<Uv> uv = {{0, 0}, {3 * c, 3 * s}, {3 * c - s, 3 * s + c}, {-s, c}, {c, s + 0.3}};
  turn_to_least_box(uv, std::vector<index_t>{0, 1, 2, 3, 4});
  const Box box = box_of(uv, std::vector<index_t>{0, 1, 2, 3, 4});
  CHECK(std::abs(box.width() - 3) < 1e-12);
  CHECK(std::abs(box.height() - 1) < 1e-12);
  CHECK(std::abs(box.low_u) + std::abs(box.low_v) < 1e-12);
}

TEST_CASE("distortion is what it says") {
  const Mesh mesh = flat_grid(3);
  std::vector<Uv> uv;
  for (const Point& p : mesh.points) uv.push_back({2 * p[0], 0.5 * p[1]});
  Distortion d = measure_distortion(mesh, uv);
  for (const double angle : {d.angle_mean, d.angle_99, d.angle_max})
    CHECK(std::abs(angle - 4) < 1e-12);
  CHECK(std::abs(d.area_max - 1) < 1e-12);
  CHECK(d.flipped == 0);
  for (Uv& p : uv) p[0] = -p[0];
  CHECK(measure_distortion(mesh, uv).flipped == mesh.faces());
  // Half of the area twice as large: a is 4/3 and 2/3.
  for (std::size_t v = 0; v < uv.size(); ++v) {
    const double x = mesh.points[v][0];
    uv[v] = {x, mesh.points[v][1]};
  }
  const Mesh two = grid(2, 1, [](double s, double t) { return Point{s, t, 0}; });
  const std::vector<Uv> wider = {{0, 0}, {0.5, 0}, {1.5, 0}, {0, 1}, {0.5, 1}, {1.5, 1}};
  d = measure_distortion(two, wider);
  CHECK(std::abs(d.area_mean - 0.5 * (4.0 / 3 + 3.0 / 2)) < 1e-12);
  CHECK(std::abs(d.area_max - 1.5) < 1e-12);
  const std::vector<Uv> line(6, Uv{1, 1});
  CHECK(measure_distortion(two, line).collapsed == two.faces());
}

TEST_CASE("size and place of a surface do not matter") {
  const Mesh mesh = cap(9, 1.3);
  for (const double size : {1e-60, 1e60}) {
    Mesh other = mesh;
    for (Point& p : other.points) p = size * (p + Point{1, 2, 3});
    const Mesh unit = scaled_to_unit(other, placement_of(other.points));
    const Mapped a = mapped(mesh), b = mapped(unit);
    CHECK(std::abs(a.distortion.angle_mean - b.distortion.angle_mean) < 1e-7);
    CHECK(std::abs(a.distortion.area_mean - b.distortion.area_mean) < 1e-6);
  }
}

TEST_CASE("what has no map is refused by name") {
  says(refusal(sphere(1)), "sphere: closed surface: cut it first");
  says(refusal(together(flat_grid(1), sphere(0))), "(part 2 of 2, that of vertex 5");
  // A torus with a square taken out.
  Mesh torus;
  torus.name = "torus";
  const index_t n = 8;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) {
      const double a = 2 * pi * i / n, b = 2 * pi * j / n, r = 2 + std::cos(b);
      torus.points.push_back({r * std::cos(a), r * std::sin(a), std::sin(b)});
      const index_t p = j * n + i, q = j * n + (i + 1) % n;
      const index_t u = (j + 1) % n * n + i, v = (j + 1) % n * n + (i + 1) % n;
      if (i + j == 0) continue;
      torus.triangles.push_back({p, q, v});
      torus.triangles.push_back({p, v, u});
    }
  says(refusal(torus), "torus: surface of genus 1: cut it open along its handles first");
}

TEST_CASE("pins that hold nothing, or not what they should, are refused") {
  const Mesh mesh = flat_grid(2);
  const auto with = [&](std::vector<PinRequest> pins) {
    ConformalOptions options;
    options.pins = std::move(pins);
    return refusal(mesh, options);
  };
  says(with({{0, {}}}), "one pin does not hold a surface");
  says(with({{0, {}}, {9, {}}}), "there is no vertex 10 to pin: vertices are 1 to 9");
  says(with({{4, {}}, {4, {}}}), "vertex 5 is pinned twice");
  says(with({{0, Uv{1, 2}}, {3, Uv{0, 0}}, {8, Uv{1, 2}}}), "vertices 1 and 9 are at one place");
  says(with({{0, Uv{1, 2}}, {8, {}}}), "give all pins a place");
  says(with({{0, Uv{NAN, 2}}, {8, Uv{0, 0}}}), "is at no finite place");
  CHECK(with({{0, {}}, {8, {}}}).empty());
}

TEST_CASE("triangles without an area are left out where the rest holds together") {
  // On the inner edge between vertices 5 and 10 one side has a vertex more, and a triangle without area between.
  Mesh mesh = flat_grid(3);
  const index_t a = 5, b = 10, m = mesh.vertices();
  mesh.points.push_back(0.5 * (mesh.points[5] + mesh.points[10]));
  for (Triangle& t : mesh.triangles)
    if (t == Triangle{a, b, 9}) t = {a, m, 9};
  mesh.triangles.push_back({m, b, 9});
  mesh.triangles.push_back({a, b, m});
  const Mapped result = mapped(mesh);
  CHECK(result.map.skipped == std::vector<index_t>{mesh.faces() - 1});
  check_isometric(result);

  Mesh line = flat_grid(1);
  line.points = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}};
  says(refusal(line), "triangle 1 has no area, and without such triangles (2 in all");
  // A strip whose middle square is a line: its ends would be free to turn.
  Mesh strip = grid(3, 1, [](double s, double t) { return Point{s, t, 0}; });
  strip.points[6] = strip.points[1] + Point{1e-14, 0, 0};
  says(refusal(strip), "has no area, and without such triangles");
}

TEST_CASE("vertices without a triangle are at zero, and do no harm") {
  Mesh mesh = flat_grid(3);
  mesh.points.insert(mesh.points.begin(), Point{100, 100, 100});
  for (Triangle& t : mesh.triangles)
    for (index_t& v : t) ++v;
  const Mapped result = mapped(mesh);
  CHECK(result.map.uv[0] == Uv{0, 0});
  check_isometric(result);
}

TEST_CASE("work that is ended leaves the projection of what was not solved") {
  const Mesh mesh = together(flat_grid(4), cap(4, 0.5));
  ConformalOptions options;
  options.go_on = [](std::size_t part) { return part == 0; };
  const Mapped result = mapped(mesh, options);
  CHECK(result.map.charts[0].solved);
  CHECK_FALSE(result.map.charts[1].solved);
  CHECK(result.distortion.flipped == 0);
}
