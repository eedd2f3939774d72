#include "distributed/graph_partition.hpp"

#include <cnc/contract/error.hpp>

#ifdef CNC_HAVE_METIS

#include <metis.h>

#include <algorithm>
#include <limits>
#include <string>

namespace cnc::detail {
namespace {

/// A graph as METIS wants it.
struct Graph {
  std::vector<idx_t> offsets = {0}, neighbours, couplings;  ///< entries that an edge stands for
  std::vector<idx_t> weights;                               ///< of nodes
};

/// Groups of consecutive rows of a matrix.
struct Groups {
  const index_t *row_offsets, *columns;
  index_t rows;
  int block_size;

  index_t count() const { return ceil_div(rows, block_size); }
  index_t begin(index_t group) const {
    return row_offsets[std::min(offset_t(group) * block_size, offset_t(rows))];
  }
  /// visit(other) for each entry of a group in the columns of another one.
  template <class Visit>
  void for_each_coupling(index_t group, const Visit& visit) const {
    for (index_t k = begin(group); k < begin(group + 1); ++k)
      if (const index_t other = columns[k] / block_size; other != group) visit(other);
  }
};

/// The groups that have entries in the columns of each.
struct Mirrored {
  std::vector<index_t> offsets, groups;

  explicit Mirrored(const Groups& of) : offsets(static_cast<std::size_t>(of.count()) + 1, 0) {
    for (index_t g = 0; g < of.count(); ++g)
      of.for_each_coupling(g,
                           [&](index_t other) { ++offsets[static_cast<std::size_t>(other) + 1]; });
    for (std::size_t g = 1; g < offsets.size(); ++g) offsets[g] += offsets[g - 1];
    groups.resize(static_cast<std::size_t>(offsets.back()));
    std::vector<index_t> next(offsets.begin(), offsets.end() - 1);
    for (index_t g = 0; g < of.count(); ++g)
      of.for_each_coupling(g, [&](index_t other) {
        groups[static_cast<std::size_t>(next[static_cast<std::size_t>(other)]++)] = g;
      });
  }
};

Graph graph_of(const Groups& groups, const Mirrored& mirrored) {
  Graph graph;
  std::vector<offset_t> edge_to(static_cast<std::size_t>(groups.count()), -1);  // the last one
  for (index_t g = 0; g < groups.count(); ++g) {
    const auto add = [&](index_t other) {
      offset_t& edge = edge_to[static_cast<std::size_t>(other)];
      if (edge >= graph.offsets.back()) {  // of this group
        ++graph.couplings[static_cast<std::size_t>(edge)];
        return;
      }
      edge = static_cast<offset_t>(graph.neighbours.size());
      graph.neighbours.push_back(static_cast<idx_t>(other));
      graph.couplings.push_back(1);
    };
    groups.for_each_coupling(g, add);
    const auto at = static_cast<std::size_t>(g);
    for (auto k = static_cast<std::size_t>(mirrored.offsets[at]);
         k < static_cast<std::size_t>(mirrored.offsets[at + 1]); ++k)
      add(mirrored.groups[k]);
    graph.offsets.push_back(static_cast<idx_t>(graph.neighbours.size()));
    graph.weights.push_back(static_cast<idx_t>(groups.begin(g + 1) - groups.begin(g)));
  }
  return graph;
}

}  // namespace

void require_metis() {}

std::vector<int> partition_graph(const index_t* row_offsets, const index_t* columns, index_t rows,
                                 int block_size, int parts) {
  const Groups groups{row_offsets, columns, rows, block_size};
  // Of graphs with few nodes METIS makes empty parts, and complains on standard output.
  constexpr offset_t least_groups = 16;
  if (parts == 1 || groups.count() < least_groups * parts) return {};
  const Mirrored mirrored(groups);
  const std::size_t couplings = mirrored.groups.size();
  if (couplings == 0) return {};
  // METIS adds up couplings over both directions of all edges.
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<idx_t>::max()) / 2;
  require(couplings <= most, [&] {
    return "PartitionedMatrix: a partition by the graph of " + std::to_string(couplings) +
           " entries between groups of rows; METIS with numbers of " +
           std::to_string(IDXTYPEWIDTH) + " bits takes " + std::to_string(most);
  });
  Graph graph = graph_of(groups, mirrored);

  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_SEED] = 0;
  idx_t nodes = static_cast<idx_t>(groups.count()), constraints = 1, wanted = parts, cut = 0;
  std::vector<idx_t> part_of_group(static_cast<std::size_t>(nodes));
  const int result =
      METIS_PartGraphKway(&nodes, &constraints, graph.offsets.data(), graph.neighbours.data(),
                          graph.weights.data(), nullptr, graph.couplings.data(), &wanted, nullptr,
                          nullptr, options, &cut, part_of_group.data());
  if (result == METIS_ERROR_MEMORY)
    throw OutOfMemory("METIS", graph.neighbours.size() * sizeof(idx_t), 0);
  if (result != METIS_OK)
    throw Error("PartitionedMatrix: METIS_PartGraphKway returns " + std::to_string(result));
  std::vector<int> part_of_row(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < part_of_row.size(); ++i)
    part_of_row[i] = static_cast<int>(part_of_group[i / static_cast<std::size_t>(block_size)]);
  return part_of_row;
}

}  // namespace cnc::detail

#else

namespace cnc::detail {

void require_metis() {
  throw UnsupportedOperation(
      "PartitionedMatrix: partitions by the graph need a library that was built with METIS");
}

std::vector<int> partition_graph(const index_t*, const index_t*, index_t, int, int) {
  require_metis();
  return {};
}

}  // namespace cnc::detail

#endif
