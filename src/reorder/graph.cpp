#include <parallel.hpp>
#include <reorder/graph.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace cnc::detail {
namespace {

/// Builds a graph in parallel from list(v, buffer), which puts the ascending neighbours of v into an
/// empty buffer. It is called twice per vertex.
template <class List>
AdjacencyGraph build_graph(index_t vertices, const List& list) {
  AdjacencyGraph graph;
  graph.vertices = vertices;
  graph.offsets.assign(static_cast<std::size_t>(vertices) + 1, 0);
  const auto for_each_list = [&](const auto& use) {
    const int parts = threads_for(vertices);
    parallel_ranges(vertices, parts, [&](index_t begin, index_t end, int) {
      std::vector<index_t> buffer;
      for (index_t v = begin; v < end; ++v) {
        buffer.clear();
        list(v, buffer);
        use(v, buffer);
      }
    });
  };
  for_each_list([&](index_t v, const std::vector<index_t>& buffer) {
    graph.offsets[static_cast<std::size_t>(v) + 1] = static_cast<offset_t>(buffer.size());
  });
  std::partial_sum(graph.offsets.begin(), graph.offsets.end(), graph.offsets.begin());
  graph.neighbours.resize(static_cast<std::size_t>(graph.offsets.back()));
  for_each_list([&](index_t v, const std::vector<index_t>& buffer) {
    std::copy(buffer.begin(), buffer.end(),
              graph.neighbours.begin() + graph.offsets[static_cast<std::size_t>(v)]);
  });
  return graph;
}

/// Edges v -> w of the pattern of A itself.
template <class T>
AdjacencyGraph directed_graph(const CsrMatrix<T>& A, index_t block_size) {
  const index_t vertices = A.rows / block_size;
  return build_graph(vertices, [&](index_t v, std::vector<index_t>& buffer) {
    const auto row = static_cast<std::size_t>(v) * static_cast<std::size_t>(block_size);
    const index_t last = A.row_offsets(row + static_cast<std::size_t>(block_size));
    for (index_t k = A.row_offsets(row); k < last; ++k) {
      const index_t w = A.columns(static_cast<std::size_t>(k)) / block_size;
      // The columns of one row ascend, so those of one block are neighbours here.
      const bool repeated = !buffer.empty() && buffer.back() == w;
      if (w != v && w < vertices && !repeated) {
        buffer.push_back(w);
      }
    }
    if (block_size == 1) {
      return;  // one row ascends already
    }
    std::sort(buffer.begin(), buffer.end());
    buffer.erase(std::unique(buffer.begin(), buffer.end()), buffer.end());
  });
}

AdjacencyGraph reversed(const AdjacencyGraph& graph) {
  AdjacencyGraph result;
  result.vertices = graph.vertices;
  result.offsets.assign(graph.offsets.size() + 1, 0);
  result.neighbours.resize(graph.neighbours.size());
  // One entry further on than in the result: filling moves each count to where it belongs.
  for (const index_t w : graph.neighbours) {
    ++result.offsets[static_cast<std::size_t>(w) + 2];
  }
  std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
  for (index_t v = 0; v < graph.vertices; ++v) {
    for (const index_t* w = graph.begin(v); w != graph.end(v); ++w) {
      offset_t& next = result.offsets[static_cast<std::size_t>(*w) + 1];
      result.neighbours[static_cast<std::size_t>(next++)] = v;
    }
  }
  result.offsets.pop_back();
  return result;
}

}  // namespace

template <class T>
AdjacencyGraph symmetrized_graph(const CsrMatrix<T>& A, int block_size) {
  AdjacencyGraph forward = directed_graph(A, block_size);
  const AdjacencyGraph backward = reversed(forward);
  if (forward.offsets == backward.offsets && forward.neighbours == backward.neighbours) {
    return forward;
  }
  return build_graph(forward.vertices, [&](index_t v, std::vector<index_t>& buffer) {
    std::set_union(forward.begin(v), forward.end(v), backward.begin(v), backward.end(v),
                   std::back_inserter(buffer));
  });
}

template AdjacencyGraph symmetrized_graph(const CsrMatrix<float>&, int);
template AdjacencyGraph symmetrized_graph(const CsrMatrix<double>&, int);

}  // namespace cnc::detail
