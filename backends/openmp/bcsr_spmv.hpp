#pragma once

#include <openmp/repeated_rows.hpp>

#include <utility>

namespace cnc::openmp::CNC_ISA {

// Products of block rows [begin, end) of a BCSR matrix with x.
//
// A block is read as one stream of b^2 consecutive values, W at a time (W = 2^k divides b^2, or leaves
// one value over): lane l of chunk j holds entry (r, c) with r b + c = j W + l and meets x[c], so each
// chunk wants x in a pattern that is known at compile time and comes from one shuffle of the b values
// of x. Nothing is summed across lanes before the end of the block row.

/// Entries of a row at a time where each is loaded by itself: a wide register takes longer to fill and leaves a longer remainder.
template <class V>
inline constexpr int narrow_lanes = CNC_ISA_VECTOR_BYTES > 16 ? 2 : lanes<V>;

/// One row of a CSR matrix times x, W entries at a time.
template <int W, bool by_instruction, class V, class T>
CNC_INLINE V csr_row(const BcsrOperand<T>& A, const V* x, index_t begin, index_t end) {
  index_t k = begin;
  V total = 0;
  if (end - begin >= W) {
    Vec<V, W> sums{};
    for (; k + W <= end; k += W)
      sums += load<V, W>(A.values + k) *
              gather<V, W, by_instruction>(x, load<index_t, W>(A.columns + k));
    total = sum<V, W>(sums);
  }
  for (; k < end; ++k) total += static_cast<V>(A.values[k]) * x[A.columns[k]];
  return total;
}

template <int W, bool by_instruction, class V, class T, class Store>
void csr_rows(const BcsrOperand<T>& A, const V* x, const Store& store, index_t begin, index_t end) {
  for (index_t i = begin; i < end; ++i)
    store(i, csr_row<W, by_instruction>(A, x, A.row_offsets[i], A.row_offsets[i + 1]));
}

/// Chunk width for b x b blocks: the widest power of two in a register that leaves at most one value.
template <class V, int B>
constexpr int chunk_width() {
  int width = 1;
  for (int w = 2; w <= lanes<V>; w *= 2)
    if (B * B % w <= 1 && B * B >= w) width = w;
  return width;
}

/// The b values of x, repeated in the pattern that chunk `J` of a block meets. `low` and `high` hold
/// the first 2 W of them; more than that (narrow registers, wide blocks) are collected one by one.
template <int B, int J, class V, int W, int... Lane>
CNC_INLINE Vec<V, W> pattern(const V* x, Vec<V, W> low, Vec<V, W> high,
                             std::integer_sequence<int, Lane...>) {
  if constexpr (B > 2 * W)
    return Vec<V, W>{x[(J * W + Lane) % B]...};
  else
    return __builtin_shufflevector(low, high, ((J * W + Lane) % B)...);
}

/// Sums of one block row, by the position within the block that contributed them.
template <class V, int B>
struct BlockRowSums {
  static constexpr int W = chunk_width<V, B>();
  static constexpr int chunks = B * B / W;
  static constexpr bool left_over = B * B % W != 0;
  // Chunks of one row of the block may share a register: fewer live registers for wide blocks.
  static constexpr bool by_row = B % W == 0;
  static constexpr int registers = by_row ? B : chunks;

  Vec<V, W> sums[registers] = {};
  V last = 0;  // entry (b-1, b-1), when it is left over

  template <class T, int... J>
  CNC_INLINE void add(const T* block, const V* x, std::integer_sequence<int, J...>) {
    if constexpr (by_row) {
      ((sums[J * W / B] += load<V, W>(block + J * W) * load<V, W>(x + J * W % B)), ...);
    } else {
      // Reads 2 W >= b values of x: the caller makes sure that they are there.
      const Vec<V, W> low = load<V, W>(x);
      const Vec<V, W> high = B > W ? load<V, W>(x + W) : low;
      ((sums[J] += load<V, W>(block + J * W) *
                   pattern<B, J, V, W>(x, low, high, std::make_integer_sequence<int, W>{})),
       ...);
    }
    if constexpr (left_over) last += static_cast<V>(block[B * B - 1]) * x[B - 1];
  }

  template <class Store>
  CNC_INLINE void finish(const Store& store_row, index_t row) const {
    V entries[B * B];
    if constexpr (by_row) {
      for (int r = 0; r < B; ++r) store_row(row + r, sum<V, W>(sums[r]));
    } else {
      for (int j = 0; j < chunks; ++j) store<V, W>(entries + j * W, sums[j]);
      if constexpr (left_over) entries[B * B - 1] = last;
      for (int r = 0; r < B; ++r) {
        V total = entries[r * B];
        for (int c = 1; c < B; ++c) total += entries[r * B + c];
        store_row(row + r, total);
      }
    }
  }
};

/// A block row of any block size, also one with partial blocks: never reads or writes out of range.
template <class V, class T, class Store>
void general_block_row(const BcsrOperand<T>& A, const V* x, const Store& store, index_t i) {
  const int b = A.block_size;
  const index_t row = i * b;
  const int height = A.rows - row < b ? A.rows - row : b;
  V sums[max_block_size] = {};
  for (index_t k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
    const T* block = A.values + static_cast<offset_t>(k) * b * b;
    const index_t col = A.columns[k] * b;
    const int width = A.cols - col < b ? A.cols - col : b;
    for (int r = 0; r < height; ++r)
      for (int c = 0; c < width; ++c) sums[r] += static_cast<V>(block[r * b + c]) * x[col + c];
  }
  for (int r = 0; r < height; ++r) store(row + r, sums[r]);
}

template <int B, class V, class T, class Store>
void block_rows(const BcsrOperand<T>& A, const V* x, const Store& store, index_t begin,
                index_t end) {
  using Sums = BlockRowSums<V, B>;
  // Last block column whose x can be read with full registers; block rows beyond take the careful way.
  const index_t reach = Sums::by_row ? B : 2 * Sums::W > B ? 2 * Sums::W : B;
  const index_t last_safe = A.cols < reach ? -1 : (A.cols - reach) / B;
  for (index_t i = begin; i < end; ++i) {
    const index_t first = A.row_offsets[i], last = A.row_offsets[i + 1];
    const bool whole = (i + 1) * B <= A.rows && (first == last || A.columns[last - 1] <= last_safe);
    if (!whole) {
      general_block_row(A, x, store, i);
      continue;
    }
    Sums sums;
    for (index_t k = first; k < last; ++k)
      sums.add(A.values + static_cast<offset_t>(k) * (B * B), x + A.columns[k] * B,
               std::make_integer_sequence<int, Sums::chunks>{});
    sums.finish(store, i * B);
  }
}

/// What the launchers in matrix_ops.hpp ask of a format.
template <class T, class V>
struct FormatKernel<BcsrOperand<T>, V> {
  using Operand = BcsrOperand<T>;

  static index_t units(const Operand& A) { return A.block_rows(); }
  static index_t units_per_group(const Operand& A) {
    return group_rows(A.block_size) / A.block_size;
  }
  static index_t rows_before(const Operand& A, index_t unit) {
    const offset_t row = static_cast<offset_t>(unit) * A.block_size;
    return row < A.rows ? static_cast<index_t>(row) : A.rows;
  }
  /// Stored values of the block rows before `unit`, and two more per row for y and its loop.
  static double work_before(const Operand& A, index_t unit) {
    return double(A.row_offsets[unit]) * A.block_size * A.block_size + 2.0 * rows_before(A, unit);
  }

  template <class Store>
  static void multiply(const Operand& A, const V* x, const Store& store, index_t begin,
                       index_t end) {
    if (A.dictionary.runs != nullptr)
      return repeated_rows(A.dictionary, A.cols, x, store, rows_before(A, begin),
                           rows_before(A, end));
    switch (A.block_size) {
      case 1:
        return gathers_are_fast ? csr_rows<lanes<V>, true>(A, x, store, begin, end)
                                : csr_rows<narrow_lanes<V>, false>(A, x, store, begin, end);
      case 2: return block_rows<2>(A, x, store, begin, end);
      case 3: return block_rows<3>(A, x, store, begin, end);
      case 4: return block_rows<4>(A, x, store, begin, end);
      case 5: return block_rows<5>(A, x, store, begin, end);
      case 6: return block_rows<6>(A, x, store, begin, end);
      case 8: return block_rows<8>(A, x, store, begin, end);
      default:
        for (index_t i = begin; i < end; ++i) general_block_row(A, x, store, i);
    }
  }

  /// x . y over the rows of units [begin, end).
  static double dot(const Operand& A, const V* x, const V* y, index_t begin, index_t end) {
    return dot_range(x, y, rows_before(A, begin), rows_before(A, end));
  }
};

}  // namespace cnc::openmp::CNC_ISA
