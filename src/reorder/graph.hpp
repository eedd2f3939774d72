#pragma once

#include <cnc/bcsr_matrix.hpp>

#include <vector>

namespace cnc::detail {

/// An undirected graph without loops: the neighbours of v are
/// neighbours[offsets[v] .. offsets[v + 1]), ascending.
struct AdjacencyGraph {
  index_t vertices = 0;
  std::vector<offset_t> offsets;
  std::vector<index_t> neighbours;

  const index_t* begin(index_t v) const {
    return neighbours.data() + offsets[static_cast<std::size_t>(v)];
  }
  const index_t* end(index_t v) const {
    return neighbours.data() + offsets[static_cast<std::size_t>(v) + 1];
  }
  index_t degree(index_t v) const { return static_cast<index_t>(end(v) - begin(v)); }
};

/// The graph of A + A^T with one vertex per `block_size` consecutive rows; rows of a partial last block
/// have no vertex. A is square.
/// Cost     O(nonzeros) time and O(edges) memory.
template <class T>
AdjacencyGraph symmetrized_graph(const CsrMatrix<T>& A, int block_size);

}  // namespace cnc::detail
