#pragma once

#include "precondition/factorize.hpp"
#include "precondition/ordered_rows.hpp"

#include <algorithm>
#include <vector>

namespace cnc::detail {

/// The rows of a block one after the other, `before` being of one that is cut off.
template <class V>
struct SolveBlock {
  SubstituteRow<V> body;
  offset_t before, size, rows;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t block) const {
    const offset_t shift = before > 0 ? size - before : 0;
    const offset_t first = block * size - shift, last = first + size;
    for (offset_t k = first < 0 ? 0 : first; k < last && k < rows; ++k) body(k);
  }
};

/// A triangle whose rows are solved one after the other, or level by level: those of a level need those of levels before only.
template <class V, class Exec>
class TriangularSolve {
 public:
  using Space = typename Exec::memory_space;

  /// Level by level on a device, and on a host where levels are long enough for threads; there block by block of `block_rows` where
  /// it is not zero: such blocks do not need each other.
  void set_up(const SparseRows& triangle, bool from_the_end, index_t block_rows = 0) {
    const auto n = static_cast<index_t>(triangle.offsets.size()) - 1;
    std::vector<index_t> order = levels_of(triangle, from_the_end);
    const index_t levels = levels_;
    block_rows_ = is_host_space<Space> ? block_rows : 0;
    cut_off_ = from_the_end && block_rows_ > 0 ? n % block_rows_ : 0;
    if (is_host_space<Space> &&
        (block_rows > 0 || n < 8192 * offset_t(std::max<index_t>(levels, 1)))) {
      begins_.clear();
      for (index_t k = 0; k < n; ++k)
        order[static_cast<std::size_t>(k)] = from_the_end ? n - 1 - k : k;
    }
    std::vector<index_t> offsets{0}, columns;
    std::vector<V> values;
    offsets.reserve(order.size() + 1);
    columns.reserve(triangle.columns.size());
    values.reserve(triangle.columns.size());
    for (const index_t row : order) {
      for (index_t k = triangle.begin(row); k < triangle.end(row); ++k) {
        columns.push_back(triangle.columns[static_cast<std::size_t>(k)]);
        values.push_back(static_cast<V>(triangle.values[static_cast<std::size_t>(k)]));
      }
      offsets.push_back(static_cast<index_t>(columns.size()));
    }
    rows_ = copied_to<Space>(order);
    offsets_ = copied_to<Space>(offsets);
    columns_ = copied_to<Space>(columns);
    values_ = copied_to<Space>(values);
  }

  void apply(const Context<Exec>& ctx, const V* inverse, const V* r, V* z) const {
    const SubstituteRow<V> body{
        {rows_.data(), offsets_.data(), columns_.data(), values_.data()}, inverse, r, z};
    const auto n = static_cast<offset_t>(rows_.extent(0));
    if (block_rows_ == 0) return in_order(ctx, begins_, rows_.extent(0), false, body);
    const offset_t blocks = ceil_div(n, offset_t(block_rows_));
    if constexpr (is_host_space<Space>)
      on_host(blocks, threads_for(n, ctx.threads()), SolveBlock<V>{body, cut_off_, block_rows_, n});
  }

  index_t levels() const { return levels_; }

 private:
  /// Rows by levels, each in its order.
  std::vector<index_t> levels_of(const SparseRows& triangle, bool from_the_end) {
    const auto n = static_cast<index_t>(triangle.offsets.size()) - 1;
    std::vector<index_t> level(static_cast<std::size_t>(n), 0);
    levels_ = 0;
    for (index_t k = 0; k < n; ++k) {
      const index_t row = from_the_end ? n - 1 - k : k;
      index_t own = 0;
      for (index_t e = triangle.begin(row); e < triangle.end(row); ++e)
        own = std::max(
            own,
            level[static_cast<std::size_t>(triangle.columns[static_cast<std::size_t>(e)])] + 1);
      level[static_cast<std::size_t>(row)] = own;
      levels_ = std::max(levels_, own + 1);
    }
    begins_.assign(static_cast<std::size_t>(levels_) + 1, 0);
    for (const index_t own : level) ++begins_[static_cast<std::size_t>(own) + 1];
    for (std::size_t l = 1; l < begins_.size(); ++l) begins_[l] += begins_[l - 1];
    std::vector<index_t> next = begins_, order(static_cast<std::size_t>(n));
    for (index_t row = 0; row < n; ++row)
      order[static_cast<std::size_t>(
          next[static_cast<std::size_t>(level[static_cast<std::size_t>(row)])]++)] = row;
    return order;
  }

  Vector<index_t, Space> rows_, offsets_, columns_;
  Vector<V, Space> values_;
  std::vector<index_t> begins_;  ///< of levels; empty: one row after the other
  index_t levels_ = 0;
  index_t block_rows_ = 0;  ///< of blocks that threads take; 0: none
  index_t cut_off_ = 0;     ///< rows of the first of them, where that is not a whole one
};

}  // namespace cnc::detail
