#include "solve_here.hpp"
#include "support/catch.hpp"
#include "surfaces.hpp"

#include "geometry/conformal.hpp"

#include <cnc/error.hpp>

#include <cmath>
#include <numbers>

using namespace cnc;
using namespace cnc::geometry;
using namespace cnc::test;

namespace {

struct Mapped {
  Topology topology;
  ConformalMap map;
  Distortion distortion;
};

Mapped mapped(const Mesh& mesh, ConformalMethod method) {
  SolveHere solver(LeastSquaresMethod::automatic, 1e-8);
  Mapped result;
  result.topology = analyze(mesh);
  ConformalOptions options;
  options.method = method;
  result.map = map_conformally(mesh, result.topology, options, solver);
  result.distortion = measure_distortion(mesh, result.map.uv);
  return result;
}

/// Twice the area times (s1 - s2)^2, over the mean square distance of the boundary from its middle.
double quotient(const Mesh& mesh, const Component& part, const std::vector<Uv>& uv) {
  const auto at = [](index_t v) { return static_cast<std::size_t>(v); };
  double energy = 0;
  for (const index_t t : part.triangles) {
    const Triangle& c = mesh.triangles[at(t)];
    const Stretch s = stretch_of(mesh.points[at(c[0])], mesh.points[at(c[1])],
                                 mesh.points[at(c[2])], uv[at(c[0])], uv[at(c[1])], uv[at(c[2])]);
    const double bent = s.flipped ? s.s1 + s.s2 : s.s1 - s.s2;
    energy += norm(area_normal(mesh.points, c)) * bent * bent;
  }
  double length = 0, middle[2] = {0, 0}, square = 0;
  for (const int pass : {0, 1})
    for (const std::vector<index_t>& loop : part.loops)
      for (std::size_t k = 0; k < loop.size(); ++k) {
        const index_t a = loop[k], b = loop[(k + 1) % loop.size()];
        const double half = 0.5 * distance(mesh.points[at(a)], mesh.points[at(b)]);
        for (const index_t v : {a, b})
          for (std::size_t axis = 0; axis < 2; ++axis) {
            if (pass == 0) middle[axis] += half * uv[at(v)][axis];
            const double off = uv[at(v)][axis] - middle[axis] / length;
            if (pass == 1) square += half * off * off;
          }
        if (pass == 0) length += 2 * half;
      }
  return energy / (square / length);
}

Mesh wave(index_t n) {
  return grid(n, n, [](double s, double t) {
    return Point{s, t, 0.3 * std::sin(5 * s) * std::cos(4 * t)};
  });
}

}  // namespace

TEST_CASE("what can be laid flat is, without pins") {
  const auto cylinder = [](double s, double t) {
    return Point{std::cos(3.5 * s), std::sin(3.5 * s), 2 * t};
  };
  for (const Mesh& mesh : {flat_grid(9), grid(16, 8, cylinder)}) {
    const Mapped result = mapped(mesh, ConformalMethod::spectral);
    CHECK(result.map.charts[0].report.converged());
    CHECK(result.map.charts[0].pins.empty());
    CHECK(result.distortion.flipped == 0);
    CHECK(result.distortion.angle_max - 1 < 1e-5);
    CHECK(result.distortion.area_max - 1 < 1e-4);
  }
}

TEST_CASE("the eigenvalue is the energy that is left, and the least there is") {
  const Mesh mesh = wave(14);
  const Mapped result = mapped(mesh, ConformalMethod::spectral);
  const Chart& chart = result.map.charts[0];
  REQUIRE(chart.report.converged());
  CHECK(chart.solves >= 2);
  const Component& part = result.topology.components[0];
  const double least = quotient(mesh, part, result.map.uv);
  CHECK(std::abs(chart.eigenvalue / least - 1) < 1e-6);
  CHECK(least < quotient(mesh, part, mapped(mesh, ConformalMethod::lscm).map.uv));
  Noise noise;
  for (int trial = 0; trial < 30; ++trial) {
    std::vector<Uv> other = result.map.uv;
    for (Uv& p : other)
      for (double& x : p) x += 0.02 * noise();
    CHECK(quotient(mesh, part, other) > least);
    // A smooth change, which costs little energy.
    const double a = 3 * noise(), b = 3 * noise();
    for (std::size_t v = 0; v < other.size(); ++v)
      other[v] = {result.map.uv[v][0] + 0.1 * std::sin(a * result.map.uv[v][1]),
                  result.map.uv[v][1] + 0.1 * std::sin(b * result.map.uv[v][0])};
    CHECK(quotient(mesh, part, other) > 0.998 * least);
  }
}

TEST_CASE("without pins areas are kept better than with two") {
  const Mesh mesh = wave(24);
  const Mapped free = mapped(mesh, ConformalMethod::spectral),
               held = mapped(mesh, ConformalMethod::lscm);
  CHECK(free.distortion.flipped == 0);
  CHECK(free.distortion.area_mean < held.distortion.area_mean);
}

TEST_CASE("parts are mapped without pins each on its own, and pins refused") {
  const Mesh mesh = together(wave(6), flat_grid(3));
  Mapped result = mapped(mesh, ConformalMethod::spectral);
  lay_out(result.map, result.topology);
  for (const Chart& chart : result.map.charts) CHECK(chart.report.converged());
  CHECK(result.distortion.area_mean < 1.3);
  ConformalOptions options;
  options.method = ConformalMethod::spectral;
  options.pins = {{0, {}}, {1, {}}};
  CHECK_THROWS_AS(require_mappable(mesh, result.topology, options), InvalidArgument);
}

TEST_CASE("a bag with a small mouth is mapped without pins") {
  const Mesh bag = grid(16, 16, [](double s, double t) {
    const double x = 2 * s - 1, y = 2 * t - 1, r = std::max(std::abs(x), std::abs(y));
    const double angle = 2.8 * r, length = std::max(std::hypot(x, y), 1e-300);
    return Point{std::sin(angle) * x / length, std::sin(angle) * y / length, -std::cos(angle)};
  });
  const Mapped result = mapped(bag, ConformalMethod::spectral);
  CHECK(result.map.charts[0].report.converged());
  CHECK(result.distortion.flipped == 0);
  CHECK(result.distortion.angle_mean < 1.4);
}
