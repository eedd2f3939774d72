#pragma once

#include "geometry/topology.hpp"

#include <span>
#include <vector>

namespace cnc::geometry {

/// The neighbours of each vertex with their weights, not scaled: of one on the boundary those along the boundary.
class Neighbours {
 public:
  struct Neighbour {
    index_t vertex;
    double weight;
  };

  /// A weight for each of Topology::edges and, along the boundary, for each edge there.
  Neighbours(const Topology& topology, index_t vertices, std::span<const double> inner,
             std::span<const double> boundary);

  std::span<const Neighbour> of(index_t vertex) const {
    const auto v = static_cast<std::size_t>(vertex);
    return {neighbours_.data() + first_[v], neighbours_.data() + first_[v + 1]};
  }
  bool on_boundary(index_t vertex) const { return on_boundary_[static_cast<std::size_t>(vertex)]; }

 private:
  std::vector<char> on_boundary_;
  std::vector<std::size_t> first_;
  std::vector<Neighbour> neighbours_;
};

/// Where an edge is in Topology::edges.
std::size_t edge_between(const Topology& topology, index_t a, index_t b);

}  // namespace cnc::geometry
