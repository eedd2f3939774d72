#pragma once

#include "convert/checks.hpp"
#include "convert/search.hpp"
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
// thread of the host finds a column's place in a table as long as B has columns. On a device the columns of a row are collected
// in a hash table on chip, by one thread where they are few, else by a group of lanes. Sums of scalars are on chip too, where
// the lanes of a group add one row of B after the other; entries of blocks are summed by one thread each, which finds them in the rows of B.
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

/// block k := block origins[k] of another matrix, transposed. On a device `threads` of them share it.
template <class T>
struct TakeTransposed {
  BlocksOperand<T> from, to;
  const index_t* origins;
  int threads;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t unit) const {
    const auto k = static_cast<index_t>(unit / threads);
    const T* const a = from.block(origins[k]);
    T* const b = to.block(k);
    for (auto e = static_cast<int>(unit % threads); e < to.height * to.width; e += threads)
      b[e] = a[e % to.width * to.height + e / to.width];
  }
};
/// `to` := the transpose, whose pattern is there. Enqueued on a device.
template <class Exec, class T, class Space>
void take_transposed(const Exec& exec, const SparseBlocks<T, Space>& from,
                     const Vector<index_t, Space>& origins, const SparseBlocks<T, Space>& to) {
  const int threads = sharing<Exec>(to.block_values());
  on_each(exec, to.blocks() * threads,
          TakeTransposed<T>{operand_of(from), operand_of(to), origins.data(), threads});
}

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

/// What the rows of B that row i of A names hold between them.
template <class T>
struct MeasureRoom {
  BlocksOperand<T> A, B;
  KOKKOS_INLINE_FUNCTION offset_t of(offset_t i) const {
    offset_t sum = 0;
    for (index_t k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k)
      sum += B.row_offsets[A.columns[k] + 1] - B.row_offsets[A.columns[k]];
    return sum;
  }
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, offset_t& sum) const { sum += of(i); }
};

/// Products of blocks that A B takes, and blocks that it has at most. Waits.
template <class Exec, class T, class Space>
offset_t product_work(const Exec& exec, const SparseBlocks<T, Space>& A,
                      const SparseBlocks<T, Space>& B) {
  return sum_over(exec, A.rows, MeasureRoom<T>{operand_of(A), operand_of(B)});
}

/// How lanes of a device collect the columns of a row: in a hash table on chip.
struct ColumnTables {
  int lanes;      ///< of a group
  index_t slots;  ///< of a table, a power of two
  index_t
      most;  ///< columns of a row that it takes; each lane may bring one more before it is seen to be full

  /// Where one lane has a table it has no list of what is in it.
  index_t listed() const { return lanes > 1 ? most : 0; }
  int bytes() const { return static_cast<int>((1 + slots + listed()) * sizeof(index_t)); }
};
/// From short rows to long ones; rows that a table does not take are left to the next.
inline constexpr ColumnTables column_tables[] = {{1, 32, 28}, {8, 128, 96}, {32, 1024, 768}};

/// Writes c to a slot that is empty (-1). What was there.
KOKKOS_INLINE_FUNCTION index_t take_slot(index_t* slot, index_t c) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return atomicCAS(slot, index_t(-1), c);  // which knows where the slot is; Kokkos' has to ask
#else
  return Kokkos::atomic_compare_exchange(slot, index_t(-1), c);
#endif
}
KOKKOS_INLINE_FUNCTION index_t add_one(index_t* count) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return atomicAdd(count, index_t(1));
#else
  return Kokkos::atomic_fetch_add(count, index_t(1));
#endif
}
KOKKOS_INLINE_FUNCTION std::uint32_t hash_of(index_t c) {
  return static_cast<std::uint32_t>(c) * 2654435769u >> 7;
}

/// The rows of C that a table is for: counted first, then written. A row with more than the table takes counts as one more than
/// that, and is not written.
template <class T>
struct CollectedRows {
  BlocksOperand<T> A, B;
  ColumnTables tables;
  index_t above;         ///< shorter tables took the rows that have no more than this
  index_t* row_offsets;  ///< counts in [1..] as long as they are not known
  bool known;
  index_t* columns;
  index_t* room;  ///< [rows][most]: where rows are written when they are counted; null: nowhere

  KOKKOS_INLINE_FUNCTION bool takes(offset_t i) const {
    if (!known) return above == 0 || row_offsets[i + 1] > above;
    const index_t length = row_offsets[i + 1] - row_offsets[i];
    return length > above && length <= tables.most;
  }
  KOKKOS_INLINE_FUNCTION void count(offset_t i, index_t found) const {
    row_offsets[i + 1] = found > tables.most ? tables.most + 1 : found;
  }
  /// Gathers row i in a table of one lane. How many columns.
  KOKKOS_INLINE_FUNCTION index_t gather(offset_t i, index_t* table) const {
    for (index_t s = 0; s < tables.slots; ++s) table[s] = -1;
    const auto last = static_cast<std::uint32_t>(tables.slots - 1);
    index_t found = 0;
    for (index_t k = A.row_offsets[i]; k < A.row_offsets[i + 1] && found <= tables.most; ++k) {
      const index_t row = A.columns[k], end = B.row_offsets[row + 1];
      for (index_t e = B.row_offsets[row]; e < end && found <= tables.most; ++e) {
        const index_t column = B.columns[e];
        std::uint32_t at = hash_of(column) & last;
        index_t there = table[at];
        while (there != column && there >= 0) {
          at = (at + 1) & last;
          there = table[at];
        }
        if (there == column) continue;
        table[at] = column;
        ++found;
      }
    }
    return found;
  }
};

/// The columns of row i of C by one lane.
template <class T>
struct CollectAlone {
  CollectedRows<T> rows;

  template <class Group>
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, const Group& group) const {
    if (!rows.takes(i)) return;
    auto* const table = static_cast<index_t*>(group.scratch);
    const index_t found = rows.gather(i, table);
    if (!rows.known) {
      rows.count(i, found);
      return;
    }
    // Those found, moved together and sorted by insertion.
    index_t n = 0;
    for (index_t s = 0; s < rows.tables.slots; ++s) {
      const index_t column = table[s];
      if (column < 0) continue;
      index_t to = n++;
      for (; to > 0 && table[to - 1] > column; --to) table[to] = table[to - 1];
      table[to] = column;
    }
    for (index_t j = 0; j < n; ++j) rows.columns[rows.row_offsets[i] + j] = table[j];
  }
};
/// The same by a group.
template <class T>
struct CollectInTable {
  CollectedRows<T> rows;

  KOKKOS_INLINE_FUNCTION void insert(index_t c, index_t* count, index_t* table,
                                     index_t* list) const {
    const ColumnTables& tables = rows.tables;
    const auto last = static_cast<std::uint32_t>(tables.slots - 1);
    for (std::uint32_t at = hash_of(c);; ++at) {
      index_t* const slot = table + (at & last);
      index_t there = load_shared(*slot);  // most are there already, and an exchange costs more
      if (there < 0) {
        if (load_shared(*count) > tables.most) return;
        there = take_slot(slot, c);
        if (there < 0) {
          const index_t place = add_one(count);
          if (place < tables.most) list[place] = c;
          return;
        }
      }
      if (there == c) return;
    }
  }
  template <class Group>
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, const Group& group) const {
    if (!rows.takes(i)) return;
    const auto &A = rows.A, &B = rows.B;
    const index_t slots = rows.tables.slots;
    auto* const count = static_cast<index_t*>(group.scratch);
    index_t* const table = count + 1;
    index_t* const list = table + slots;
    group.each(slots + 1, [&](index_t s) { count[s] = s == 0 ? 0 : -1; });
    const index_t begin = A.row_offsets[i];
    group.each(A.row_offsets[i + 1] - begin, [&](index_t k) {
      if (load_shared(*count) > rows.tables.most) return;
      const index_t row = A.columns[begin + k];
      for (index_t e = B.row_offsets[row]; e < B.row_offsets[row + 1]; ++e)
        insert(B.columns[e], count, table, list);
    });
    const index_t found = *count;
    if (!rows.known) group.each(1, [&](index_t) { rows.count(i, found); });
    if (found > rows.tables.most || (!rows.known && rows.room == nullptr)) return;
    index_t* const to =
        rows.known ? rows.columns + rows.row_offsets[i] : rows.room + i * rows.tables.most;
    group.each(found, [&](index_t j) {
      const index_t column = list[j];
      index_t before = 0;
      for (index_t other = 0; other < found; ++other) before += list[other] < column;
      to[before] = column;
    });
  }
};

/// Enqueues what a table does.
template <class Exec, class T>
void collect(const Exec& exec, const CollectedRows<T>& rows) {
  const ColumnTables& tables = rows.tables;
  if (tables.lanes == 1)
    on_each_group(exec, rows.A.rows, tables.lanes, tables.bytes(), CollectAlone<T>{rows});
  else
    on_each_group(exec, rows.A.rows, tables.lanes, tables.bytes(), CollectInTable<T>{rows});
}

/// Writes a row that was written when it was counted.
template <class T>
struct CopyCollected {
  CollectedRows<T> rows;
  template <class Group>
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, const Group& group) const {
    if (!rows.takes(i)) return;
    const index_t begin = rows.row_offsets[i];
    const index_t* const from = rows.room + i * rows.tables.most;
    group.each(rows.row_offsets[i + 1] - begin,
               [&](index_t j) { rows.columns[begin + j] = from[j]; });
  }
};

/// Adds the rows that have more columns.
struct CountLonger {
  const index_t* counts;
  index_t most;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, offset_t& sum) const {
    sum += counts[i + 1] > most;
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

/// Row i of C of scalars on a device by a group, which has the sums on chip: row after row of B, lanes side by side in one. A row longer than
/// `most` is summed entry by entry.
template <class T>
struct AddRows {
  MultiplyEntries<1, 1, 1, T> entries;
  index_t most;

  /// A row of B, and of it what a lane adds first.
  struct Segment {
    index_t first = 0, n = 0;
  };
  struct Entry {
    index_t column = 0;
    T a = 0, b = 0;
  };
  KOKKOS_INLINE_FUNCTION Segment segment(index_t row) const {
    if (row < 0) return {};
    const index_t first = entries.B.row_offsets[row];
    return {first, entries.B.row_offsets[row + 1] - first};
  }
  KOKKOS_INLINE_FUNCTION Entry entry_of(const Segment& of, int lane, index_t k) const {
    if (lane >= of.n) return {};
    return {entries.B.columns[of.first + lane], entries.A.values[k],
            entries.B.values[of.first + lane]};
  }
  /// Of a column that is there.
  KOKKOS_INLINE_FUNCTION static index_t place_of(index_t column, const index_t* columns,
                                                 index_t n) {
    index_t place = 0;
    for (index_t left = n; left > 1; left -= left / 2)
      place = columns[place + left / 2 - 1] < column ? place + left / 2 : place;
    return place;
  }
  template <class Group>
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, const Group& group) const {
    const auto &A = entries.A, &B = entries.B, &C = entries.C;
    const index_t begin = C.row_offsets[i], n = C.row_offsets[i + 1] - begin;
    if (n > most) {
      group.each(n, [&](index_t j) { entries.sum(i, begin + j, 0); });
      return;
    }
    auto* const sums = static_cast<T*>(group.scratch);
    auto* const columns = reinterpret_cast<index_t*>(sums + most);
    group.each(n, [&](index_t j) {
      columns[j] = C.columns[begin + j];
      sums[j] = 0;
    });
    // While one row of B is added, entries of the next, the place of that after it and which comes then are on their way.
    index_t k = A.row_offsets[i];
    const index_t end = A.row_offsets[i + 1];
    Segment own = segment(k < end ? A.columns[k] : -1),
            next = segment(k + 1 < end ? A.columns[k + 1] : -1);
    index_t row = k + 2 < end ? A.columns[k + 2] : -1;
    Entry entry = entry_of(own, group.lane, k);
    for (; k < end; ++k) {
      const Segment after = segment(row);
      row = k + 3 < end ? A.columns[k + 3] : -1;
      const Entry next_entry = entry_of(next, group.lane, k + 1);
      if (group.lane < own.n) sums[place_of(entry.column, columns, n)] += entry.a * entry.b;
      for (index_t e = group.lane + group.lanes; e < own.n; e += group.lanes)
        sums[place_of(B.columns[own.first + e], columns, n)] += entry.a * B.values[own.first + e];
      group.meet();
      own = next;
      next = after;
      entry = next_entry;
    }
    group.each(n, [&](index_t j) { C.values[begin + j] = sums[j]; });
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

/// The table to begin with, for what rows of C gather, on average.
template <class T, class Space>
std::size_t first_table(const SparseBlocks<T, Space>& A, const SparseBlocks<T, Space>& B) {
  const double gathered = double(A.blocks()) / std::max<index_t>(A.rows, 1) * double(B.blocks()) /
                          std::max<index_t>(B.rows, 1);
  std::size_t t = 0;
  while (t + 1 < std::size(column_tables) && gathered > 4.0 * column_tables[t].most) ++t;
  return t;
}

/// The values of C, whose pattern is there. Enqueued on a device.
template <int H, int M, int W, class Exec, class T, class Space>
void device_values(const Exec& exec, const SparseBlocks<T, Space>& A,
                   const SparseBlocks<T, Space>& B, const SparseBlocks<T, Space>& C) {
  constexpr offset_t all_threads = 1 << 19;  // enough for any device
  MultiplyEntries<H, M, W, T> entries{operand_of(A), operand_of(B), operand_of(C), 8};
  const offset_t rows = std::max<index_t>(A.rows, 1);
  if constexpr (H * M * W == 1) {
    constexpr int on_chip = 384;  // bytes for each lane
    const double length = double(C.blocks()) / double(rows);
    // Rows of B that are short leave lanes idle, rows of A that are long are read side by side.
    int lanes = lanes_for(std::max(double(B.blocks()) / std::max<index_t>(B.rows, 1),
                                   double(A.blocks()) / double(rows) / 8));
    while (lanes < 32 && rows * lanes < all_threads / 8) lanes *= 2;
    const auto fitting = [&] {
      return (lanes * on_chip - 3 * int(sizeof(double))) / int(sizeof(T) + sizeof(index_t));
    };
    while (lanes < 32 && fitting() < 2 * length) lanes *= 2;
    const auto most = static_cast<index_t>(std::min(std::max(2 * length, 8.0), double(fitting())));
    // Of an odd number of words for doubles, so that lanes beside each other meet different banks.
    const auto bytes = static_cast<std::size_t>(most) * (sizeof(T) + sizeof(index_t));
    const auto words = (bytes + sizeof(double) - 1) / sizeof(double) | 1;
    on_each_group(exec, A.rows, lanes, static_cast<int>(words * sizeof(double)),
                  AddRows<T>{entries, most});
  } else {
    const offset_t parts = C.blocks() * C.height / rows;  // of a row
    entries.lanes = parts <= 16 ? 8 : 32;
    while (entries.lanes < parts && rows * entries.lanes < all_threads) entries.lanes *= 2;
    on_each(exec, offset_t(A.rows) * entries.lanes, entries);
  }
}

/// Room for so many columns; empty where there is none, which costs time and no more.
template <class Space>
Vector<index_t, Space> room_or_none(offset_t n) {
  try {
    return uninitialized<index_t, Space>("cnc::room", static_cast<std::size_t>(n));
  } catch (const OutOfMemory&) {
    return {};
  }
}

/// C on a device: how many columns each row has, which, then the values.
template <int H, int M, int W, class Exec, class T, class Space>
SparseBlocks<T, Space> device_product(const Exec& exec, const SparseBlocks<T, Space>& A,
                                      const SparseBlocks<T, Space>& B, const std::string& what) {
  const auto n = static_cast<std::size_t>(A.rows);
  const auto row_offsets = zeroed<index_t, Space>("cnc::row_offsets", n + 1);
  CollectedRows<T> rows{operand_of(A),      operand_of(B), {},      0,
                        row_offsets.data(), false,         nullptr, nullptr};
  std::vector<CollectedRows<T>> collected;
  std::vector<Vector<index_t, Space>> rooms;
  offset_t words_left =
      (A.blocks() + B.blocks()) * offset_t((sizeof(index_t) + sizeof(T)) / sizeof(index_t));
  offset_t longer = A.rows;
  for (std::size_t t = first_table(A, B); t < std::size(column_tables) && longer > 0; ++t) {
    rows.tables = column_tables[t];
    // Rows are counted and written at once where all that takes is no more memory than A and B.
    const offset_t slots = rows.tables.listed() * offset_t(A.rows);
    words_left -= slots;
    rooms.emplace_back();
    if (slots > 0 && words_left >= 0) rooms.back() = room_or_none<Space>(slots);
    rows.room = rooms.back().data();
    collect(exec, rows);
    collected.push_back(rows);
    longer = sum_over(exec, A.rows, CountLonger{row_offsets.data(), rows.tables.most});
    rows.above = rows.tables.most;
  }

  Vector<offset_t, Space> room;
  Vector<index_t, Space> found;
  offset_t of_long_rows = 0;
  if (longer > 0) {
    room = zeroed<offset_t, Space>("cnc::room", n + 1);
    on_each(exec, A.rows,
            MeasureLongRow<T>{{rows.A, rows.B}, rows.above, row_offsets.data(), room.data()});
    of_long_rows = scan(exec, 0, offset_t(A.rows) + 1, AddCounts<offset_t>{room.data()});
    require_memory(what, static_cast<double>(of_long_rows) * sizeof(index_t), memory_kind<Space>);
    found = uninitialized<index_t, Space>("cnc::found", static_cast<std::size_t>(of_long_rows));
    on_each(exec, A.rows,
            CollectLongRow<T>{rows.A, rows.B, room.data(), found.data(), row_offsets.data()});
  }
  const std::size_t blocks =
      offsets_from_counts(exec, row_offsets.data(), A.rows, ("blocks in " + what).c_str());
  const auto block = static_cast<std::size_t>(A.height * B.width);
  require_blocks<T, Space>(what.c_str(), blocks, block);
  const auto columns = in_large_pages<index_t, Space>("cnc::columns", blocks);
  for (CollectedRows<T>& part : collected) {
    part.known = true;
    part.columns = columns.data();
    if (part.room != nullptr)
      on_each_group(exec, A.rows, part.tables.lanes, 0, CopyCollected<T>{part});
    else
      collect(exec, part);
  }
  if (of_long_rows > 0)
    on_each(exec, A.rows,
            CopyLongRow{room.data(), found.data(), row_offsets.data(), columns.data()});
  rooms.clear();
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
  for_block_sizes(A.height, A.width, B.width, [&]<int H, int M, int W>() {
    if constexpr (on_threads<Exec>) {
      const BlocksOperand<T> a = operand_of(A), b = operand_of(B), c = operand_of(C);
      parallel_ranges(A.rows, threads_for(A.rows), [&](index_t begin, index_t end, int) {
        multiply_rows<H, M, W>(a, b, c, begin, end);
      });
    } else {
      device_values<H, M, W>(exec, A, B, C);
    }
  });
}

}  // namespace cnc::detail
