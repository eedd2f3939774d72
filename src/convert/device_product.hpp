#pragma once

#include "convert/checks.hpp"
#include "convert/search.hpp"
#include "convert/sorted_rows.hpp"
#include "convert/sparse_blocks.hpp"
#include "huge_pages.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

// C = A B on a device: the columns of its rows, then their sums.
//
// Columns are collected in a hash table on chip, by one lane where a row gathers few, else by a group of lanes. Sums of scalars are on
// chip too, where the lanes of a group add one row of B after the other; entries of blocks are summed by one thread each, which finds
// them in the rows of B. Sums go in the order of A: the same on every run.
//
// Method   Demouth, Sparse matrix-matrix multiplication on the GPU, GTC 2012 (tables).

namespace cnc::detail {

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
struct MultiplyRowOfGroup {
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

/// The table to begin with, for what rows of C gather, on average.
template <class T, class Space>
std::size_t first_table(const SparseBlocks<T, Space>& A, const SparseBlocks<T, Space>& B) {
  const double gathered = A.row_length() * B.row_length();
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
    const double length = C.row_length();
    // Rows of B that are short leave lanes idle, rows of A that are long are read side by side.
    int lanes = lanes_for(std::max(B.row_length(), A.row_length() / 8));
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
                  MultiplyRowOfGroup<T>{entries, most});
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

}  // namespace cnc::detail
