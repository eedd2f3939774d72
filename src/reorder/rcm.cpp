#include <cnc/reorder.hpp>
#include <parallel.hpp>
#include <reorder/graph.hpp>
#include "convert/sorted_rows.hpp"

#include <algorithm>
#include <vector>

namespace cnc {
namespace {

using detail::AdjacencyGraph;

/// Breadth-first searches over one graph, with memory that is allocated once.
class BreadthFirstSearch {
 public:
  explicit BreadthFirstSearch(const AdjacencyGraph& graph)
      : graph_(graph), seen_(static_cast<std::size_t>(graph.vertices), 0) {
    queue_.reserve(static_cast<std::size_t>(graph.vertices));
  }

  /// Visits the component of `root`, level by level. visit_order(begin, end) may reorder the vertices
  /// that one vertex has just added to the queue.
  template <class VisitOrder>
  void run(index_t root, const VisitOrder& visit_order) {
    ++search_;
    queue_.assign(1, root);
    seen_[static_cast<std::size_t>(root)] = search_;
    levels_ = 0;
    std::size_t done = 0;
    while (done < queue_.size()) {
      last_level_ = done;
      ++levels_;
      for (const std::size_t level_end = queue_.size(); done < level_end; ++done) {
        const std::size_t added = queue_.size();
        add_neighbours(queue_[done]);
        visit_order(queue_.data() + added, queue_.data() + queue_.size());
      }
    }
  }

  const std::vector<index_t>& order() const { return queue_; }
  index_t levels() const { return levels_; }

  /// The vertex of least degree in the last level.
  index_t far_vertex() const {
    return *std::min_element(
        queue_.begin() + static_cast<std::ptrdiff_t>(last_level_), queue_.end(),
        [&](index_t a, index_t b) {
          return graph_.degree(a) != graph_.degree(b) ? graph_.degree(a) < graph_.degree(b) : a < b;
        });
  }

 private:
  void add_neighbours(index_t v) {
    for (const index_t* w = graph_.begin(v); w != graph_.end(v); ++w) {
      if (seen_[static_cast<std::size_t>(*w)] != search_) {
        seen_[static_cast<std::size_t>(*w)] = search_;
        queue_.push_back(*w);
      }
    }
  }

  const AdjacencyGraph& graph_;
  std::vector<index_t> queue_;
  std::vector<index_t> seen_;  ///< number of the last search that saw the vertex
  index_t search_ = 0;
  index_t levels_ = 0;
  std::size_t last_level_ = 0;
};

const auto any_order = [](index_t*, index_t*) {};

/// George & Liu: go to the far end of the level structure for as long as that makes it longer.
index_t pseudo_peripheral_vertex(BreadthFirstSearch& search, index_t root) {
  search.run(root, any_order);
  for (;;) {
    const index_t levels = search.levels();
    const index_t candidate = search.far_vertex();
    search.run(candidate, any_order);
    if (search.levels() <= levels) {
      return root;
    }
    root = candidate;
  }
}

/// Reverse Cuthill-McKee order of the vertices.
std::vector<index_t> rcm_order(const AdjacencyGraph& graph) {
  BreadthFirstSearch search(graph);
  std::vector<bool> numbered(static_cast<std::size_t>(graph.vertices), false);
  std::vector<index_t> order;
  order.reserve(static_cast<std::size_t>(graph.vertices));
  const auto least_degree_first = [&](index_t* begin, index_t* end) {
    std::sort(begin, end, [&](index_t a, index_t b) {
      return graph.degree(a) != graph.degree(b) ? graph.degree(a) < graph.degree(b) : a < b;
    });
  };
  for (index_t v = 0; v < graph.vertices; ++v) {
    if (numbered[static_cast<std::size_t>(v)]) {
      continue;
    }
    if (graph.degree(v) == 0) {
      order.push_back(v);
      continue;
    }
    search.run(pseudo_peripheral_vertex(search, v), least_degree_first);
    for (const index_t w : search.order()) {
      numbered[static_cast<std::size_t>(w)] = true;
    }
    order.insert(order.end(), search.order().rbegin(), search.order().rend());
  }
  return order;
}

}  // namespace

template <class T>
Vector<index_t> rcm_ordering(const CsrMatrix<T>& given, int block_size) {
  require(given.rows == given.cols, "rcm_ordering: the matrix must be square");
  require(block_size >= 1 && block_size <= max_block_size,
          "rcm_ordering: block size must be 1 to 16");
  const CsrMatrix<T> A = detail::ascending_csr<Kokkos::DefaultHostExecutionSpace>(given);
  const std::vector<index_t> order = rcm_order(detail::symmetrized_graph(A, block_size));
  auto p = uninitialized<index_t>("cnc::rcm_ordering", static_cast<std::size_t>(A.rows));
  detail::parallel_for(A.rows, [&](index_t row) {
    const auto block = static_cast<std::size_t>(row / block_size);
    p(static_cast<std::size_t>(row)) =
        block < order.size() ? order[block] * block_size + row % block_size : row;
  });
  return p;
}

template Vector<index_t> rcm_ordering(const CsrMatrix<float>&, int);
template Vector<index_t> rcm_ordering(const CsrMatrix<double>&, int);

}  // namespace cnc
