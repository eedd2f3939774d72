#include "geometry/topology.hpp"

#include "geometry/boundary_loops.hpp"
#include "geometry/edge_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cnc::geometry {

namespace {

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

Point difference(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

double length(const Point& a) { return std::hypot(a[0], a[1], a[2]); }

Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// Whether rounding of the coordinates alone may have given the triangle its height. Coordinates are
/// taken in units of the largest one, so that nothing over- or underflows.
bool is_flat(const Mesh& mesh, const Triangle& c) {
  double unit = 0;
  std::array<Point, 3> x;
  for (std::size_t k = 0; k < 3; ++k) {
    x[k] = mesh.points[at(c[k])];
    for (const double value : x[k]) unit = std::max(unit, std::abs(value));
  }
  if (unit == 0) return true;
  for (Point& p : x) {
    for (double& value : p) value /= unit;
  }
  const Point u = difference(x[1], x[0]);
  const Point v = difference(x[2], x[0]);
  const double longest = std::max({length(u), length(v), length(difference(u, v))});
  constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();
  return length(cross(u, v)) <= rounding * longest;  // twice the area = height * longest
}

std::vector<index_t> find_degenerate(const EdgeTable& table) {
  std::vector<index_t> found;
  for (index_t t = 0; t < table.mesh.faces(); ++t) {
    if (!table.has(t) || is_flat(table.mesh, table.mesh.triangles[at(t)])) found.push_back(t);
  }
  return found;
}

/// Triangles on the same three vertices share each of their edges.
std::vector<index_t> find_duplicates(const EdgeTable& table) {
  std::vector<index_t> found;
  std::vector<std::array<index_t, 2>> sides;  // third vertex and triangle
  for (index_t e = 0; e < static_cast<index_t>(table.edges.size()); ++e) {
    if (table.uses(e).size() < 2) continue;
    sides.clear();
    for (const index_t half : table.uses(e)) sides.push_back({table.opposite(half), half / 3});
    std::sort(sides.begin(), sides.end());
    for (std::size_t k = 1; k < sides.size(); ++k) {
      if (sides[k][0] == sides[k - 1][0]) found.push_back(sides[k][1]);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void find_edge_faults(const EdgeTable& table, Topology& topology) {
  for (index_t e = 0; e < static_cast<index_t>(table.edges.size()); ++e) {
    const std::span<const index_t> uses = table.uses(e);
    if (uses.size() > 2) {
      topology.nonmanifold_edges.push_back(table.edges[at(e)]);
    } else if (uses.size() == 2 && table.tail(uses[0]) == table.tail(uses[1])) {
      topology.misoriented_edges.push_back(table.edges[at(e)]);
    }
  }
}

/// Triangles met from one at v on, over edges with two triangles, beginning over the edge of `half`.
/// `closed`: whether the walk came back.
index_t count_fan(const EdgeTable& table, index_t half, index_t v, bool& closed) {
  const index_t start = half / 3;
  index_t met = 0;
  for (index_t next = table.across(half); next >= 0; next = table.across(half)) {
    closed = next / 3 == start;
    if (closed) break;
    ++met;
    half = table.turn(next, v);
  }
  return met;
}

/// Isolated vertices, and those whose triangles are not one fan.
void find_vertex_faults(const EdgeTable& table, Topology& topology) {
  std::vector<index_t> triangles(table.mesh.points.size());
  std::vector<index_t> some(table.mesh.points.size());  // half-edge that leaves the vertex
  for (index_t half = 0; half < 3 * table.mesh.faces(); ++half) {
    if (table.edge(half) < 0) continue;
    ++triangles[at(table.tail(half))];
    some[at(table.tail(half))] = half;
  }
  for (index_t v = 0; v < table.mesh.vertices(); ++v) {
    if (triangles[at(v)] == 0) {
      topology.isolated.push_back(v);
      continue;
    }
    bool closed = false;
    index_t met = 1 + count_fan(table, some[at(v)], v, closed);
    if (!closed) met += count_fan(table, table.turn(some[at(v)], v), v, closed);
    if (met != triangles[at(v)]) topology.nonmanifold_vertices.push_back(v);
  }
}

/// The component of each triangle, numbered by their least triangles; -1 for one that is left out.
std::vector<index_t> label_components(const EdgeTable& table, index_t& components) {
  std::vector<index_t> label(table.mesh.triangles.size(), -1);
  std::vector<bool> spread(table.edges.size());  // all triangles at the edge have their label
  std::vector<index_t> queue;
  components = 0;
  for (index_t t = 0; t < table.mesh.faces(); ++t) {
    if (label[at(t)] >= 0 || !table.has(t)) continue;
    label[at(t)] = components;
    queue.assign(1, t);
    while (!queue.empty()) {
      const index_t here = queue.back();
      queue.pop_back();
      for (index_t half = 3 * here; half < 3 * here + 3; ++half) {
        if (spread[at(table.edge(half))]) continue;
        spread[at(table.edge(half))] = true;
        for (const index_t other : table.uses(table.edge(half))) {
          if (label[at(other / 3)] >= 0) continue;
          label[at(other / 3)] = components;
          queue.push_back(other / 3);
        }
      }
    }
    ++components;
  }
  return label;
}

void collect_vertices(const Mesh& mesh, std::vector<Component>& components) {
  std::vector<index_t> last(mesh.points.size(), -1);
  for (index_t c = 0; c < static_cast<index_t>(components.size()); ++c) {
    std::vector<index_t>& vertices = components[at(c)].vertices;
    for (const index_t t : components[at(c)].triangles) {
      for (const index_t v : mesh.triangles[at(t)]) {
        if (last[at(v)] != c) vertices.push_back(v);
        last[at(v)] = c;
      }
    }
    std::sort(vertices.begin(), vertices.end());
  }
}

void find_components(const EdgeTable& table, Topology& topology) {
  index_t count = 0;
  const std::vector<index_t> label = label_components(table, count);
  std::vector<Component>& components = topology.components;
  components.resize(at(count));
  for (index_t t = 0; t < table.mesh.faces(); ++t) {
    if (label[at(t)] >= 0) components[at(label[at(t)])].triangles.push_back(t);
  }
  collect_vertices(table.mesh, components);
  for (Component& part : components) {
    part.euler = static_cast<offset_t>(part.vertices.size() + part.triangles.size());
  }
  for (index_t e = 0; e < static_cast<index_t>(table.edges.size()); ++e) {
    --components[at(label[at(table.uses(e)[0] / 3)])].euler;
  }
  for (BoundaryLoop& loop : boundary_loops(table)) {
    components[at(label[at(loop.triangle)])].loops.push_back(std::move(loop.vertices));
  }
  for (Component& part : components) {
    part.genus = static_cast<int>((2 - part.euler - static_cast<offset_t>(part.loops.size())) / 2);
  }
  std::stable_sort(components.begin(), components.end(),
                   [](const Component& a, const Component& b) {
                     return a.vertices.front() < b.vertices.front();
                   });
}

}  // namespace

Topology analyze(const Mesh& mesh) {
  const EdgeTable table(mesh);
  Topology topology;
  find_components(table, topology);
  find_edge_faults(table, topology);
  find_vertex_faults(table, topology);
  topology.degenerate = find_degenerate(table);
  topology.duplicates = find_duplicates(table);
  topology.edges = table.edges;
  return topology;
}

}  // namespace cnc::geometry
