#pragma once

#include "convert/row_stencil.hpp"
#include "copied_there.hpp"
#include "mixed.hpp"
#include "on_each.hpp"

#include <cnc/bcsr_matrix.hpp>
#include <cnc/copy.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <new>
#include <utility>
#include <vector>

// The different rows of a CSR matrix, if they are few: rows are told apart by a hash in a small table, and compared entry
// by entry with the first of their kind before anything relies on it.

namespace cnc::detail {

/// Kinds of rows at most: what a byte tells apart.
inline constexpr int most_kinds = 256;
/// Places of the table in which they are collected: a power of two, and how far one looks for a free one.
inline constexpr int kind_places = 1024;
inline constexpr int most_probes = 64;
/// Entries of the matrix for each of the dictionary, fewer of which are not worth it.
inline constexpr offset_t least_repetition = 4;
/// Rows that follow each other in the mean for runs to be worth a loop each: alike, or in blocks that are.
inline constexpr index_t least_mean_run = 12;
inline constexpr index_t least_mean_run_of_blocks = 24;

template <class S>
KOKKOS_INLINE_FUNCTION std::uint64_t bits_of(S value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(S));
  return bits;
}

/// Entries of a row of CSR with columns relative to the row.
template <class S>
struct RelativeRows {
  BcsrOperand<S> A;

  KOKKOS_INLINE_FUNCTION index_t length(index_t row) const {
    return A.row_offsets[row + 1] - A.row_offsets[row];
  }
  /// Never 0.
  KOKKOS_INLINE_FUNCTION std::uint64_t hash(index_t row) const {
    auto h = static_cast<std::uint64_t>(length(row));
    for (index_t k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
      h = mixed(h ^ static_cast<std::uint32_t>(A.columns[k] - row));
      h = mixed(h ^ bits_of(A.values[k]));
    }
    return h == 0 ? 1 : h;
  }
  KOKKOS_INLINE_FUNCTION bool same(index_t row, index_t other) const {
    if (length(row) != length(other)) return false;
    const index_t shift = A.row_offsets[other] - A.row_offsets[row];
    for (index_t k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k)
      if (A.columns[k] - row != A.columns[k + shift] - other ||
          bits_of(A.values[k]) != bits_of(A.values[k + shift]))
        return false;
    return true;
  }
};

/// The table: a hash and the first row that has it, and how many there are.
struct KindTable {
  std::uint64_t* hashes;  ///< [kind_places] 0: free
  index_t* first_rows;    ///< [kind_places]
  index_t* count;

  KOKKOS_INLINE_FUNCTION bool is_full() const { return load_shared(*count) > most_kinds; }
  /// The place of a hash, which takes a free one; -1: there are too many.
  KOKKOS_INLINE_FUNCTION int place_of(std::uint64_t hash) const {
    for (int probe = 0; probe < most_probes; ++probe) {
      const int place =
          static_cast<int>((hash >> 40) + static_cast<unsigned>(probe)) & (kind_places - 1);
      std::uint64_t there = load_shared(hashes[place]);
      if (there == 0) {
        there = exchange_if_equal(hashes[place], std::uint64_t(0), hash);
        if (there == 0) {
          raise(*count, 1);
          return place;
        }
      }
      if (there == hash) return place;
    }
    raise(*count, most_kinds + 1);
    return -1;
  }
  KOKKOS_INLINE_FUNCTION void report(int place, index_t row) const {
    for (index_t first = load_shared(first_rows[place]); row < first;) {
      const index_t before = exchange_if_equal(first_rows[place], first, row);
      if (before == first) return;
      first = before;
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION static void raise(index_t& number, index_t by) {
    for (index_t now = load_shared(number); now <= most_kinds;) {
      const index_t before = exchange_if_equal(number, now, now + by);
      if (before == now) return;
      now = before;
    }
  }
};

template <class S>
struct CollectKinds {
  RelativeRows<S> rows;
  KindTable table;
  std::uint16_t* places;  ///< [rows] where a row's kind is
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    if (table.is_full()) return;
    const auto row = static_cast<index_t>(i);
    const int place = table.place_of(rows.hash(row));
    if (place < 0) return;
    table.report(place, row);
    places[i] = static_cast<std::uint16_t>(place);
  }
};

/// lengths[k] := entries of a row of kind k
template <class S>
struct KindLengths {
  RelativeRows<S> rows;
  const index_t* first_rows;
  index_t* lengths;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t k) const {
    lengths[k] = rows.length(first_rows[k]);
  }
};

/// Whether the first row of a kind has entries in other columns than the kind.
template <class T, class S>
struct ColumnsDiffer {
  RelativeRows<S> rows;
  const index_t *first_rows, *starts;
  const RowEntry<T>* entries;
  KOKKOS_INLINE_FUNCTION bool operator()(offset_t k) const {
    const index_t row = first_rows[k], from = rows.A.row_offsets[row];
    if (rows.length(row) != starts[k + 1] - starts[k]) return true;
    for (index_t e = starts[k]; e < starts[k + 1]; ++e)
      if (entries[e].offset != rows.A.columns[from + e - starts[k]] - row) return true;
    return false;
  }
};
/// Whether a row is another than the first of its kind.
template <class S>
struct IsOfOtherKind {
  RelativeRows<S> rows;
  const std::uint8_t* codes;
  const index_t* first_rows;
  KOKKOS_INLINE_FUNCTION bool operator()(offset_t i) const {
    return !rows.same(static_cast<index_t>(i), first_rows[codes[i]]);
  }
};

template <class T, class S>
struct FillKind {
  BcsrOperand<S> A;
  const index_t* first_rows;
  const index_t* starts;
  RowEntry<T>* entries;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t k) const {
    const index_t row = first_rows[k], from = A.row_offsets[row];
    for (index_t e = starts[k]; e < starts[k + 1]; ++e) {
      const index_t at = from + e - starts[k];
      entries[e] = {static_cast<T>(A.values[at]), A.columns[at] - row};
    }
  }
};

/// Writes the code of a row, which is at fault where it is not the same as the first of its kind.
template <class S>
struct EncodeRow {
  RelativeRows<S> rows;
  const std::uint16_t* places;
  const std::uint8_t* code_of_place;
  const index_t* first_rows;
  std::uint8_t* codes;
  KOKKOS_INLINE_FUNCTION bool operator()(offset_t i) const {
    codes[i] = code_of_place[places[i]];
    return IsOfOtherKind<S>{rows, codes, first_rows}(i);
  }
};

/// What a kind says of a block of rows that it is in: which row of the block it is, and which kinds have the same columns there.
struct PlaceInBlock {
  std::uint8_t row;
  std::uint8_t columns;  ///< the first kind with the same
};
struct IsOutOfBlock {
  const std::uint8_t* codes;
  const PlaceInBlock* kinds;
  int block_size;
  KOKKOS_INLINE_FUNCTION bool operator()(offset_t i) const {
    const auto row = static_cast<int>(i % block_size);
    const PlaceInBlock own = kinds[codes[i]], first = kinds[codes[i - row]];
    return own.row != row || own.columns != first.columns;
  }
};

/// The places of all kinds in blocks of b; empty where one has other columns than whole blocks.
template <class T>
std::vector<PlaceInBlock> places_in_blocks(const std::vector<index_t>& starts,
                                           const Vector<RowEntry<T>>& entries, index_t b) {
  const auto offset = [&](index_t e) { return entries(static_cast<std::size_t>(e)).offset; };
  std::vector<PlaceInBlock> places;
  std::map<std::vector<index_t>, std::uint8_t> first_with;  // columns less the first row's
  for (std::size_t k = 0; k + 1 < starts.size(); ++k) {
    const index_t begin = starts[k], end = starts[k + 1];
    if (begin == end || (end - begin) % b != 0) return {};
    const index_t row = ((-offset(begin)) % b + b) % b;
    std::vector<index_t> columns;
    for (index_t e = begin; e < end; e += b) {
      columns.push_back(offset(e) + row);
      if (columns.back() % b != 0) return {};
      for (index_t c = 1; c < b; ++c)
        if (offset(e + c) != offset(e) + c) return {};
    }
    const auto [same, is_new] =
        first_with.try_emplace(std::move(columns), static_cast<std::uint8_t>(k));
    places.push_back({static_cast<std::uint8_t>(row), same->second});
  }
  return places;
}

struct BeginsRun {
  const std::uint8_t* codes;
  index_t period;  ///< rows of a block
  KOKKOS_INLINE_FUNCTION bool operator()(offset_t i) const {
    if (i == 0) return true;
    if (i % period != 0) return false;
    for (index_t r = 0; r < period; ++r)
      if (codes[i + r] != codes[i + r - period]) return true;
    return false;
  }
};
struct CountRuns {
  BeginsRun begins;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, offset_t& count) const {
    count += begins(i) ? 1 : 0;
  }
};
struct ListRuns {
  BeginsRun begins;
  index_t* runs;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, offset_t& count, bool last) const {
    if (!begins(i)) return;
    if (last) runs[count] = static_cast<index_t>(i);
    ++count;
  }
};

namespace set_up {

/// Where blocks of `period` rows begin that are others than before; empty where that is too often. Rows are whole blocks.
template <class Exec, class Space>
Kokkos::View<index_t*, Space> runs_of(const Exec& exec,
                                      const Kokkos::View<std::uint8_t*, Space>& codes,
                                      index_t period, index_t least_mean) {
  const auto n = static_cast<offset_t>(codes.extent(0));
  const BeginsRun begins{codes.data(), period};
  const offset_t count = sum_over(exec, n, CountRuns{begins});
  if (count * least_mean > n) return {};
  const auto runs = uninitialized<index_t, Space>("cnc::row_dictionary", std::size_t(count) + 1);
  scan(exec, 0, n, ListRuns{begins, runs.data()});
  runs(std::size_t(count)) = static_cast<index_t>(n);
  return runs;
}

/// Rows that follow each other and have the same columns: the size of their blocks, 1 where it is neither 3 nor 2. Waits.
template <class Exec, class T, class Space>
int block_size_of(const Exec& exec, const RowDictionary<T, Space>& rows,
                  const std::vector<index_t>& starts) {
  const auto n = static_cast<index_t>(rows.codes.extent(0));
  const auto divides = [&](index_t b) { return n % b == 0 && rows.longest % b == 0; };
  if (!divides(3) && !divides(2)) return 1;
  const auto entries = copy_to<HostSpace>(rows.entries);
  for (const int b : {3, 2}) {
    if (!divides(b)) continue;
    const std::vector<PlaceInBlock> places = places_in_blocks<T>(starts, entries, b);
    if (places.empty()) continue;
    const auto there = copied_there<Space>("cnc::row_dictionary", places);
    if (first_row(exec, n, IsOutOfBlock{rows.codes.data(), there.data(), b}) < 0) return b;
  }
  return 1;
}

/// The dictionary of A's rows in T; empty where there are too many kinds of them.
template <class Exec, class T, class S, class Space>
RowDictionary<T, Space> make_row_dictionary(const CsrMatrix<S, Space>& A) {
  const Exec exec = instance<Exec>();
  const auto n = static_cast<std::size_t>(A.rows);
  if (n == 0) return {};
  const RelativeRows<S> rows{A.operand()};
  const auto hashes = zeroed<std::uint64_t, Space>("cnc::row_dictionary", kind_places);
  const auto first = uninitialized<index_t, Space>("cnc::row_dictionary", kind_places);
  on_each(exec, kind_places, SetEach<index_t>{first.data(), A.rows});
  const auto count = zeroed<index_t, Space>("cnc::row_dictionary", 1);
  const auto places = uninitialized<std::uint16_t, Space>("cnc::row_dictionary", n);
  on_each(exec, A.rows,
          CollectKinds<S>{rows, {hashes.data(), first.data(), count.data()}, places.data()});
  exec.fence();
  if (fetch(count, 0) > most_kinds) return {};

  // Kinds in the order of their first rows: the same codes on every run.
  const auto first_rows = copy_to<HostSpace>(first);
  std::vector<std::pair<index_t, int>> kinds;
  for (int place = 0; place < kind_places; ++place)
    if (first_rows(std::size_t(place)) < A.rows)
      kinds.emplace_back(first_rows(std::size_t(place)), place);
  std::sort(kinds.begin(), kinds.end());
  std::vector<std::uint8_t> code_of_place(kind_places);
  std::vector<index_t> firsts;
  for (const auto& [row, place] : kinds) {
    code_of_place[std::size_t(place)] = static_cast<std::uint8_t>(firsts.size());
    firsts.push_back(row);
  }
  const auto kind_rows = copied_there<Space>("cnc::row_dictionary", firsts);
  const auto lengths = uninitialized<index_t, Space>("cnc::row_dictionary", firsts.size());
  const auto kind_count = static_cast<offset_t>(firsts.size());
  on_each(exec, kind_count, KindLengths<S>{rows, kind_rows.data(), lengths.data()});
  exec.fence();
  const auto host_lengths = copy_to<HostSpace>(lengths);
  std::vector<index_t> starts = {0};
  offset_t size = 0;
  index_t longest = 0;
  for (std::size_t k = 0; k < firsts.size(); ++k) {
    size += host_lengths(k);
    longest = std::max(longest, host_lengths(k));
    if (size * least_repetition > A.blocks()) return {};
    starts.push_back(static_cast<index_t>(size));
  }

  RowDictionary<T, Space> found = {
      uninitialized<std::uint8_t, Space>("cnc::row_dictionary", n),
      copied_there<Space>("cnc::row_dictionary", starts),
      uninitialized<RowEntry<T>, Space>("cnc::row_dictionary", std::size_t(size))};
  on_each(exec, kind_count,
          FillKind<T, S>{A.operand(), kind_rows.data(), found.starts.data(), found.entries.data()});
  const auto codes_there = copied_there<Space>("cnc::row_dictionary", code_of_place);
  const EncodeRow<S> encode{rows, places.data(), codes_there.data(), kind_rows.data(),
                            found.codes.data()};
  if (first_row(exec, A.rows, encode) >= 0) return {};  // two kinds have one hash
  if constexpr (is_host_space<Space>) found.runs = runs_of(exec, found.codes, 1, least_mean_run);
  found.first_rows = kind_rows;
  found.longest = longest;
  add_stencil(exec, found);
  try {
    found.block_size = block_size_of(exec, found, starts);
    if constexpr (is_host_space<Space>)
      if (found.runs.extent(0) == 0 && found.block_size > 1) {
        found.runs = runs_of(exec, found.codes, found.block_size, least_mean_run_of_blocks);
        found.run_period = found.runs.extent(0) > 0 ? found.block_size : 1;
      }
  } catch (const OutOfMemory&) {  // products do without
  } catch (const std::bad_alloc&) {
  }
  return found;
}

/// Gives the kinds of a dictionary the values of A; false where rows of one kind are no longer the same, or have other columns than before. Allocates nothing.
template <class Exec, class T, class S, class Space>
bool renewed(const RowDictionary<T, Space>& old, const CsrMatrix<S, Space>& A) {
  const Exec exec = instance<Exec>();
  const RelativeRows<S> rows{A.operand()};
  const index_t* const first_rows = old.first_rows.data();
  const index_t kinds = old.kinds();
  if (first_row(exec, kinds,
                ColumnsDiffer<T, S>{rows, first_rows, old.starts.data(), old.entries.data()}) >=
          0 ||
      first_row(exec, A.rows, IsOfOtherKind<S>{rows, old.codes.data(), first_rows}) >= 0)
    return false;
  on_each(exec, kinds,
          FillKind<T, S>{A.operand(), first_rows, old.starts.data(), old.entries.data()});
  find_stencil(exec, old);
  return true;
}

/// The dictionary of A, with the arrays of `old` where it is one of a matrix of the same shape and its rows still repeat so;
/// empty too where there is no memory for what is no more than a help.
template <class Exec, class T, class S, class Space>
RowDictionary<T, Space> row_dictionary(const CsrMatrix<S, Space>& A,
                                       const RowDictionary<T, Space>& old = {}) {
  if (!old.empty() && renewed<Exec>(old, A)) return old;
  try {
    return make_row_dictionary<Exec, T>(A);
  } catch (const OutOfMemory&) {
    return {};
  }
}

}  // namespace set_up
}  // namespace cnc::detail
