#include "solve_here.hpp"
#include "support/catch.hpp"
#include "surfaces.hpp"

#include "geometry/smoothing.hpp"

#include <cnc/error.hpp>

#include <algorithm>
#include <cmath>

using namespace cnc;
using namespace cnc::geometry;
using namespace cnc::test;

namespace {

SmoothedSurface smoothed(const Mesh& mesh, const SmoothingOptions& options,
                         LeastSquaresMethod method = LeastSquaresMethod::automatic) {
  SolveHere solver(method);
  SmoothedSurface result = smooth(mesh, analyze(mesh), options, solver);
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(result.solved[k]);
    CHECK(result.reports[k].converged());
  }
  return result;
}

Mesh noisy_sphere() {
  Noise noise;
  Mesh mesh = sphere(3);
  for (Point& p : mesh.points) p = (1 + 0.03 * noise()) * p;
  return mesh;
}

/// A flat square whose inner vertices lie anywhere near their places.
Mesh irregular_square(double depth) {
  Noise noise;
  Mesh mesh = flat_grid(10);
  for (Point& p : mesh.points)
    if (p[0] > 0 && p[0] < 1 && p[1] > 0 && p[1] < 1)
      p = p + Point{0.015 * noise(), 0.015 * noise(), depth * noise()};
  return mesh;
}

double furthest(const std::vector<Point>& a, const std::vector<Point>& b) {
  double most = 0;
  for (std::size_t v = 0; v < a.size(); ++v) most = std::max(most, distance(a[v], b[v]));
  return most;
}

std::string refusal(const Mesh& mesh, const SmoothingOptions& options) {
  try {
    require_smoothable(mesh, analyze(mesh), options);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("fixed vertices keep every bit, and the others move") {
  const Mesh mesh = noisy_sphere();
  SmoothingOptions options;
  options.fixed = {0, 7, 8, 100};
  for (const SmoothingWeights weights : {SmoothingWeights::uniform, SmoothingWeights::cotangent}) {
    options.weights = weights;
    const SmoothedSurface result = smoothed(mesh, options);
    for (std::size_t v = 0; v < mesh.points.size(); ++v)
      CHECK((result.points[v] == mesh.points[v]) == std::binary_search(options.fixed.begin(),
                                                                       options.fixed.end(),
                                                                       static_cast<index_t>(v)));
  }
}

TEST_CASE("a plane stays a plane") {
  const Mesh mesh = irregular_square(0);
  for (const double fit : {0.0, 0.1, 1.0})
    for (const SmoothingWeights weights :
         {SmoothingWeights::uniform, SmoothingWeights::cotangent}) {
      SmoothingOptions options{.weights = weights, .fit = fit};
      options.fixed = boundary_vertices(analyze(mesh));
      for (const Point& p : smoothed(mesh, options).points) CHECK(p[2] == 0);
    }
}

TEST_CASE("without a fit what is fixed is filled in between") {
  const Mesh mesh = irregular_square(0.1);
  const Topology topology = analyze(mesh);
  SmoothingOptions options{.fit = 0};
  options.fixed = boundary_vertices(topology);
  const SmoothedSurface result = smoothed(mesh, options);
  CHECK(result.method != "normal-equations");  // the matrix is symmetric: solved as it is
  for (const Point& p : result.points) CHECK(std::abs(p[2]) < 1e-9);
  // With one vertex of the boundary free it is least squares, whose least is the same but there.
  options.fixed.pop_back();
  const SmoothedSurface other = smoothed(mesh, options);
  CHECK(other.method == "normal-equations");
  for (const Point& p : other.points) CHECK(std::abs(p[2]) < 1e-6);
}

TEST_CASE("cotangent weights leave a plane's vertices where they are, uniform ones do not") {
  Mesh mesh = irregular_square(0);
  for (Point& p : mesh.points) p = {p[0] - 0.5 * p[1], 0.9 * p[1], 0};  // no angle is obtuse
  SmoothingOptions options{.weights = SmoothingWeights::cotangent, .fit = 0};
  options.fixed = boundary_vertices(analyze(mesh));
  const std::vector<Point> cotangent = smoothed(mesh, options).points;
  options.weights = SmoothingWeights::uniform;
  CHECK(furthest(cotangent, mesh.points) < 1e-9);
  CHECK(furthest(smoothed(mesh, options).points, mesh.points) > 1e-3);
}

TEST_CASE("a noisy sphere gets smoother, the more so the less it is held") {
  const Mesh mesh = noisy_sphere();
  const Topology topology = analyze(mesh);
  const double first = roughness(mesh.points, topology);
  double before = first;
  for (const double fit : {1.0, 0.3, 0.1}) {
    const std::vector<Point> points = smoothed(mesh, {.fit = fit}).points;
    const double after = roughness(points, topology);
    CHECK(after < before);
    before = after;
  }
  CHECK(before < 0.7 * first);
  // It comes nearer to the sphere, too.
  const auto error = [](const std::vector<Point>& points) {
    double radius = 0, squares = 0;
    for (const Point& p : points) radius += norm(p) / static_cast<double>(points.size());
    for (const Point& p : points) squares += (norm(p) - radius) * (norm(p) - radius);
    return std::sqrt(squares / static_cast<double>(points.size()));
  };
  CHECK(error(smoothed(mesh, {.fit = 0.3}).points) < 0.6 * error(mesh.points));
}

TEST_CASE("a large fit gives the surface back") {
  const Mesh mesh = noisy_sphere();
  CHECK(furthest(smoothed(mesh, {.fit = 1e6}).points, mesh.points) < 1e-9);
}

TEST_CASE("the least is the least: the gradient is zero") {
  const Mesh mesh = irregular_square(0.05);
  const Topology topology = analyze(mesh);
  SmoothingOptions options{.fit = 0.2, .fixed = {0, 5}};
  const std::vector<Point> points = smoothed(mesh, options).points;
  const std::vector<Point> lsqr = smoothed(mesh, options, LeastSquaresMethod::lsqr).points;
  CHECK(furthest(points, lsqr) < 1e-8);
  // Means of neighbours as the manual page says, from the triangles.
  std::vector<std::vector<index_t>> around(points.size());
  const std::vector<index_t> boundary = boundary_vertices(topology);
  const auto border = [&](index_t v) {
    return std::binary_search(boundary.begin(), boundary.end(), v);
  };
  for (const auto& [a, b] : topology.edges) {
    // No edge across the square joins two vertices of the boundary but at two corners.
    index_t uses = 0;
    for (const Triangle& t : mesh.triangles)
      uses += std::count(t.begin(), t.end(), a) + std::count(t.begin(), t.end(), b) == 2;
    if (!border(a) || uses == 1) around[static_cast<std::size_t>(a)].push_back(b);
    if (!border(b) || uses == 1) around[static_cast<std::size_t>(b)].push_back(a);
  }
  const auto energy = [&](const std::vector<Point>& x) {
    double sum = 0;
    for (std::size_t v = 0; v < x.size(); ++v) {
      if (v == 0 || v == 5) continue;
      Point mean = {};
      for (const index_t w : around[v]) mean = mean + x[static_cast<std::size_t>(w)];
      const Point off = (1 / static_cast<double>(around[v].size())) * mean - x[v];
      const Point moved = x[v] - mesh.points[v];
      sum += dot(off, off) + 0.04 * dot(moved, moved);
    }
    return sum;
  };
  const double least = energy(points);
  Noise noise;
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<Point> other = points;
    for (std::size_t v = 0; v < other.size(); ++v)
      if (v != 0 && v != 5) other[v] = other[v] + 1e-3 * Point{noise(), noise(), noise()};
    CHECK(energy(other) > least);
  }
  // Along a line through the least, the energy is even.
  std::vector<Point> ahead = points, behind = points;
  for (std::size_t v = 0; v < points.size(); ++v) {
    if (v == 0 || v == 5) continue;
    const Point step = 0.1 * Point{noise(), noise(), noise()};
    ahead[v] = ahead[v] + step;
    behind[v] = behind[v] - step;
  }
  CHECK(std::abs(energy(ahead) - energy(behind)) < 1e-9 * energy(ahead));
}

TEST_CASE("a surface that nothing holds is refused") {
  Mesh mesh = sphere(1);
  CHECK(refusal(mesh, {.fit = 0}).find("sphere: nothing holds the surface: with a fit of 0") == 0);
  CHECK(refusal(mesh, {.fit = 0, .fixed = {3}}).empty());
  CHECK(refusal(mesh, {.fit = 0.1}).empty());
  CHECK(refusal(together(mesh, flat_grid(2)), {.fit = 0, .fixed = {3}})
            .find("nothing holds the surface at vertex 19") != std::string::npos);
  CHECK(refusal(mesh, {.fixed = {500}}).find("there is no vertex 501 to fix") != std::string::npos);
}

TEST_CASE(
    "vertices without a triangle stay, all of them fixed too, and ended work leaves the rest") {
  Mesh mesh = noisy_sphere();
  mesh.points.push_back({9, 9, 9});
  CHECK(smoothed(mesh, {}).points.back() == mesh.points.back());
  SmoothingOptions all;
  for (index_t v = 0; v < mesh.vertices(); ++v) all.fixed.push_back(v);
  CHECK(smoothed(mesh, all).points == mesh.points);
  SolveHere solver;
  SmoothingOptions some;
  some.go_on = [](int axis) { return axis < 1; };
  const SmoothedSurface result = smooth(mesh, analyze(mesh), some, solver);
  CHECK(result.solved == std::array<bool, 3>{true, false, false});
  for (std::size_t v = 0; v + 1 < mesh.points.size(); ++v) {
    CHECK(result.points[v][0] != mesh.points[v][0]);
    CHECK(result.points[v][1] == mesh.points[v][1]);
  }
}
