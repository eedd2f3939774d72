#pragma once

#include "convert/checks.hpp"
#include "convert/sorted_rows.hpp"
#include "convert/transposed_pattern.hpp"
#include "huge_pages.hpp"

#include <cnc/vector.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

// C = A B of sparse matrices of small blocks: the pattern of C once, its values as often as those of A and B change.
//
// Row i of C gathers the rows of B that row i of A names, in the order of A: the same sums for any number of threads. A
// thread of the host finds a column's place in a table as long as B has columns. On a device a group of lanes collects
// the columns of a row in a hash table on chip, and each entry is then summed by one thread, which finds it in the rows of B.
//
// Method   Gustavson, Two fast algorithms for sparse matrices: multiplication and permuted transposition, 1978; tables: Demouth,
//          Sparse matrix-matrix multiplication on the GPU, GTC 2012.

namespace cnc::detail {

/// A sparse matrix of blocks of `height` x `width`, row-major, columns ascending in each row. Blocks of one entry: CSR.
template <class T, class Space>
struct SparseBlocks {
  index_t rows = 0;  ///< of blocks
  index_t cols = 0;  ///< of blocks
  int height = 1, width = 1;
  Kokkos::View<const index_t*, Space> row_offsets;  ///< [rows + 1]
  Kokkos::View<const index_t*, Space> columns;      ///< [blocks]
  Vector<T, Space> values;                          ///< [blocks height width]

  offset_t blocks() const { return static_cast<offset_t>(columns.extent(0)); }
  int block_values() const { return height * width; }
  offset_t entries() const { return blocks() * block_values(); }
};

/// What loops see of one.
template <class T>
struct BlocksOperand {
  index_t rows, cols;
  int height, width;
  const index_t* row_offsets;
  const index_t* columns;
  T* values;

  KOKKOS_INLINE_FUNCTION T* block(index_t k) const {
    return values + static_cast<offset_t>(k) * (height * width);
  }
};
template <class T, class Space>
BlocksOperand<T> operand_of(const SparseBlocks<T, Space>& A) {
  return {A.rows,           A.cols,         A.height, A.width, A.row_offsets.data(),
          A.columns.data(), A.values.data()};
}

/// CSR as blocks of one entry, over the same memory. Rows ascend.
template <class T, class Space>
SparseBlocks<T, Space> as_blocks(const CsrMatrix<T, Space>& A) {
  return {A.rows, A.cols, 1, 1, A.row_offsets, A.columns, A.values};
}

/// The pattern of A^T, and which block of A each of its blocks is. Waits.
template <class T, class Space>
TransposedPattern<Space> transposed_blocks(const SparseBlocks<T, Space>& A) {
  const CsrMatrix<T, Space> pattern(
      A.rows, A.cols, 1, A.row_offsets, A.columns,
      Vector<T, Space>(A.values.data(), static_cast<std::size_t>(A.blocks())));
  return transposed_pattern(pattern);
}

/// block k := block origins[k] of another matrix, transposed
template <class T>
struct TakeTransposed {
  BlocksOperand<T> from, to;
  const index_t* origins;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t k) const {
    const T* const a = from.block(origins[k]);
    T* const b = to.block(static_cast<index_t>(k));
    for (int r = 0; r < to.height; ++r)
      for (int c = 0; c < to.width; ++c) b[r * to.width + c] = a[c * to.height + r];
  }
};

/// out += a b, a: h x m, b: m x w. Sizes that are zero here are those of run time.
template <int H, int M, int W, class T>
KOKKOS_INLINE_FUNCTION void add_block_product(const T* a, const T* b, T* out, int h, int m, int w) {
  const int height = H > 0 ? H : h, middle = M > 0 ? M : m, width = W > 0 ? W : w;
  for (int i = 0; i < height; ++i) {
    T sums[W > 0 ? W : max_block_size];  // which the compiler keeps in registers
    for (int j = 0; j < width; ++j) sums[j] = out[i * width + j];
    for (int k = 0; k < middle; ++k)
      for (int j = 0; j < width; ++j) sums[j] += a[i * middle + k] * b[k * width + j];
    for (int j = 0; j < width; ++j) out[i * width + j] = sums[j];
  }
}

/// A list that is sorted with its repeats.
struct ListToSort {
  index_t* columns;
  KOKKOS_INLINE_FUNCTION bool before(offset_t i, offset_t j) const {
    return columns[i] < columns[j];
  }
  KOKKOS_INLINE_FUNCTION void exchange(offset_t i, offset_t j) const {
    const index_t column = columns[i];
    columns[i] = columns[j];
    columns[j] = column;
  }
};

/// Sorts a list and keeps one of each. How many are left.
template <class Length>
KOKKOS_INLINE_FUNCTION index_t sort_once(index_t* list, Length n) {
  heap_sort(ListToSort{list}, n);
  index_t length = 0;
  for (Length j = 0; j < n; ++j)
    if (j == 0 || list[j] != list[length - 1]) list[length++] = list[j];
  return length;
}

/// What the rows of B that a row of A names hold between them: of all rows, and of the longest.
struct Room : Facts {
  offset_t sum = 0, most = 0;
  KOKKOS_INLINE_FUNCTION Room& operator+=(const Room& other) {
    sum += other.sum;
    if (other.most > most) most = other.most;
    return *this;
  }
};
template <class T>
struct MeasureRoom {
  BlocksOperand<T> A, B;
  KOKKOS_INLINE_FUNCTION offset_t of(offset_t i) const {
    offset_t sum = 0;
    for (index_t k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k)
      sum += B.row_offsets[A.columns[k] + 1] - B.row_offsets[A.columns[k]];
    return sum;
  }
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, Room& room) const {
    const offset_t own = of(i);
    room += Room{{}, own, own};
  }
};
template <class Exec, class T, class Space>
Room product_room(const Exec& exec, const SparseBlocks<T, Space>& A,
                  const SparseBlocks<T, Space>& B) {
  return sum_over<Room>(exec, A.rows, MeasureRoom<T>{operand_of(A), operand_of(B)});
}

/// Products of blocks that A B takes, and blocks that it has at most. Waits.
template <class Exec, class T, class Space>
offset_t product_work(const Exec& exec, const SparseBlocks<T, Space>& A,
                      const SparseBlocks<T, Space>& B) {
  return product_room(exec, A, B).sum;
}

/// How groups of lanes collect columns.
struct ColumnTables {
  int lanes;      ///< of a group
  index_t slots;  ///< of a table, a power of two
  index_t
      most;  ///< columns of a row that it takes; each lane may bring one more before it is seen to be full
  int bytes() const { return static_cast<int>((1 + slots + most) * offset_t(sizeof(index_t))); }

  /// For rows of A of this mean length, and this room for the longest of C.
  static ColumnTables fitting(offset_t mean_length, offset_t room) {
    const bool is_short = mean_length <= 16;
    const index_t largest = is_short ? 256 : 1024;
    index_t slots = is_short ? 64 : 256;
    while (slots < largest && slots / 4 * 3 < room) slots *= 2;
    return {is_short ? 8 : 32, slots, slots / 4 * 3};
  }
};

/// The columns of row i of C by a group: counts them, or writes them in ascending order where `columns` is there. A row
/// with more than the table takes counts as one more than that, and is not written.
template <class T>
struct CollectColumns {
  BlocksOperand<T> A, B;
  ColumnTables tables;
  index_t* row_offsets;  ///< counts in [1..]
  index_t* columns;

  KOKKOS_INLINE_FUNCTION void insert(index_t c, index_t* count, index_t* table,
                                     index_t* list) const {
    if (load_shared(*count) > tables.most) return;
    const auto last = static_cast<std::uint32_t>(tables.slots - 1);
    for (std::uint32_t at = static_cast<std::uint32_t>(c) * 2654435769u >> 7;; ++at) {
      index_t* const slot = table + (at & last);
      const index_t there = Kokkos::atomic_compare_exchange(slot, index_t(-1), c);
      if (there == c) return;
      if (there >= 0) continue;
      const index_t place = Kokkos::atomic_fetch_add(count, index_t(1));
      if (place < tables.most) list[place] = c;
      return;
    }
  }
  template <class Group>
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, const Group& group) const {
    const bool writes = columns != nullptr;
    if (writes && row_offsets[i + 1] - row_offsets[i] > tables.most) return;
    auto* const count = static_cast<index_t*>(group.scratch);
    index_t* const table = count + 1;
    index_t* const list = table + tables.slots;
    group.each(tables.slots + 1, [&](index_t s) { count[s] = s == 0 ? 0 : -1; });
    const index_t begin = A.row_offsets[i];
    group.each(A.row_offsets[i + 1] - begin, [&](index_t k) {
      const index_t row = A.columns[begin + k];
      for (index_t e = B.row_offsets[row]; e < B.row_offsets[row + 1]; ++e)
        insert(B.columns[e], count, table, list);
    });
    const index_t found = *count;
    if (!writes) {
      group.each(
          1, [&](index_t) { row_offsets[i + 1] = found > tables.most ? tables.most + 1 : found; });
      return;
    }
    index_t* const to = columns + row_offsets[i];
    group.each(found, [&](index_t j) {
      const index_t column = list[j];
      index_t before = 0;
      for (index_t other = 0; other < found; ++other) before += list[other] < column;
      to[before] = column;
    });
  }
};

// Rows that no table takes: one thread to each, in global memory.

/// room[i + 1] := the room of such a row, else 0
template <class T>
struct MeasureLongRow {
  MeasureRoom<T> room_of;
  index_t most;
  const index_t* counts;
  offset_t* room;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    room[i + 1] = counts[i + 1] > most ? room_of.of(i) : 0;
  }
};
/// Gathers its columns at found[room[i]]; their number goes to counts[i + 1].
template <class T>
struct CollectLongRow {
  BlocksOperand<T> A, B;
  const offset_t* room;
  index_t* found;
  index_t* counts;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    const offset_t n = room[i + 1] - room[i];
    if (n == 0) return;
    index_t* const row = found + room[i];
    offset_t to = 0;
    for (index_t k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k)
      for (index_t e = B.row_offsets[A.columns[k]]; e < B.row_offsets[A.columns[k] + 1]; ++e)
        row[to++] = B.columns[e];
    counts[i + 1] = sort_once(row, n);
  }
};
struct CopyLongRow {
  const offset_t* room;
  const index_t* found;
  const index_t* row_offsets;
  index_t* columns;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    if (room[i + 1] == room[i]) return;
    const index_t* from = found + room[i];
    for (index_t k = row_offsets[i]; k < row_offsets[i + 1]; ++k) columns[k] = *from++;
  }
};

/// Row i of C on a device, by `lanes` threads: one to a row of scalars of a block at a time.
template <int H, int M, int W, class T>
struct MultiplyEntries {
  BlocksOperand<T> A, B, C;
  int lanes;

  /// Where row `row` of B has this column, or -1.
  KOKKOS_INLINE_FUNCTION index_t find(index_t row, index_t column) const {
    index_t low = B.row_offsets[row], high = B.row_offsets[row + 1];
    const index_t end = high;
    while (low < high) {
      const index_t middle = low + (high - low) / 2;
      if (B.columns[middle] < column)
        low = middle + 1;
      else
        high = middle;
    }
    return low < end && B.columns[low] == column ? low : -1;
  }
  KOKKOS_INLINE_FUNCTION void operator()(offset_t unit) const {
    const offset_t i = unit / lanes;
    const int height = H > 0 ? H : C.height;
    const index_t begin = C.row_offsets[i], parts = (C.row_offsets[i + 1] - begin) * height;
    for (auto part = static_cast<index_t>(unit % lanes); part < parts; part += lanes)
      sum(i, begin + part / height, part % height);
  }
  KOKKOS_INLINE_FUNCTION void sum(offset_t i, index_t at, int r) const {
    const int middle = M > 0 ? M : A.width, width = W > 0 ? W : C.width;
    T sums[W > 0 ? W : max_block_size] = {};
    const index_t column = C.columns[at];
    for (index_t k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
      const index_t e = find(A.columns[k], column);
      if (e < 0) continue;
      const T* const a = A.block(k) + r * middle;
      const T* const b = B.block(e);
      for (int m = 0; m < middle; ++m)
        for (int c = 0; c < width; ++c) sums[c] += a[m] * b[m * width + c];
    }
    T* const to = C.block(at) + r * width;
    for (int c = 0; c < width; ++c) to[c] = sums[c];
  }
};

/// The order of columns in rows that a product leaves. As they are met is faster on a host; a device sorts them in any case.
enum class RowsOf { ascending, any_order };

/// How many columns rows [begin, end) of C have, on the host.
template <class T>
[[gnu::noinline]] void count_columns(const BlocksOperand<T> A, const BlocksOperand<T> B,
                                     index_t begin, index_t end, index_t* counts) {
  std::vector<index_t> rows(static_cast<std::size_t>(B.cols), -1);
  index_t* const last_row = rows.data();
  for (index_t i = begin; i < end; ++i) {
    index_t count = 0;
    const index_t row_end = A.row_offsets[i + 1];
    for (index_t k = A.row_offsets[i]; k < row_end; ++k) {
      const index_t last = B.row_offsets[A.columns[k] + 1];
      for (index_t e = B.row_offsets[A.columns[k]]; e < last; ++e) {
        index_t& row = last_row[B.columns[e]];
        count += row != i;
        row = i;
      }
    }
    counts[i + 1] = count;
  }
}

/// Makes the columns of a row of n blocks ascend.
template <class T>
class RowSort {
 public:
  void operator()(index_t n, offset_t block, index_t* columns, T* values) {
    if (std::is_sorted(columns, columns + n)) return;
    keys_.resize(static_cast<std::size_t>(n));
    for (index_t k = 0; k < n; ++k)
      keys_[static_cast<std::size_t>(k)] =
          static_cast<std::uint64_t>(columns[k]) << 32 | static_cast<std::uint64_t>(k);
    std::sort(keys_.begin(), keys_.end());
    values_.assign(values, values + n * block);
    for (const std::uint64_t key : keys_) {
      *columns++ = static_cast<index_t>(key >> 32);
      values = std::copy_n(values_.data() + static_cast<offset_t>(key & 0xffffffff) * block, block,
                           values);
    }
  }

 private:
  std::vector<std::uint64_t> keys_;
  std::vector<T> values_;
};

/// Rows [begin, end) of C on the host, where there is room for them. A function of its own on copies: what it writes could be part of the
/// operands elsewhere.
template <int H, int M, int W, class T>
[[gnu::noinline]] void form_rows(const BlocksOperand<T> A, const BlocksOperand<T> B, index_t begin,
                                 index_t end, RowsOf order, const index_t* row_offsets,
                                 index_t* columns, T* values) {
  const int height = H > 0 ? H : A.height, middle = M > 0 ? M : A.width,
            width = W > 0 ? W : B.width;
  const offset_t a_block = height * middle, b_block = middle * width, block = height * width;
  // The place of a column's block + 1: a column of this row has one behind the row's begin.
  std::vector<index_t> places(static_cast<std::size_t>(B.cols), 0);
  index_t* const place = places.data();
  RowSort<T> sort;
  for (index_t i = begin; i < end; ++i) {
    const index_t row_begin = row_offsets[i], row_end = A.row_offsets[i + 1];
    index_t used = row_begin;
    for (index_t k = A.row_offsets[i]; k < row_end; ++k) {
      const index_t b_row = A.columns[k];
      const T* const a = A.values + k * a_block;
      const index_t last = B.row_offsets[b_row + 1];
      for (index_t e = B.row_offsets[b_row]; e < last; ++e) {
        const index_t column = B.columns[e];
        index_t at = place[column];
        if (at <= row_begin) {
          columns[used] = column;
          place[column] = at = ++used;
          std::fill_n(values + (at - 1) * block, block, T(0));
        }
        add_block_product<H, M, W>(a, B.values + e * b_block, values + (at - 1) * block, height,
                                   middle, width);
      }
    }
    if (order == RowsOf::ascending)
      sort(used - row_begin, block, columns + row_begin, values + row_begin * block);
  }
}

/// C on a host: each thread counts its columns, then forms its rows.
template <int H, int M, int W, class Exec, class T, class Space>
SparseBlocks<T, Space> host_product(const Exec& exec, const SparseBlocks<T, Space>& A,
                                    const SparseBlocks<T, Space>& B, const std::string& what,
                                    RowsOf order) {
  const BlocksOperand<T> a = operand_of(A), b = operand_of(B);
  const int parts = threads_for(A.rows);
  const auto row_offsets =
      zeroed<index_t, Space>("cnc::row_offsets", static_cast<std::size_t>(A.rows) + 1);
  parallel_ranges(A.rows, parts, [&](index_t begin, index_t end, int) {
    count_columns(a, b, begin, end, row_offsets.data());
  });
  const std::size_t blocks =
      offsets_from_counts(exec, row_offsets.data(), A.rows, ("blocks in " + what).c_str());
  const auto block = static_cast<std::size_t>(A.height * B.width);
  require_blocks<T, Space>(what.c_str(), blocks, block);
  const auto columns = in_large_pages<index_t, Space>("cnc::columns", blocks);
  const auto values = in_large_pages<T, Space>("cnc::values", blocks * block);
  parallel_ranges(A.rows, parts, [&](index_t begin, index_t end, int) {
    form_rows<H, M, W>(a, b, begin, end, order, row_offsets.data(), columns.data(), values.data());
  });
  return {A.rows, B.cols, A.height, B.width, row_offsets, columns, values};
}

/// The values of rows [begin, end) on the host, whose columns are there.
template <int H, int M, int W, class T>
[[gnu::noinline]] void multiply_rows(const BlocksOperand<T> A, const BlocksOperand<T> B,
                                     const BlocksOperand<T> C, index_t begin, index_t end) {
  const int height = H > 0 ? H : A.height, middle = M > 0 ? M : A.width,
            width = W > 0 ? W : B.width;
  const offset_t a_block = height * middle, b_block = middle * width, block = height * width;
  std::vector<index_t> places(static_cast<std::size_t>(B.cols));
  index_t* const place = places.data();
  for (index_t i = begin; i < end; ++i) {
    for (index_t k = C.row_offsets[i]; k < C.row_offsets[i + 1]; ++k) place[C.columns[k]] = k;
    std::fill(C.values + C.row_offsets[i] * block, C.values + C.row_offsets[i + 1] * block, T(0));
    const index_t row_end = A.row_offsets[i + 1];
    for (index_t k = A.row_offsets[i]; k < row_end; ++k) {
      const index_t b_row = A.columns[k];
      const T* const a = A.values + k * a_block;
      const index_t last = B.row_offsets[b_row + 1];
      for (index_t e = B.row_offsets[b_row]; e < last; ++e)
        add_block_product<H, M, W>(a, B.values + e * b_block,
                                   C.values + place[B.columns[e]] * block, height, middle, width);
    }
  }
}

/// The values of C, whose pattern is there. Enqueued on a device.
template <int H, int M, int W, class Exec, class T, class Space>
void device_values(const Exec& exec, const SparseBlocks<T, Space>& A,
                   const SparseBlocks<T, Space>& B, const SparseBlocks<T, Space>& C) {
  const int lanes = C.blocks() * C.height <= offset_t(C.rows) * 16 ? 8 : 32;
  on_each(exec, offset_t(A.rows) * lanes,
          MultiplyEntries<H, M, W, T>{operand_of(A), operand_of(B), operand_of(C), lanes});
}

/// C on a device: how many columns each row has, which, then the values.
template <int H, int M, int W, class Exec, class T, class Space>
SparseBlocks<T, Space> device_product(const Exec& exec, const SparseBlocks<T, Space>& A,
                                      const SparseBlocks<T, Space>& B, const std::string& what) {
  const auto n = static_cast<std::size_t>(A.rows);
  const auto row_offsets = zeroed<index_t, Space>("cnc::row_offsets", n + 1);
  const offset_t most = product_room(exec, A, B).most;
  const auto tables = ColumnTables::fitting(A.blocks() / std::max<index_t>(A.rows, 1), most);
  CollectColumns<T> collect{operand_of(A), operand_of(B), tables, row_offsets.data(), nullptr};
  on_each_group(exec, A.rows, tables.lanes, tables.bytes(), collect);

  Vector<offset_t, Space> room;
  Vector<index_t, Space> found;
  offset_t of_long_rows = 0;
  if (most > tables.most) {
    room = zeroed<offset_t, Space>("cnc::room", n + 1);
    on_each(
        exec, A.rows,
        MeasureLongRow<T>{{collect.A, collect.B}, tables.most, row_offsets.data(), room.data()});
    of_long_rows = scan(exec, 0, offset_t(A.rows) + 1, AddCounts<offset_t>{room.data()});
  }
  if (of_long_rows > 0) {
    require_memory(what, static_cast<double>(of_long_rows) * sizeof(index_t), memory_kind<Space>);
    found = uninitialized<index_t, Space>("cnc::found", static_cast<std::size_t>(of_long_rows));
    on_each(exec, A.rows,
            CollectLongRow<T>{collect.A, collect.B, room.data(), found.data(), row_offsets.data()});
  }
  const std::size_t blocks =
      offsets_from_counts(exec, row_offsets.data(), A.rows, ("blocks in " + what).c_str());
  const auto block = static_cast<std::size_t>(A.height * B.width);
  require_blocks<T, Space>(what.c_str(), blocks, block);
  const auto columns = in_large_pages<index_t, Space>("cnc::columns", blocks);
  collect.columns = columns.data();
  on_each_group(exec, A.rows, tables.lanes, tables.bytes(), collect);
  if (of_long_rows > 0)
    on_each(exec, A.rows,
            CopyLongRow{room.data(), found.data(), row_offsets.data(), columns.data()});
  const SparseBlocks<T, Space> C{A.rows,
                                 B.cols,
                                 A.height,
                                 B.width,
                                 row_offsets,
                                 columns,
                                 in_large_pages<T, Space>("cnc::values", blocks * block)};
  device_values<H, M, W>(exec, A, B, C);
  exec.fence();
  return C;
}

/// make.operator()<H, M, W>() for blocks of h x m times m x w: zeros for sizes that are not compiled.
template <class Make>
auto for_block_sizes(int h, int m, int w, const Make& make) {
  const auto are = [&](int height, int middle, int width) {
    return h == height && m == middle && w == width;
  };
  if (are(1, 1, 1)) return make.template operator()<1, 1, 1>();
  if (are(2, 2, 2)) return make.template operator()<2, 2, 2>();
  if (are(3, 3, 3)) return make.template operator()<3, 3, 3>();
  if (are(6, 6, 6)) return make.template operator()<6, 6, 6>();
  if (are(2, 2, 3)) return make.template operator()<2, 2, 3>();  // elasticity in the plane
  if (are(3, 2, 3)) return make.template operator()<3, 2, 3>();
  if (are(3, 3, 6)) return make.template operator()<3, 3, 6>();  // and in space
  if (are(6, 3, 6)) return make.template operator()<6, 3, 6>();
  return make.template operator()<0, 0, 0>();
}

/// C = A B. `what`: C in messages. Waits.
/// Errors   InvalidArgument (more than 2^31 - 1 blocks), OutOfMemory.
template <class Exec, class T, class Space>
SparseBlocks<T, Space> product(const Exec& exec, const SparseBlocks<T, Space>& A,
                               const SparseBlocks<T, Space>& B, const std::string& what,
                               RowsOf order = RowsOf::ascending) {
  return for_block_sizes(A.height, A.width, B.width, [&]<int H, int M, int W>() {
    if constexpr (on_threads<Exec>)
      return host_product<H, M, W>(exec, A, B, what, order);
    else
      return device_product<H, M, W>(exec, A, B, what);
  });
}

/// The values of C, which product() made, for other values of A and B. Enqueued on a device.
template <class Exec, class T, class Space>
void multiply_again(const Exec& exec, const SparseBlocks<T, Space>& A,
                    const SparseBlocks<T, Space>& B, const SparseBlocks<T, Space>& C) {
  const BlocksOperand<T> a = operand_of(A), b = operand_of(B), c = operand_of(C);
  for_block_sizes(A.height, A.width, B.width, [&]<int H, int M, int W>() {
    if constexpr (on_threads<Exec>)
      parallel_ranges(A.rows, threads_for(A.rows), [&](index_t begin, index_t end, int) {
        multiply_rows<H, M, W>(a, b, c, begin, end);
      });
    else
      device_values<H, M, W>(exec, A, B, C);
  });
}

}  // namespace cnc::detail
