#pragma once

#include <openmp/matrix_ops.hpp>

namespace cnc::openmp::CNC_ISA {

// Products of rows [begin, end) with x where few rows are different, and those of a kind, or blocks of them, follow each
// other: only x is read, and what is written. What a row comes to depends on its run alone, not on where a thread begins.

/// sums[i] (+)= value[k] x[offset[k] + i] over N entries of a row that repeats `count` times.
template <int N, bool first, class V, class T>
CNC_INLINE void add_entries(V* __restrict sums, const RowEntry<T>* entries, const V* x,
                            index_t count) {
  const V* __restrict x0 = x + entries[0].offset;
  const V* __restrict x1 = x + entries[N > 1 ? 1 : 0].offset;
  const V* __restrict x2 = x + entries[N > 2 ? 2 : 0].offset;
  const V* __restrict x3 = x + entries[N > 3 ? 3 : 0].offset;
  const V a0 = static_cast<V>(entries[0].value), a1 = static_cast<V>(entries[N > 1 ? 1 : 0].value),
          a2 = static_cast<V>(entries[N > 2 ? 2 : 0].value),
          a3 = static_cast<V>(entries[N > 3 ? 3 : 0].value);
#pragma omp simd
  for (index_t i = 0; i < count; ++i) {
    V sum = a0 * x0[i];
    if constexpr (N > 1) sum += a1 * x1[i];
    if constexpr (N > 2) sum += a2 * x2[i];
    if constexpr (N > 3) sum += a3 * x3[i];
    sums[i] = first ? sum : sums[i] + sum;
  }
}

/// The products of `count` rows of one kind, the first of which meets x[0] on its diagonal.
template <class V, class T>
CNC_INLINE void repeated_row(V* sums, const RowEntry<T>* entries, index_t size, const V* x,
                             index_t count) {
  if (size == 0) {
    for (index_t i = 0; i < count; ++i) sums[i] = V(0);
    return;
  }
  const auto add = [&](auto first, index_t k, index_t n) {
    constexpr bool is_first = decltype(first)::value;
    if (n >= 4) add_entries<4, is_first>(sums, entries + k, x, count);
    if (n == 3) add_entries<3, is_first>(sums, entries + k, x, count);
    if (n == 2) add_entries<2, is_first>(sums, entries + k, x, count);
    if (n == 1) add_entries<1, is_first>(sums, entries + k, x, count);
  };
  add(std::true_type(), 0, size);
  for (index_t k = 4; k < size; k += 4) add(std::false_type(), k, size - k);
}

/// The run that a row is in.
template <class T>
CNC_INLINE index_t run_of(const RowDictionaryOperand<T>& A, index_t row) {
  index_t low = 0, high = A.run_count;
  while (high - low > 1) {
    const index_t middle = low + (high - low) / 2;
    (A.runs[middle] <= row ? low : high) = middle;
  }
  return low;
}

/// Rows [begin, end) of runs of single rows. `run` is that of `begin`, and becomes that of `end`.
template <class V, class T>
CNC_INLINE void tile_of_rows(const RowDictionaryOperand<T>& A, const V* x, V* sums, index_t begin,
                             index_t end, index_t& run) {
  for (index_t i = begin; i < end;) {
    const index_t stop = A.runs[run + 1] < end ? A.runs[run + 1] : end;
    const index_t first = A.starts[A.codes[i]];
    repeated_row(sums + (i - begin), A.entries + first, A.starts[A.codes[i] + 1] - first, x + i,
                 stop - i);
    i = stop;
    if (A.runs[run + 1] == stop) ++run;
  }
}

/// Blocks of b rows, one of which follows the other in a run. An entry of a row is at a distance from the diagonal that the
/// same row of all blocks has in common: b registers of consecutive rows meet b registers of consecutive entries of x at that
/// distance, each row with its own value there, which is zero where it has none. So nothing is gathered, and values are in
/// the nearest cache.
template <int b, class V, class T>
class RepeatedBlocks {
 public:
  RepeatedBlocks(const RowDictionaryOperand<T>& A, index_t cols) : A_(A), cols_(cols) {}

  /// As tile_of_rows.
  CNC_INLINE void tile(const V* x, V* sums, index_t begin, index_t end, index_t& run) {
    for (index_t i = begin; i < end;) {
      const index_t first = A_.runs[run], last = A_.runs[run + 1], stop = last < end ? last : end;
      if (last - first >= rows_at_once && spread(first) && first + offsets_[0] >= 0 &&
          last - 1 + offsets_[count_ - 1] < cols_)
        add_run(x, sums, begin, i, stop, first, last);
      else
        for (index_t row = i; row < stop; ++row) sums[row - begin] = product(row, x);
      i = stop;
      if (last == stop) ++run;
    }
  }

 private:
  static constexpr int W = lanes<V>;
  static constexpr index_t rows_at_once = b * W;
  static constexpr int most_offsets = 8 * 24;  ///< 27 blocks of 3 have 135

  /// Rows [i, stop) of the run [first, last), to sums of rows from `begin` on.
  CNC_INLINE void add_run(const V* x, V* sums, index_t begin, index_t i, index_t stop,
                          index_t first, index_t last) const {
    while (i < stop) {
      index_t from = i - (i - first) % b;
      if (from == i && stop - from >= 2 * rows_at_once) {
        add<2>(x + from, sums + (from - begin));
        i += 2 * rows_at_once;
        continue;
      }
      if (from > last - rows_at_once) from = last - rows_at_once;
      const index_t to = stop - from > rows_at_once ? from + rows_at_once : stop;
      if (from == i && to - from == rows_at_once) {
        add<1>(x + from, sums + (from - begin));
      } else {  // rows that another tile or register has too
        V some[rows_at_once];
        add<1>(x + from, some);
        for (index_t row = i; row < to; ++row) sums[row - begin] = some[row - from];
      }
      i = to;
    }
  }

  /// `times` times rows_at_once rows.
  template <int times>
  CNC_INLINE void add(const V* x, V* to) const {
    Vec<V, W> sums[times * b] = {};
    for (int k = 0; k < count_; ++k) {
      const V* const values = values_ + k * rows_at_once;
      const V* const at = x + offsets_[k];
      for (int r = 0; r < b; ++r) {
        const Vec<V, W> value = load<V, W>(values + r * W);
        for (int t = 0; t < times; ++t)
          sums[t * b + r] += value * load<V, W>(at + t * rows_at_once + r * W);
      }
    }
    for (int r = 0; r < times * b; ++r) store<V, W>(to + r * W, sums[r]);
  }

  /// A row that does not repeat for long.
  CNC_INLINE V product(index_t row, const V* x) const {
    constexpr int sums = 4;
    V part[sums] = {};
    index_t k = A_.starts[A_.codes[row]];
    const index_t end = A_.starts[A_.codes[row] + 1];
    for (; k + sums <= end; k += sums)
      for (int s = 0; s < sums; ++s)
        part[s] += static_cast<V>(A_.entries[k + s].value) * x[row + A_.entries[k + s].offset];
    for (; k < end; ++k)
      part[0] += static_cast<V>(A_.entries[k].value) * x[row + A_.entries[k].offset];
    return (part[0] + part[1]) + (part[2] + part[3]);
  }

  /// Lays out values for the block that begins at a row, unless the last ones are its own; false where there are too many
  /// distances or they do not ascend.
  bool spread(index_t row) {
    const std::uint8_t* const codes = A_.codes + row;
    bool is_last = kinds_ != nullptr;
    for (int r = 0; is_last && r < b; ++r) is_last = codes[r] == kinds_[r];
    if (is_last) return count_ > 0;
    kinds_ = codes;
    count_ = 0;
    index_t next[b];
    for (int r = 0; r < b; ++r) next[r] = A_.starts[codes[r]];
    for (int count = 0;; ++count) {
      constexpr index_t none = std::numeric_limits<index_t>::max();
      index_t least = none;
      for (int r = 0; r < b; ++r)
        if (next[r] < A_.starts[codes[r] + 1] && A_.entries[next[r]].offset < least)
          least = A_.entries[next[r]].offset;
      if (least == none) {
        count_ = count;
        return count > 0;
      }
      if (count == most_offsets || (count > 0 && least <= offsets_[count - 1])) return false;
      offsets_[count] = least;
      V of_row[b];
      for (int r = 0; r < b; ++r) {
        const bool has = next[r] < A_.starts[codes[r] + 1] && A_.entries[next[r]].offset == least;
        of_row[r] = has ? static_cast<V>(A_.entries[next[r]].value) : V(0);
        next[r] += has ? 1 : 0;
      }
      for (index_t k = 0; k < rows_at_once; ++k) values_[count * rows_at_once + k] = of_row[k % b];
    }
  }

  const RowDictionaryOperand<T>& A_;
  index_t cols_;
  const std::uint8_t* kinds_ = nullptr;  ///< of the rows whose values are laid out
  int count_ = 0;
  index_t offsets_[most_offsets];
  V values_[most_offsets * rows_at_once];
};

/// Rows [begin, end) of a matrix with runs, and what `store` makes of them.
template <class V, class T, class Store>
void repeated_rows(const RowDictionaryOperand<T>& A, index_t cols, const V* x, const Store& store,
                   index_t begin, index_t end) {
  if (begin >= end) return;
  constexpr index_t tile = 480;  // stays in the nearest cache, and holds whole blocks of registers
  V sums[tile];
  index_t run = run_of(A, begin);
  const auto by_tiles = [&](const auto& multiply) {
    for (index_t i = begin; i < end;) {
      const index_t stop = end - i < tile ? end : i + tile;
      multiply(i, stop);
      store.rows(i, sums, stop - i);
      i = stop;
    }
  };
  if (A.run_period == 2) {
    RepeatedBlocks<2, V, T> blocks(A, cols);
    by_tiles([&](index_t i, index_t stop) { blocks.tile(x, sums, i, stop, run); });
  } else if (A.run_period == 3) {
    RepeatedBlocks<3, V, T> blocks(A, cols);
    by_tiles([&](index_t i, index_t stop) { blocks.tile(x, sums, i, stop, run); });
  } else {
    by_tiles([&](index_t i, index_t stop) { tile_of_rows(A, x, sums, i, stop, run); });
  }
}

}  // namespace cnc::openmp::CNC_ISA
