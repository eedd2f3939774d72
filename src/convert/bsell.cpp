#include "convert/bsell_checks.hpp"
#include "convert/bsell_rows.hpp"
#include "convert/checks.hpp"
#include "convert/sorted_rows.hpp"
#include "convert/unpack.hpp"

#include <cnc/convert.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

// Build, unpack and refresh BSELL; its check is in bsell_validate.cpp.

namespace cnc {
namespace {

using detail::Lane;
using detail::lane_of;

/// Sorted position -> block row: descending length within windows, equal lengths in their old order.
void sort_rows(const std::vector<index_t>& lengths, index_t sort_window, index_t* permutation,
               offset_t positions) {
  const auto block_rows = static_cast<index_t>(lengths.size());
  detail::parallel_for(ceil_div(block_rows, sort_window), [&](index_t window) {
    const offset_t begin = static_cast<offset_t>(window) * sort_window;
    const offset_t end = std::min<offset_t>(begin + sort_window, block_rows);
    const auto longer = [&](index_t i, index_t j) { return lengths[i] > lengths[j]; };
    std::iota(permutation + begin, permutation + end, static_cast<index_t>(begin));
    // Windows of equal rows are the rule on structured problems.
    if (!std::is_sorted(permutation + begin, permutation + end, longer))
      std::stable_sort(permutation + begin, permutation + end, longer);
  });
  std::fill(permutation + block_rows, permutation + positions, -1);
}

template <class T>
void fill_slice(const BcsrOperand<T>& source, const BsellOperand<T>& A, index_t slice,
                index_t* columns, T* values) {
  const offset_t b2 = static_cast<offset_t>(A.block_size) * A.block_size;
  const offset_t begin = A.slice_offsets[slice];
  std::fill(values + begin * b2, values + A.slice_offsets[slice + 1] * b2, T(0));
  for (int i = 0; i < A.slice_height; ++i) {
    const Lane<T> lane = lane_of(A, slice, i);
    detail::fill_lane(source, lane, columns + begin + i, values + lane.first_value);
  }
}

/// Calls use(row, walk) for the rows in the lanes of one slice; walk(use) walks the row's entries.
template <class T, class Use>
void for_each_row(const BsellOperand<T>& A, index_t slice, const Use& use) {
  for (int i = 0; i < A.slice_height; ++i) {
    const Lane<T> lane = lane_of(A, slice, i);
    for (int r = 0; r < lane.height; ++r)
      use(detail::row_of(lane, r),
          [&](const auto& take) { detail::walk_entries(A, lane, r, take); });
  }
}

/// Overwrites one slice with the source's values.
template <class T, class S>
detail::RefusedEntry refresh_slice(const BsellOperand<T>& A, T* values,
                                   const BcsrOperand<S>& source, index_t slice) {
  for (int i = 0; i < A.slice_height; ++i) {
    const Lane<T> lane = lane_of(A, slice, i);
    for (int r = 0; r < A.block_size; ++r) {
      const index_t refused = detail::refresh_row(lane, values, source, r);
      if (refused >= 0) return {detail::row_of(lane, r), refused};
    }
  }
  return {};
}

}  // namespace

template <class T, class Space>
BsellMatrix<T, Space> to_bsell(const CsrMatrix<T, Space>& given, int block_size, int slice_height,
                               index_t sort_window) {
  BsellMatrix<T, Space> B = detail::sized_bsell(given, block_size, slice_height, sort_window);
  const CsrMatrix<T> A = detail::ascending_csr(given);

  const auto source = A.operand();
  std::vector<index_t> lengths(static_cast<std::size_t>(B.block_rows()));
  detail::parallel_for(B.block_rows(), [&](index_t i) {
    lengths[i] = detail::blocks_in_row(source, block_size, i);
  });
  const offset_t C = B.slice_height;
  const offset_t positions = B.slices() * C;
  const auto permutation = uninitialized<index_t>("cnc::bsell row_permutation", positions);
  sort_rows(lengths, B.sort_window, permutation.data(), positions);
  B.row_permutation = permutation;

  const auto slice_offsets =
      uninitialized<offset_t>("cnc::bsell slice_offsets", static_cast<std::size_t>(B.slices()) + 1);
  detail::parallel_for(B.slices(), [&](index_t slice) {
    index_t longest = 0;
    for (offset_t i = slice * C; i < std::min<offset_t>((slice + 1) * C, B.block_rows()); ++i)
      longest = std::max(longest, lengths[permutation(i)]);
    slice_offsets(slice + 1) = longest * C;
  });
  const offset_t slots = detail::offsets_from_counts(slice_offsets.data(), B.slices(), "slots");
  B.slice_offsets = slice_offsets;

  detail::require_blocks<T, Space>("to_bsell", slots, block_size * block_size);
  const auto columns = uninitialized<index_t>("cnc::bsell columns", slots);
  B.values = uninitialized<T>("cnc::bsell values", slots * block_size * block_size);
  B.columns = columns;
  const auto target = B.operand();
  detail::parallel_for(B.slices(), [&](index_t slice) {
    fill_slice(source, target, slice, columns.data(), B.values.data());
  });
  return B;
}

template <class T, class Space>
CsrMatrix<T, Space> to_csr(const BsellMatrix<T, Space>& A) {
  A.validate();
  const auto source = A.operand();
  return detail::unpack<T>(A.rows, A.cols, [=](const auto& use) {
    detail::parallel_for(source.slices(), [&](index_t slice) { for_each_row(source, slice, use); });
  });
}

template <class T, class S, class Space>
void update_values(BsellMatrix<T, Space>& A, const CsrMatrix<S, Space>& given) {
  detail::require_refreshable(A, given);
  const CsrMatrix<S> source = detail::ascending_csr(given);
  const auto target = A.operand();
  const auto from = source.operand();
  T* values = A.values.data();
  const index_t slice = detail::first_fault(
      A.slices(), [=](index_t s) { return refresh_slice(target, values, from, s).position >= 0; });
  if (slice >= 0) {
    const auto [row, position] = refresh_slice(target, values, from, slice);
    detail::throw_refused(row, from.columns[position], detail::overflows<T>(from.values[position]));
  }
  A.nonzeros = source.nonzeros;
}

#define CNC_INSTANTIATE(T)                                                  \
  template BsellMatrix<T> to_bsell(const CsrMatrix<T>&, int, int, index_t); \
  template CsrMatrix<T> to_csr(const BsellMatrix<T>&);                      \
  template void update_values(BsellMatrix<T>&, const CsrMatrix<float>&);    \
  template void update_values(BsellMatrix<T>&, const CsrMatrix<double>&);
CNC_INSTANTIATE(float)
CNC_INSTANTIATE(double)
#undef CNC_INSTANTIATE

}  // namespace cnc
