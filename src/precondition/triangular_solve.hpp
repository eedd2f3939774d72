#pragma once

#include "precondition/factorize.hpp"
#include "precondition/ordered_rows.hpp"

#include <algorithm>
#include <vector>

namespace cnc::detail {

/// The rows of a block one after the other, `before` being of one that is cut off.
template <class V>
struct SolveBlock {
  SolveRow<V> body;
  offset_t before, size, rows;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t block) const {
    const offset_t shift = before > 0 ? size - before : 0;
    const offset_t first = block * size - shift, last = first + size;
    body.one_by_one(first < 0 ? 0 : first, last < rows ? last : rows, 1);
  }
};

/// z(i) := scale(i) (r(i) - row i of the triangle times `from`), the step before; scale null: ones.
template <class V>
struct SweepRow {
  OrderedRows<V> triangle;
  const V* scale;
  const V* r;
  const V* from;
  V* z;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t place) const {
    const index_t row = triangle.rows[place];
    const V rest = triangle.take_off(r[row], triangle.row_offsets[place],
                                     triangle.row_offsets[place + 1], from);
    z[row] = scale == nullptr ? rest : scale[row] * rest;
  }
};

/// How a triangle is solved.
struct TriangularOptions {
  bool from_the_end = false;
  /// On a host: so many rows are a block, which needs no other one and is a thread's. 0: none.
  index_t block_rows = 0;
  bool swept = false;  ///< not exactly, but by steps of Jacobi's method
  /// The caller's row of each row of the triangle; empty: the same.
  std::vector<index_t> rows = {};
};

/// I + T, T strictly triangular, whose rows are solved one after the other, or level by level: those of a level need those of levels
/// before only.
template <class V, class Exec>
class TriangularSolve {
 public:
  using Space = typename Exec::memory_space;

  /// Level by level on a device, and on a host where levels are long enough for threads.
  void set_up(const SparseRows& triangle, const TriangularOptions& options) {
    const auto n = static_cast<index_t>(triangle.offsets.size()) - 1;
    std::vector<index_t> order;
    levels_ = 0;
    begins_.clear();
    if (!options.swept) order = levels_of(triangle, options.from_the_end);
    block_rows_ = is_host_space<Space> && !options.swept ? options.block_rows : 0;
    cut_off_ = options.from_the_end && block_rows_ > 0 ? n % block_rows_ : 0;
    if (options.swept || block_rows_ > 0 ||
        (is_host_space<Space> && n < 8192 * offset_t(std::max<index_t>(levels_, 1)))) {
      begins_.clear();
      order.resize(static_cast<std::size_t>(n));
      for (index_t k = 0; k < n; ++k)
        order[static_cast<std::size_t>(k)] = options.from_the_end ? n - 1 - k : k;
    }
    const auto given = [&](index_t row) {
      return options.rows.empty() ? row : options.rows[static_cast<std::size_t>(row)];
    };
    std::vector<index_t> offsets{0}, columns;
    std::vector<V> values;
    offsets.reserve(order.size() + 1);
    columns.reserve(triangle.columns.size());
    values.reserve(triangle.columns.size());
    for (index_t& row : order) {
      const index_t first = triangle.begin(row), last = triangle.end(row);
      for (index_t step = 0; step < last - first; ++step) {
        // The nearest row, which is solved the latest, comes last.
        const auto k =
            static_cast<std::size_t>(options.from_the_end ? last - 1 - step : first + step);
        columns.push_back(given(triangle.columns[k]));
        values.push_back(static_cast<V>(triangle.values[k]));
      }
      offsets.push_back(static_cast<index_t>(columns.size()));
      row = given(row);
    }
    are_chained_ = are_chained(order, offsets, columns);
    rows_ = copied_there<Space>("cnc::preconditioner", order);
    offsets_ = copied_there<Space>("cnc::preconditioner", offsets);
    columns_ = copied_there<Space>("cnc::preconditioner", columns);
    values_ = copied_there<Space>("cnc::preconditioner", values);
  }

  /// z := (I + T)^-1 D r (a sweep has D in front instead), D being `scale` or, if that is null, I. r may be z.
  void apply(const Context<Exec>& ctx, const V* scale, const V* r, V* z) const {
    const SolveRow<V> body{triangle(), scale, V(1), r, z};
    if (block_rows_ == 0) return in_order(ctx, begins_, rows_.extent(0), false, body);
    const auto n = static_cast<offset_t>(rows_.extent(0));
    const offset_t blocks = ceil_div(n, offset_t(block_rows_));
    if constexpr (is_host_space<Space>)
      on_host(blocks, threads_for(n, ctx.threads()), SolveBlock<V>{body, cut_off_, block_rows_, n});
  }

  /// z := D (I - T + T^2 - ...) r up to the power `steps`, at least 1, D being `scale` or I: so many steps of Jacobi's method from r on. r, z and `between`
  /// are three vectors; of one step the last is not used.
  void sweep(const Context<Exec>& ctx, int steps, const V* scale, const V* r, V* between,
             V* z) const {
    const V* from = r;
    for (int left = steps; left > 0; --left) {
      V* const to = left % 2 == 1 ? z : between;
      on_each(ctx, static_cast<offset_t>(rows_.extent(0)),
              SweepRow<V>{triangle(), left == 1 ? scale : nullptr, r, from, to});
      from = to;
    }
  }

  index_t levels() const { return levels_; }

 private:
  OrderedRows<V> triangle() const {
    return {rows_.data(), offsets_.data(), columns_.data(), values_.data(), are_chained_};
  }

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
  bool are_chained_ = false;
  index_t levels_ = 0;
  index_t block_rows_ = 0;  ///< of blocks that threads take; 0: none
  index_t cut_off_ = 0;     ///< rows of the first of them, where that is not a whole one
};

}  // namespace cnc::detail
