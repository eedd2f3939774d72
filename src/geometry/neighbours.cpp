#include "geometry/neighbours.hpp"

#include <algorithm>

namespace cnc::geometry {
namespace {

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

/// Whether each edge is on the boundary.
std::vector<char> boundary_edges(const Topology& topology) {
  std::vector<char> is(topology.edges.size(), 0);
  for (const Component& part : topology.components)
    for (const std::vector<index_t>& loop : part.loops)
      for (std::size_t k = 0; k < loop.size(); ++k)
        is[edge_between(topology, loop[k], loop[(k + 1) % loop.size()])] = 1;
  return is;
}

}  // namespace

std::size_t edge_between(const Topology& topology, index_t a, index_t b) {
  const std::array<index_t, 2> edge = {std::min(a, b), std::max(a, b)};
  return static_cast<std::size_t>(
      std::lower_bound(topology.edges.begin(), topology.edges.end(), edge) -
      topology.edges.begin());
}

Neighbours::Neighbours(const Topology& topology, index_t vertices, std::span<const double> inner,
                       std::span<const double> boundary)
    : on_boundary_(at(vertices), 0), first_(at(vertices) + 1, 0) {
  const std::vector<char> border = boundary_edges(topology);
  for (std::size_t e = 0; e < border.size(); ++e)
    if (border[e])
      for (const index_t v : topology.edges[e]) on_boundary_[at(v)] = 1;
  const auto for_each = [&](const auto& use) {
    for (std::size_t e = 0; e < border.size(); ++e)
      for (std::size_t side = 0; side < 2; ++side) {
        const index_t v = topology.edges[e][side];
        if (on_boundary_[at(v)] && !border[e]) continue;
        use(v, Neighbour{topology.edges[e][1 - side],
                         border[e] && on_boundary_[at(v)] ? boundary[e] : inner[e]});
      }
  };
  for_each([&](index_t v, const Neighbour&) { ++first_[at(v) + 1]; });
  for (std::size_t v = 1; v < first_.size(); ++v) first_[v] += first_[v - 1];
  neighbours_.resize(first_.back());
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  for_each([&](index_t v, const Neighbour& neighbour) { neighbours_[next[at(v)]++] = neighbour; });
}

}  // namespace cnc::geometry
