#include "geometry/edge_table.hpp"

#include <cnc/error.hpp>

#include <algorithm>
#include <numeric>
#include <string>

namespace cnc::geometry {

namespace {

/// A half-edge by the greater end of its edge.
struct Use {
  index_t high;
  index_t half;
};

void check_corners(const Mesh& mesh) {
  require(mesh.triangles.size() <= static_cast<std::size_t>(most_triangles), [&] {
    return mesh.name + ": more than " + std::to_string(most_triangles) + " triangles";
  });
  for (index_t t = 0; t < mesh.faces(); ++t) {
    for (const index_t v : mesh.triangles[static_cast<std::size_t>(t)]) {
      require(v >= 0 && v < mesh.vertices(), [&] {
        return mesh.name + ": triangle " + std::to_string(t + 1) + " names vertex " +
               std::to_string(offset_t{v} + 1) + " of " + std::to_string(mesh.vertices());
      });
    }
  }
}

template <class Visit>
void for_each_half_edge(const EdgeTable& table, const Visit& visit) {
  for (index_t t = 0; t < table.mesh.faces(); ++t) {
    const Triangle& c = table.mesh.triangles[static_cast<std::size_t>(t)];
    if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0]) continue;
    for (index_t half = 3 * t; half < 3 * t + 3; ++half) {
      const index_t a = table.tail(half);
      const index_t b = table.head(half);
      visit(static_cast<std::size_t>(std::min(a, b)), Use{std::max(a, b), half});
    }
  }
}

}  // namespace

EdgeTable::EdgeTable(const Mesh& of) : mesh(of) {
  check_corners(mesh);
  std::vector<index_t> starts(mesh.points.size() + 1);
  for_each_half_edge(*this, [&](std::size_t low, const Use&) { ++starts[low + 1]; });
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<Use> sorted(static_cast<std::size_t>(starts.back()));
  std::vector<index_t> next = starts;
  for_each_half_edge(*this, [&](std::size_t low, const Use& use) {
    sorted[static_cast<std::size_t>(next[low]++)] = use;
  });

  edge_of.assign(3 * mesh.triangles.size(), -1);
  half_edges.reserve(sorted.size());
  for (index_t low = 0; low < mesh.vertices(); ++low) {
    const auto begin = sorted.begin() + starts[static_cast<std::size_t>(low)];
    const auto end = sorted.begin() + starts[static_cast<std::size_t>(low) + 1];
    std::sort(begin, end, [](const Use& a, const Use& b) {
      return a.high != b.high ? a.high < b.high : a.half < b.half;
    });
    for (auto use = begin; use != end; ++use) {
      if (use == begin || use->high != (use - 1)->high) {
        edges.push_back({low, use->high});
        offsets.push_back(static_cast<index_t>(half_edges.size()));
      }
      half_edges.push_back(use->half);
      edge_of[static_cast<std::size_t>(use->half)] = static_cast<index_t>(edges.size() - 1);
    }
  }
  offsets.push_back(static_cast<index_t>(half_edges.size()));
}

}  // namespace cnc::geometry
