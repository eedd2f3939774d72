#pragma once

#include "convert/bcsr_checks.hpp"
#include "convert/block_row.hpp"
#include "convert/row_dictionary.hpp"
#include "convert/search.hpp"
#include "convert/sorted_rows.hpp"
#include "convert/unpack.hpp"
#include "convert/value_table.hpp"

#include <cnc/convert.hpp>

#include <algorithm>
#include <utility>

// Check, build, unpack and refresh BCSR (and so CSR), and change its precision.

namespace cnc::detail {

/// Looks for what is wrong with block rows; `descends` when nothing is, but rows of CSR are in another order than
/// ascending.
template <class Exec, class T>
struct FindRowFault {
  static constexpr offset_t descends = Least::nothing - 1;

  BcsrOperand<T> A;
  offset_t blocks;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, Least& found) const {
    constexpr int lanes = row_lanes<Exec>;
    const auto row = static_cast<index_t>(i / lanes);
    bool ascending = true;
    const BlockRowFault fault =
        block_row_fault(A, blocks, row, ascending, static_cast<int>(i % lanes), lanes);
    if (!ascending) found.report(descends);
    if (fault != BlockRowFault::none) found.report(row, static_cast<int>(fault));
  }
};

/// Counts the blocks of block rows.
template <class T>
struct CountBlocks {
  BcsrOperand<T> A;  ///< CSR
  int block_size;
  index_t* counts;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    counts[i] = blocks_in_row(A, block_size, static_cast<index_t>(i));
  }
};

template <class T>
struct FillBlockRow {
  BcsrOperand<T> A;  ///< CSR
  int block_size;
  const index_t* row_offsets;
  index_t* columns;
  T* values;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    const offset_t first = row_offsets[i];
    fill_block_row(A, block_size, static_cast<index_t>(i), columns + first,
                   values + first * block_size * block_size);
  }
};

/// Their columns alone.
template <class T>
struct ListBlocks {
  BcsrOperand<T> A;  ///< CSR
  int block_size;
  const index_t* row_offsets;
  index_t* columns;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    index_t* to = columns + row_offsets[i];
    walk_block_row(
        A, block_size, static_cast<index_t>(i), [&](index_t block_column) { *to++ = block_column; },
        [](int, int, index_t) {});
  }
};
/// Fills a row of blocks whose columns are there. On a device `lanes` threads share it, each of which looks up the entries of its blocks.
template <int lanes, class T>
struct FillBlocks {
  BcsrOperand<T> A;  ///< CSR
  int block_size;
  const index_t* row_offsets;
  const index_t* columns;
  T* values;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t unit) const {
    const offset_t i = unit / lanes;
    for (index_t k = row_offsets[i] + static_cast<index_t>(unit % lanes); k < row_offsets[i + 1];
         k += lanes)
      for (int r = 0; r < block_size; ++r) fill(i * block_size + r, k, r);
  }
  KOKKOS_INLINE_FUNCTION void fill(offset_t row, index_t k, int r) const {
    const int b = block_size;
    T* const to = values + (static_cast<offset_t>(k) * b + r) * b;
    for (int c = 0; c < b; ++c) to[c] = T(0);
    if (row >= A.rows) return;
    const index_t first = columns[k] * b;
    const index_t* const end = A.columns + A.row_offsets[row + 1];
    for (const index_t* at = first_not_less(A.columns + A.row_offsets[row], end, first);
         at < end && *at - first < b; ++at)
      to[*at - first] = A.values[at - A.columns];
  }
};

/// Overwrites block rows with the source's values; reports the first entry refused by row and position.
template <class Exec, class T, class S>
struct RefreshBlockRow {
  BcsrOperand<T> A;
  T* values;
  BcsrOperand<S> source;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, Least& refused) const {
    const int threads = sharing<Exec>(A.block_size);
    const auto block_row = static_cast<index_t>(i / threads);
    for (auto r = static_cast<int>(i % threads); r < A.block_size; r += threads) {
      const index_t position = refresh_row(A, values, source, block_row, r);
      if (position >= 0)
        refused.report(static_cast<offset_t>(block_row) * A.block_size + r, position);
    }
  }
};

/// Reports the first value that To cannot hold.
template <class To, class From>
struct ConvertValue {
  const From* from;
  To* to;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t k, Least& too_large) const {
    const bool overflow = overflows<To>(from[k]);
    to[k] = overflow ? To(0) : static_cast<To>(from[k]);
    if (overflow) too_large.report(k);
  }
};

/// Throws what a refresh refused.
template <class T, class S, class Space>
void require_none_refused(const Least& refused, const CsrMatrix<S, Space>& source) {
  if (!refused.found()) return;
  const index_t position = refused.second();
  throw_refused(static_cast<index_t>(refused.first()), fetch(source.columns, position),
                overflows<T>(fetch(source.values, position)));
}

namespace set_up {

/// As BcsrMatrix::validate.
template <class Exec, class T, class Space>
Checked validate(const BcsrMatrix<T, Space>& A) {
  using Find = FindRowFault<Exec, T>;
  check_counts(A);
  check_offset_bounds(A, fetch(A.row_offsets, 0), fetch(A.row_offsets, A.block_rows()));
  const auto found =
      sum_over<Least>(instance<Exec>(), static_cast<offset_t>(A.block_rows()) * row_lanes<Exec>,
                      Find{A.operand(), A.blocks()});
  if (!found.found()) return Checked::ascending;
  if (found.key != Find::descends)
    throw_row_fault(A, static_cast<index_t>(found.first()),
                    static_cast<BlockRowFault>(found.second()));
  (void)ascending_order<Exec>(A);  // finds what comes twice
  return Checked::valid;
}

template <class Exec, class T, class Space>
BcsrMatrix<T, Space> to_bcsr(const CsrMatrix<T, Space>& given, int block_size) {
  require_block_size(block_size);
  if (block_size == 1) {
    require_csr(given);
    return given;
  }
  const CsrMatrix<T, Space> A = ascending_csr<Exec>(given);
  const Exec exec = instance<Exec>();
  const auto source = A.operand();
  const index_t block_rows = ceil_div(A.rows, block_size);
  const auto row_offsets = uninitialized<index_t, Space>("cnc::bcsr row_offsets",
                                                         static_cast<std::size_t>(block_rows) + 1);
  index_t* offsets = row_offsets.data();
  on_each(exec, block_rows, CountBlocks<T>{source, block_size, offsets + 1});
  const std::size_t blocks = offsets_from_counts(exec, offsets, block_rows, "blocks");

  const std::size_t b2 = static_cast<std::size_t>(block_size) * block_size;
  require_blocks<T, Space>("to_bcsr", blocks, b2);
  const auto columns = uninitialized<index_t, Space>("cnc::bcsr columns", blocks);
  const auto values = uninitialized<T, Space>("cnc::bcsr values", blocks * b2);
  if constexpr (on_threads<Exec>) {
    on_each(exec, block_rows,
            FillBlockRow<T>{source, block_size, offsets, columns.data(), values.data()});
  } else {
    on_each(exec, block_rows, ListBlocks<T>{source, block_size, offsets, columns.data()});
    constexpr int lanes = row_lanes<Exec>;
    on_each(exec, offset_t(block_rows) * lanes,
            FillBlocks<lanes, T>{source, block_size, offsets, columns.data(), values.data()});
  }
  return {A.rows, A.cols, block_size, row_offsets, columns, values, A.nonzeros};
}

template <class Exec, class T, class Space>
CsrMatrix<T, Space> to_csr(const BcsrMatrix<T, Space>& A) {
  require_valid(A);
  return A.block_size == 1 ? A : unpack<Exec, T>(A, Rows<Exec, BcsrOperand<T>>{A.operand()});
}

template <class Exec, class T, class S, class Space>
void update_values(BcsrMatrix<T, Space>& A, const CsrMatrix<S, Space>& given) {
  require_refreshable(A, given);
  if (shares_arrays(A, given)) {
    A.value_table = renewed_value_table<Exec>(A.values, A.value_table);
    return;
  }
  require(!A.read_only, "update_values: the values of the matrix are const");
  const CsrMatrix<S, Space> source = ascending_csr<Exec>(given);
  const auto before = std::exchange(A.dictionary, {});  // none, should this fail half way
  const auto table = std::exchange(A.value_table, {});
  require_none_refused<T>(
      sum_over<Least>(instance<Exec>(),
                      static_cast<offset_t>(A.block_rows()) * sharing<Exec>(A.block_size),
                      RefreshBlockRow<Exec, T, S>{A.operand(), A.values.data(), source.operand()}),
      source);
  A.nonzeros = source.nonzeros;
  if (!before.empty()) A.dictionary = row_dictionary<Exec, T>(source, before);
  A.value_table = renewed_value_table<Exec>(A.values, table);
}

template <class To, class Exec, class From, class Space>
BcsrMatrix<To, Space> convert_values(const BcsrMatrix<From, Space>& A) {
  const auto values = uninitialized<To, Space>("cnc::bcsr values", A.values.extent(0));
  const auto too_large = sum_over<Least>(instance<Exec>(), A.stored(),
                                         ConvertValue<To, From>{A.values.data(), values.data()});
  if (too_large.found()) {
    const auto offsets = copy_to<HostSpace>(A.row_offsets);
    const offset_t block = too_large.key / (A.block_size * A.block_size);
    const index_t* first = offsets.data();
    const index_t* after = std::upper_bound(first, first + offsets.extent(0), block);
    throw_invalid("a value of " + std::string(A.block_size == 1 ? "row " : "block row ") +
                  std::to_string(after - first - 1) +
                  " (counted from 0) is too large for single precision");
  }
  BcsrMatrix<To, Space> result{A.rows,    A.cols, A.block_size, A.row_offsets,
                               A.columns, values, A.nonzeros};
  result.checked = A.checked;
  return result;
}

}  // namespace set_up
}  // namespace cnc::detail
