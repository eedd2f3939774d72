#pragma once

#include <gpu/reduce.hpp>
#include <gpu/rows.hpp>

// What the kernels of resident launches have in common: each block owns a range of units of the matrix for good, and the rows
// of the vectors that go with them.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// How a resident launch is laid out.
struct ResidentLayout {
  index_t units_per_block = 0;
  index_t rows_per_block = 0;  ///< capacity of each vector on chip
  int on_chip = 0;  ///< the first so many of the method's vectors, then 1/diag, are there
};

/// A block's rows of a vector: by their place in the block, or by their row in memory.
template <class V>
struct OwnRows {
  V* data;
  bool by_place;
  CNC_GPU_DEVICE V& operator()(index_t place, index_t row) const {
    return data[by_place ? place : row];
  }
};

/// The rows of the matrix that a block has.
template <class Rows>
struct ResidentRows {
  Rows rows;
  index_t n;
  ResidentLayout layout;

  struct Range {
    index_t begin, end;  ///< units
    index_t places;      ///< rows, those past the end of the matrix included
  };

  CNC_GPU_DEVICE Range range() const {
    const offset_t first = offset_t(block_index()) * layout.units_per_block;
    const index_t units = rows.units();
    const index_t begin = first < units ? static_cast<index_t>(first) : units;
    const index_t end =
        units - begin < layout.units_per_block ? units : begin + layout.units_per_block;
    return {begin, end, (end - begin) * rows.unit_rows()};
  }

  /// Calls body(place, row) for the rows of this block, each on the same thread every time.
  template <class Body>
  CNC_GPU_DEVICE void for_own(const Range& range, const Body& body) const {
    const int b = rows.unit_rows();
    for (index_t place = thread_index(); place < range.places; place += block_threads()) {
      const index_t row = rows.first_row(range.begin + place / b) + place % b;
      if (row < n) body(place, row);
    }
  }

  /// Hands the results of a product for this block's rows to the sink.
  template <class X, class Sink>
  CNC_GPU_DEVICE void multiply_own(const Range& range, bool backwards, const X& x,
                                   Sink& sink) const {
    const index_t per_pass = rows.units_per_pass(block_threads());
    const index_t passes = ceil_div(range.end - range.begin, per_pass);
    for (index_t k = 0; k < passes; ++k) {
      const index_t unit = range.begin + (backwards ? passes - 1 - k : k) * per_pass;
      rows.walk(unit, range.end - unit < per_pass ? range.end : unit + per_pass, x, sink);
    }
  }
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
