#pragma once

#include <target/gpu.hpp>

// A format's part of a kernel is a "rows" object: it says how a block of threads works through a range of
// units (rows, or block rows) of the matrix. It is written once and used by the plain product, by the
// product with its dots and by resident runs:
//
//   spmv_threads, summing_threads         threads that a processor should hold in kernels of the product alone, and
//                                         of those that also sum: what registers are rationed by. 0: as many
//                                         registers as the compiler likes, where loads in flight matter more
//   relaxing_threads                      where it is there: what spmv_threads is, for steps of a relaxation
//   reducing_threads                      where it is there: so many threads of a product a processor is to have, which go on from
//                                         pass to pass; else a product alone has a block for each pass, one with dots
//                                         1024 threads, or, with fills_processors, as many as it may
//   resident()                            the same rows as the resident kernel is to have them
//   consecutive                           whether the rows of units that follow each other do so too
//   index_t units() const                 units of the matrix
//   static constexpr int unit_rows(...)   scalar rows per unit
//   index_t units_per_pass(threads)       units that a block of that many threads handles at one time
//   walk(begin, end, x, sink)             all threads of a block together: for every row of the units
//                                         [begin, end), at most one pass of them, computes the sum over the
//                                         row of a_ij x(j) and hands it to exactly one thread's
//                                         sink(unit, r, row, sum). Collective.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// What kinds of rows that are dealt out one per thread, in their order, have in common.
struct RowPerThread {
  index_t rows;

  static constexpr bool consecutive = true;
  constexpr index_t units() const { return rows; }
  static constexpr int unit_rows() { return 1; }
  constexpr index_t units_per_pass(int threads) const { return threads; }
  CNC_GPU_DEVICE index_t first_row(index_t unit) const { return unit; }
};

/// A stored value under way or, until it is looked up in a table of values, the code of it: in the same registers.
template <class M>
union ValueOrCode {
  M value;
  unsigned code;
};

/// x as it is in memory, not written during the kernel.
template <class V>
struct PlainVector {
  const V* x;
  CNC_GPU_DEVICE V operator()(index_t i) const { return load_cached(x + i); }
};

/// x that this kernel writes, or the one before it while this one has begun: loads that may be those of constant memory would
/// be too early.
template <class V>
struct WrittenVector {
  const V* x;
  CNC_GPU_DEVICE V operator()(index_t i) const { return x[i]; }
};

/// The same, multiplied by a number.
template <class V>
struct ScaledVector {
  const V* x;
  V scale;
  CNC_GPU_DEVICE V operator()(index_t i) const { return scale * x[i]; }
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
