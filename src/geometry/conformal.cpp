#include "geometry/conformal.hpp"

#include "geometry/conformal_rows.hpp"
#include "geometry/pack.hpp"
#include "geometry/point_math.hpp"
#include "geometry/spectral.hpp"
#include "model/timing.hpp"

#include <algorithm>
#include <cmath>

namespace cnc::geometry {
namespace {

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

bool has(const std::vector<index_t>& ascending, index_t i) {
  return std::binary_search(ascending.begin(), ascending.end(), i);
}

/// The requests that are of this part.
std::vector<PinRequest> requests_of(const Component& part, const ConformalOptions& options) {
  std::vector<PinRequest> own;
  for (const PinRequest& pin : options.pins)
    if (has(part.vertices, pin.vertex)) own.push_back(pin);
  return own;
}

/// The pins of a part, and whether the caller said where they are. Without places those of the projection serve, where
/// they are apart there.
std::vector<Pin> pins_of(const Mesh& mesh, const Component& part, const ConformalOptions& options,
                         const std::vector<Uv>& start, bool& placed) {
  const std::vector<PinRequest> asked = requests_of(part, options);
  placed = !asked.empty() && asked.front().place.has_value();
  std::vector<Pin> pins;
  if (placed) {
    for (const PinRequest& pin : asked)
      pins.push_back({pin.vertex, (*pin.place)[0], (*pin.place)[1]});
    return pins;
  }
  const auto [a, b] = asked.empty() ? distant_boundary_vertices(mesh, part)
                                    : std::pair(asked[0].vertex, asked[1].vertex);
  const Uv ua = start[local_vertex(part, a)], ub = start[local_vertex(part, b)];
  const double apart = distance(mesh.points[at(a)], mesh.points[at(b)]);
  if (std::hypot(ub[0] - ua[0], ub[1] - ua[1]) > 0.2 * apart)
    return {{a, ua[0], ua[1]}, {b, ub[0], ub[1]}};
  return {{a, 0, 0}, {b, apart > 0 ? apart : 1, 0}};
}

SystemBuilder<double> assemble(const Mesh& mesh, const Component& part,
                               const std::vector<index_t>& skipped, const std::vector<Pin>& pins) {
  SystemBuilder<double> builder(static_cast<index_t>(2 * part.vertices.size()),
                                {.rows = RowKind::equations});
  for (const Pin& pin : pins) {
    const auto u = static_cast<index_t>(2 * local_vertex(part, pin.vertex));
    builder.lock(u, pin.u);
    builder.lock(u + 1, pin.v);
  }
  builder.assemble(static_cast<offset_t>(part.triangles.size()),
                   [&](SystemChunk<double>& chunk, offset_t k) {
                     const index_t t = part.triangles[static_cast<std::size_t>(k)];
                     if (!has(skipped, t)) add_conformal_rows(chunk, mesh, part, t);
                   });
  return builder;
}

/// Scales the uv around the origin so that the part has as much area there as on the surface.
void take_area_of_surface(const Mesh& mesh, const Component& part, std::vector<Uv>& uv) {
  double on_surface = 0, in_plane = 0;
  for (const index_t t : part.triangles) {
    const Triangle& c = mesh.triangles[at(t)];
    const Uv &a = uv[at(c[0])], &b = uv[at(c[1])], &d = uv[at(c[2])];
    on_surface += 0.5 * norm(area_normal(mesh.points, c));
    in_plane += 0.5 * std::abs((b[0] - a[0]) * (d[1] - a[1]) - (b[1] - a[1]) * (d[0] - a[0]));
  }
  const double factor = in_plane > 0 ? std::sqrt(on_surface / in_plane) : 1;
  if (!std::isfinite(factor)) return;
  for (const index_t v : part.vertices)
    for (double& x : uv[at(v)]) x *= factor;
}

/// One part of the surface: begins with its projection and solves.
class PartMap {
 public:
  PartMap(const Mesh& mesh, const Component& part, const ConformalOptions& options,
          ConformalMap& map, Chart& chart)
      : mesh_(mesh), part_(part), map_(map), chart_(chart), start_(projection(mesh, part)) {
    if (options.method == ConformalMethod::lscm) hold_pins(options);
    store();
  }

  void solve_spectrally(SystemSolver& solver) {
    const SpectralOutcome outcome =
        map_spectrally(mesh_, part_, map_.skipped, start_, solver, map_.times);
    chart_.equations = outcome.equations;
    chart_.unknowns = outcome.unknowns;
    chart_.eigenvalue = outcome.eigenvalue;
    chart_.solves = outcome.solves;
    chart_.report = outcome.report;
    chart_.method = outcome.solves > 0 ? solver.method() : "";
    chart_.solved = true;
    store();
  }

  void solve(SystemSolver& solver) {
    WorkTimes& times = map_.times;
    double clock = detail::now();
    const auto lap = [&clock](double& part) {
      const double before = clock;
      part += (clock = detail::now()) - before;
    };
    const SystemBuilder<double> builder = assemble(mesh_, part_, map_.skipped, chart_.pins);
    lap(times.assembly);
    chart_.equations = builder.matrix().rows;
    chart_.unknowns = builder.free_variables();
    chart_.solved = true;
    chart_.solves = 1;
    if (chart_.unknowns == 0) {
      chart_.report.status = SolveStatus::converged;
      return;
    }
    const Vector<double> x = uninitialized<double>("uv", at(builder.free_variables()));
    builder.gather(all(), {x.data(), x.extent(0)});
    solver.prepare(builder.matrix(), SystemKind::least_squares);
    lap(times.set_up);
    chart_.report = solver.solve(Vector<const double>(builder.right_hand_side()), x);
    chart_.method = solver.method();
    lap(times.solving);
    // Nothing that is no number reaches a file.
    for (std::size_t i = 0; i < x.extent(0); ++i)
      if (!std::isfinite(x(i))) return;
    builder.scatter({x.data(), x.extent(0)}, all());
    store();
  }

 private:
  /// Chooses the pins, and brings the start to them.
  void hold_pins(const ConformalOptions& options) {
    chart_.pins = pins_of(mesh_, part_, options, start_, chart_.placed);
    std::vector<std::size_t> of;
    for (const Pin& pin : chart_.pins) of.push_back(local_vertex(part_, pin.vertex));
    move_towards(chart_.pins, of, start_);
    for (std::size_t k = 0; k < of.size(); ++k)
      start_[of[k]] = {chart_.pins[k].u, chart_.pins[k].v};
  }

  std::span<double> all() { return {start_.data()->data(), 2 * start_.size()}; }
  void store() {
    for (std::size_t k = 0; k < start_.size(); ++k) map_.uv[at(part_.vertices[k])] = start_[k];
  }

  const Mesh& mesh_;
  const Component& part_;
  ConformalMap& map_;
  Chart& chart_;
  std::vector<Uv> start_;  // of the part's vertices
};

}  // namespace

ConformalMap map_conformally(const Mesh& mesh, const Topology& topology,
                             const ConformalOptions& options, SystemSolver& solver) {
  require_mappable(mesh, topology, options);
  ConformalMap map;
  map.uv.assign(mesh.points.size(), Uv{0, 0});
  map.charts.resize(topology.components.size());
  map.skipped = thin_triangles(mesh, topology);
  bool go_on = true;
  for (std::size_t k = 0; k < topology.components.size(); ++k) {
    const Component& part = topology.components[k];
    Chart& chart = map.charts[k];
    PartMap work(mesh, part, options, map, chart);
    go_on = go_on && (!options.go_on || options.go_on(k));
    if (go_on && options.method == ConformalMethod::spectral)
      work.solve_spectrally(solver);
    else if (go_on)
      work.solve(solver);
    if (!chart.placed) take_area_of_surface(mesh, part, map.uv);
  }
  return map;
}

void lay_out(ConformalMap& map, const Topology& topology) {
  std::vector<std::size_t> loose;
  Box taken;
  bool any_placed = false;
  double area = 0;
  for (std::size_t k = 0; k < map.charts.size(); ++k) {
    const std::vector<index_t>& vertices = topology.components[k].vertices;
    if (!map.charts[k].placed) {
      turn_to_least_box(map.uv, vertices);
      loose.push_back(k);
    }
    const Box box = box_of(map.uv, vertices);
    area += box.width() * box.height();
    if (!map.charts[k].placed) continue;
    if (any_placed)
      taken = {std::min(taken.low_u, box.low_u), std::min(taken.low_v, box.low_v),
               std::max(taken.high_u, box.high_u), std::max(taken.high_v, box.high_v)};
    else
      taken = box;
    any_placed = true;
  }
  const double gap = 0.02 * std::sqrt(area);
  std::vector<Uv> sizes;
  for (const std::size_t k : loose) {
    const Box box = box_of(map.uv, topology.components[k].vertices);
    sizes.push_back({box.width(), box.height()});
  }
  const std::vector<Uv> corners = pack_boxes(sizes, gap);
  const Uv origin = any_placed ? Uv{taken.high_u + gap, taken.low_v} : Uv{0, 0};
  double longest = 0;
  for (std::size_t j = 0; j < loose.size(); ++j)
    for (std::size_t axis = 0; axis < 2; ++axis)
      longest = std::max(longest, corners[j][axis] + sizes[j][axis]);
  const double factor = any_placed || !(longest > 0) ? 1 : 1 / longest;
  for (std::size_t j = 0; j < loose.size(); ++j)
    for (const index_t v : topology.components[loose[j]].vertices)
      for (std::size_t axis = 0; axis < 2; ++axis) {
        double& x = map.uv[at(v)][axis];
        x = factor * (origin[axis] + corners[j][axis] + x);
      }
}

}  // namespace cnc::geometry
