#include "support/catch.hpp"

#include "harness/mesh_systems.hpp"

#include <cnc/error.hpp>
#include <cnc/formats.hpp>
#include <cnc/solver.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <vector>

using namespace cnc;
using Catch::Matchers::ContainsSubstring;
using geometry::Mesh;

namespace {

std::vector<double> solution(const perf::NormalEquations& equations) {
  Context<> ctx("reference");
  SolveOptions options;
  options.rtol = 1e-13;
  Solver<double> solver(ctx, options);
  solver.prepare(equations.A);
  const Vector<double> x("x", equations.b.extent(0));
  const SolveReport report = solver.solve(Vector<const double>(equations.b), x);
  INFO(to_string(report.status) << ' ' << report.detail);
  REQUIRE(report.converged());
  return {x.data(), x.data() + x.extent(0)};
}

/// 3 x 3 vertices of a square, with a height for each.
Mesh square(const std::vector<double>& heights) {
  Mesh mesh = perf::terrain_mesh(3);
  for (std::size_t v = 0; v < 9; ++v) mesh.points[v][2] = heights[v];
  return mesh;
}

/// The rows of smoothing as a dense matrix, from the list of triangles.
std::vector<std::vector<double>> dense_smoothing(const Mesh& mesh, double fit) {
  const std::size_t n = mesh.points.size();
  std::vector<std::vector<double>> rows(n, std::vector<double>(n, 0)), sum = rows;
  for (const auto& triangle : mesh.triangles)
    for (const index_t v : triangle)
      for (const index_t w : triangle)
        if (v != w) rows[std::size_t(v)][std::size_t(w)] = -1;
  for (std::size_t v = 0; v < n; ++v) {
    const double valence = -std::accumulate(rows[v].begin(), rows[v].end(), 0.0);
    for (double& entry : rows[v]) entry /= valence;
    rows[v][v] = 1;
    sum[v][v] = fit * fit;
  }
  for (const auto& row : rows)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) sum[i][j] += row[i] * row[j];
  return sum;
}

}  // namespace

TEST_CASE("a terrain has n x n vertices and two triangles to a cell") {
  const Mesh mesh = perf::terrain_mesh(5);
  CHECK(mesh.vertices() == 25);
  CHECK(mesh.faces() == 32);
  CHECK_THROWS_AS(perf::terrain_mesh(2), InvalidArgument);
}

TEST_CASE("smoothing is the normal equations of means and places") {
  const Mesh mesh = square({1, 5, 2, 8, 3, 7, 4, 6, 9});
  const perf::NormalEquations equations = perf::smoothing_system(mesh, 0.5, 1);
  const auto expected = dense_smoothing(mesh, 0.5);
  REQUIRE(equations.A.rows == 9);
  std::vector<std::vector<double>> found(9, std::vector<double>(9, 0));
  for (std::size_t i = 0; i < 9; ++i)
    for (index_t k = equations.A.row_offsets(i); k < equations.A.row_offsets(i + 1); ++k)
      found[i][std::size_t(equations.A.columns(k))] = equations.A.values(k);
  for (std::size_t i = 0; i < 9; ++i) {
    CHECK(equations.b(i) == Approx(0.25 * mesh.points[i][2]));
    for (std::size_t j = 0; j < 9; ++j) CHECK(found[i][j] == Approx(expected[i][j]).margin(1e-14));
  }
}

TEST_CASE("smoothing keeps a level surface, and each of three unknowns is smoothed alone") {
  Mesh mesh = perf::terrain_mesh(6);
  for (auto& point : mesh.points) point[2] = 0.75;
  for (const double height : solution(perf::smoothing_system(mesh, 0.1, 1)))
    CHECK(height == Approx(0.75));
  for (auto& point : mesh.points) point = {point[2] + point[0], point[1], point[0] * point[1]};
  const std::vector<double> places = solution(perf::smoothing_system(mesh, 0.1, 3));
  const std::vector<double> heights = solution(perf::smoothing_system(mesh, 0.1, 1));
  REQUIRE(places.size() == 3 * heights.size());
  for (std::size_t v = 0; v < heights.size(); ++v)
    CHECK(places[3 * v + 2] == Approx(heights[v]).margin(1e-9));
}

TEST_CASE("a flat surface in space is flattened to itself, turned and with the same lengths") {
  Mesh mesh = perf::terrain_mesh(7);
  for (auto& [x, y, z] : mesh.points) {
    z = 0.5 * x - 2 * y;  // a plane
    x *= 3;
  }
  mesh.points.push_back({9, 9, 9});  // and a vertex without a triangle
  const perf::NormalEquations equations = perf::conformal_system(mesh);
  REQUIRE(equations.A.rows == 2 * (49 - 2));
  const std::vector<double> uv = solution(equations);

  // Held are corners at the two ends of the longest side, the one along x.
  std::vector<std::complex<double>> flat(49);
  for (std::size_t v = 1; v < 48; ++v) flat[v] = {uv[2 * v - 2], uv[2 * v - 1]};
  flat[48] = 3;
  const auto length = [&](std::size_t v, std::size_t w) {
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k) sum += std::pow(mesh.points[v][k] - mesh.points[w][k], 2);
    return std::sqrt(sum);
  };
  const double scale = std::abs(flat[6] - flat[0]) / length(6, 0);
  for (const auto& triangle : mesh.triangles)
    for (std::size_t c = 0; c < 3; ++c) {
      const auto v = std::size_t(triangle[c]), w = std::size_t(triangle[(c + 1) % 3]);
      CHECK(std::abs(flat[v] - flat[w]) == Approx(scale * length(v, w)).epsilon(1e-7));
    }
}

TEST_CASE("a conformal map comes in full blocks of two") {
  const perf::NormalEquations equations = perf::conformal_system(perf::terrain_mesh(9));
  const Structure structure = analyze(equations.A);
  CHECK(structure.pattern_symmetric);
  CHECK(structure.asymmetry <= 1e-12);
  REQUIRE(structure.occupancy.front().block_size == 2);
  CHECK(structure.occupancy.front().density == 1);
}

TEST_CASE("systems refuse what has no solution") {
  Mesh mesh = perf::terrain_mesh(4);
  CHECK_THROWS_AS(perf::smoothing_system(mesh, 0.1, 2), InvalidArgument);
  CHECK_THROWS_AS(perf::smoothing_system(mesh, 0, 1), InvalidArgument);
  mesh.points[5] = mesh.points[4];
  CHECK_THROWS_AS(perf::conformal_system(mesh), InvalidArgument);
  Mesh none;
  none.name = "none";
  CHECK_THROWS_WITH(perf::conformal_system(none), ContainsSubstring("no vertex is free"));
  mesh.triangles.push_back({0, 1, 99});
  CHECK_THROWS_AS(perf::smoothing_system(mesh, 0.1, 1), InvalidArgument);
}
