#include "geometry/smoothing.hpp"

#include "geometry/neighbours.hpp"
#include "geometry/point_math.hpp"
#include "model/timing.hpp"

#include <cnc/error.hpp>
#include <cnc/system_builder.hpp>

#include <algorithm>
#include <cmath>

namespace cnc::geometry {
namespace {

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }
std::string number(index_t i) { return std::to_string(offset_t{i} + 1); }

bool has(const std::vector<index_t>& ascending, index_t i) {
  return std::binary_search(ascending.begin(), ascending.end(), i);
}

/// Half the sum of the cotangents of the angles that face each edge; what would push is taken as nothing.
std::vector<double> cotangents(const Mesh& mesh, const Topology& topology) {
  std::vector<double> weight(topology.edges.size(), 0);
  for (const Triangle& c : mesh.triangles) {
    const double area = norm(area_normal(mesh.points, c));
    for (std::size_t k = 0; k < 3; ++k) {
      const index_t a = c[k], b = c[(k + 1) % 3], d = c[(k + 2) % 3];
      const double cosine =
          dot(mesh.points[at(a)] - mesh.points[at(d)], mesh.points[at(b)] - mesh.points[at(d)]);
      const double cotangent = cosine / area;
      // A triangle without an area has no angles to speak of.
      if (std::abs(cotangent) < 1e8) weight[edge_between(topology, a, b)] += 0.5 * cotangent;
    }
  }
  for (double& w : weight) w = std::max(w, 0.0);
  return weight;
}

std::vector<double> inverse_lengths(const Mesh& mesh, const Topology& topology) {
  std::vector<double> weight;
  weight.reserve(topology.edges.size());
  for (const auto& [a, b] : topology.edges) {
    const double length = distance(mesh.points[at(a)], mesh.points[at(b)]);
    weight.push_back(length > 1e-12 ? 1 / length : 1e12);
  }
  return weight;
}

Neighbours neighbours_of(const Mesh& mesh, const Topology& topology, SmoothingWeights weights) {
  if (weights == SmoothingWeights::cotangent)
    return {topology, mesh.vertices(), cotangents(mesh, topology), inverse_lengths(mesh, topology)};
  const std::vector<double> ones(topology.edges.size(), 1.0);
  return {topology, mesh.vertices(), ones, ones};
}

double sum_of(std::span<const Neighbours::Neighbour> neighbours) {
  double sum = 0;
  for (const auto& neighbour : neighbours) sum += neighbour.weight;
  return sum;
}

/// The vertices that do not move: those fixed and those without a triangle. Ascending.
std::vector<index_t> held(const Topology& topology, const SmoothingOptions& options) {
  std::vector<index_t> all;
  std::set_union(options.fixed.begin(), options.fixed.end(), topology.isolated.begin(),
                 topology.isolated.end(), std::back_inserter(all));
  return all;
}

class Smoothing {
 public:
  Smoothing(const Mesh& mesh, const Topology& topology, const SmoothingOptions& options)
      : mesh_(mesh),
        options_(options),
        neighbours_(neighbours_of(mesh, topology, options.weights)),
        held_(held(topology, options)),
        symmetric_(options.fit == 0 && boundary_is_held(topology)) {}

  SystemKind kind() const {
    return symmetric_ ? SystemKind::positive_definite : SystemKind::least_squares;
  }

  SystemBuilder<double> assemble() const {
    SystemBuilder<double> builder(
        mesh_.vertices(),
        {.rows = symmetric_ ? RowKind::variables : RowKind::equations, .right_hand_sides = 3});
    for (const index_t v : held_) builder.lock(v, std::span<const double>(mesh_.points[at(v)]));
    builder.assemble(mesh_.vertices(), [&](SystemChunk<double>& chunk, offset_t i) {
      const auto v = static_cast<index_t>(i);
      if (has(held_, v)) return;
      if (symmetric_)
        add_symmetric(chunk, v);
      else
        add_equations(chunk, v);
    });
    return builder;
  }

 private:
  bool boundary_is_held(const Topology& topology) const {
    const std::vector<index_t> boundary = boundary_vertices(topology);
    return std::includes(held_.begin(), held_.end(), boundary.begin(), boundary.end());
  }

  /// Times the sum of the weights: w_ij = w_ji.
  void add_symmetric(SystemChunk<double>& chunk, index_t v) const {
    const auto neighbours = neighbours_.of(v);
    const double sum = sum_of(neighbours);
    for (const auto& neighbour : neighbours)
      if (neighbour.weight > 0) chunk.add(v, neighbour.vertex, -neighbour.weight);
    chunk.add(v, v, sum > 0 ? sum : 1);
    if (!(sum > 0))  // held by nobody: it stays
      for (int k = 0; k < 3; ++k)
        chunk.add_right_hand_side(v, mesh_.points[at(v)][static_cast<std::size_t>(k)], k);
  }

  void add_equations(SystemChunk<double>& chunk, index_t v) const {
    const auto neighbours = neighbours_.of(v);
    const double sum = sum_of(neighbours);
    if (sum > 0) {
      chunk.begin_row();
      for (const auto& neighbour : neighbours)
        chunk.coefficient(neighbour.vertex, neighbour.weight / sum);
      chunk.coefficient(v, -1);
      chunk.end_row();
    }
    const double fit = options_.fit > 0 ? options_.fit : sum > 0 ? 0 : 1;
    if (fit == 0) return;
    chunk.begin_row();
    chunk.coefficient(v, fit);
    for (int k = 0; k < 3; ++k)
      chunk.right_hand_side(fit * mesh_.points[at(v)][static_cast<std::size_t>(k)], k);
    chunk.end_row();
  }

  const Mesh& mesh_;
  const SmoothingOptions& options_;
  Neighbours neighbours_;
  std::vector<index_t> held_;
  bool symmetric_;
};

bool is_finite(const Vector<double>& x) {
  return std::all_of(x.data(), x.data() + x.extent(0), [](double v) { return std::isfinite(v); });
}

void solve_axes(const SystemBuilder<double>& builder, const SmoothingOptions& options,
                SystemSolver& solver, SmoothedSurface& result) {
  std::vector<double> all(result.points.size());
  const Vector<double> x = uninitialized<double>("x", at(builder.free_variables()));
  for (int axis = 0; axis < 3; ++axis) {
    const auto k = static_cast<std::size_t>(axis);
    if (options.go_on && !options.go_on(axis)) return;
    for (std::size_t v = 0; v < all.size(); ++v) all[v] = result.points[v][k];
    builder.gather(all, {x.data(), x.extent(0)});
    result.reports[k] = solver.solve(Vector<const double>(builder.right_hand_side(axis)), x);
    result.solved[k] = true;
    if (!is_finite(x)) continue;  // nothing that is no number reaches a file
    builder.scatter({x.data(), x.extent(0)}, all, axis);
    for (std::size_t v = 0; v < all.size(); ++v) result.points[v][k] = all[v];
  }
}

}  // namespace

SmoothedSurface smooth(const Mesh& mesh, const Topology& topology, const SmoothingOptions& options,
                       SystemSolver& solver) {
  require_smoothable(mesh, topology, options);
  SmoothedSurface result;
  result.points = mesh.points;
  double clock = detail::now();
  const auto lap = [&clock](double& seconds) {
    const double before = clock;
    seconds += (clock = detail::now()) - before;
  };
  const Smoothing smoothing(mesh, topology, options);
  const SystemBuilder<double> builder = smoothing.assemble();
  lap(result.times.assembly);
  result.equations = builder.matrix().rows;
  result.unknowns = builder.free_variables();
  if (result.unknowns == 0) {
    for (SolveReport& report : result.reports) report.status = SolveStatus::converged;
    result.solved.fill(true);
    return result;
  }
  solver.prepare(builder.matrix(), smoothing.kind());
  result.method = solver.method();
  lap(result.times.set_up);
  solve_axes(builder, options, solver, result);
  lap(result.times.solving);
  return result;
}

void require_smoothable(const Mesh& mesh, const Topology& topology,
                        const SmoothingOptions& options) {
  require_manifold(mesh, topology);
  require(options.fit >= 0 && std::isfinite(options.fit), "the fit must be a finite number >= 0");
  for (const index_t v : options.fixed)
    if (v < 0 || v >= mesh.vertices())
      throw InvalidArgument(mesh.name + ": there is no vertex " + number(v) +
                            " to fix: vertices are 1 to " + std::to_string(mesh.vertices()));
  if (options.fit > 0) return;
  for (const Component& part : topology.components) {
    const bool is_held = std::any_of(part.vertices.begin(), part.vertices.end(),
                                     [&](index_t v) { return has(options.fixed, v); });
    if (!is_held)
      throw InvalidArgument(mesh.name + ": nothing holds the surface" +
                            (topology.components.size() > 1
                                 ? " at vertex " + number(part.vertices.front())
                                 : std::string()) +
                            ": with a fit of 0 each part needs a fixed vertex");
  }
}

std::vector<index_t> boundary_vertices(const Topology& topology) {
  std::vector<index_t> all;
  for (const Component& part : topology.components)
    for (const std::vector<index_t>& loop : part.loops)
      all.insert(all.end(), loop.begin(), loop.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

double roughness(const std::vector<Point>& points, const Topology& topology) {
  const std::vector<double> ones(topology.edges.size(), 1.0);
  const Neighbours neighbours(topology, static_cast<index_t>(points.size()), ones, ones);
  double length = 0, squares = 0, vertices = 0;
  for (const auto& [a, b] : topology.edges) length += distance(points[at(a)], points[at(b)]);
  for (std::size_t v = 0; v < points.size(); ++v) {
    const auto around = neighbours.of(static_cast<index_t>(v));
    if (around.empty()) continue;
    Point mean = {};
    for (const auto& neighbour : around) mean = mean + points[at(neighbour.vertex)];
    const Point apart = (1 / static_cast<double>(around.size())) * mean - points[v];
    squares += dot(apart, apart);
    ++vertices;
  }
  if (!(length > 0)) return 0;
  return std::sqrt(squares / vertices) / (length / static_cast<double>(topology.edges.size()));
}

}  // namespace cnc::geometry
