#include "convert/block_row.hpp"
#include "convert/bsell_layout.hpp"
#include "convert/checks.hpp"
#include "convert/place_row.hpp"

#include <cnc/convert.hpp>

#include <algorithm>
#include <numeric>
#include <string>
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

/// Writes columns and values of one lane; the values of the slice are zero on entry.
template <class T>
void fill_lane(const BcsrOperand<T>& source, const Lane<T>& lane, index_t* columns, T* values) {
  const int b = lane.block_size;
  const offset_t C = lane.slice_height;
  const offset_t block_stride = C * b * b;
  offset_t j = 0;
  T* block = values;
  const auto on_block = [&](index_t column) {
    columns[j * C] = column;
    block = values + j * block_stride;
    ++j;
  };
  const auto on_entry = [&](int r, int c, index_t k) { block[(r * b + c) * C] = source.values[k]; };
  if (lane.block_row >= 0) {
    if (b == 1)
      detail::walk_row(source, lane.block_row, on_block, on_entry);
    else
      detail::walk_block_row(source, b, lane.block_row, on_block, on_entry);
  }
  const index_t padding = j > 0 ? columns[(j - 1) * C] : 0;
  for (; j < lane.width; ++j) columns[j * C] = padding;
}

template <class T>
void fill_slice(const BcsrOperand<T>& source, const BsellOperand<T>& A, index_t slice,
                index_t* columns, T* values) {
  const offset_t b2 = static_cast<offset_t>(A.block_size) * A.block_size;
  const offset_t begin = A.slice_offsets[slice];
  std::fill(values + begin * b2, values + A.slice_offsets[slice + 1] * b2, T(0));
  for (int i = 0; i < A.slice_height; ++i) {
    const Lane<T> lane = lane_of(A, slice, i);
    fill_lane(source, lane, columns + begin + i, values + lane.first_value);
  }
}

/// Counts (fill == false) or writes the entries of one lane that are not zero, row by row.
template <bool fill, class T>
void unpack_lane(const BsellOperand<T>& A, const Lane<T>& lane, index_t* row_offsets,
                 index_t* columns, T* values) {
  const int b = A.block_size;
  for (int r = 0; r < lane.height; ++r) {
    const index_t row = lane.block_row * b + r;
    index_t position = fill ? row_offsets[row] : 0;
    for (offset_t j = 0; j < lane.width; ++j) {
      for (int c = 0; c < b; ++c) {
        const T value = A.values[lane.position(j, r, c)];
        if (value == T(0)) continue;
        if constexpr (fill) {
          columns[position] = lane.column(j) * b + c;
          values[position] = value;
        }
        ++position;
      }
    }
    if constexpr (!fill) row_offsets[row + 1] = position;
  }
}

/// Overwrites one slice with the source's values.
template <class T, class S>
detail::RefusedEntry refresh_slice(const BsellOperand<T>& A, T* values,
                                   const BcsrOperand<S>& source, index_t slice) {
  const offset_t b2 = static_cast<offset_t>(A.block_size) * A.block_size;
  std::fill(values + A.slice_offsets[slice] * b2, values + A.slice_offsets[slice + 1] * b2, T(0));
  for (int i = 0; i < A.slice_height; ++i) {
    const Lane<T> lane = lane_of(A, slice, i);
    for (int r = 0; r < lane.height; ++r) {
      const index_t row = lane.block_row * A.block_size + r;
      const index_t refused = detail::place_row<T>(
          source, row, A.block_size, lane.width, [&](offset_t j) { return lane.column(j); },
          [&](offset_t j, int c) -> T& { return values[lane.position(j, r, c)]; });
      if (refused >= 0) return {row, refused};
    }
  }
  return {};
}

}  // namespace

template <class T>
BsellMatrix<T> to_bsell(const CsrMatrix<T>& A, int block_size, int slice_height,
                        index_t sort_window) {
  detail::require_block_size(block_size);
  require(slice_height >= 0 && slice_height <= max_slice_height,
          "to_bsell: slice height must be 1 to 1024 (0: the default)");
  require(sort_window >= 0, "to_bsell: sort window must not be negative");
  detail::require_csr(A);

  BsellMatrix<T> B;
  B.rows = A.rows;
  B.cols = A.cols;
  B.block_size = block_size;
  B.slice_height = slice_height == 0 ? host_slice_height<T> : slice_height;
  B.sort_window = sort_window == 0 ? default_sort_slices * B.slice_height : sort_window;
  B.nonzeros = A.nonzeros;

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

  const auto columns = uninitialized<index_t>("cnc::bsell columns", slots);
  B.values = uninitialized<T>("cnc::bsell values", slots * block_size * block_size);
  B.columns = columns;
  const auto target = B.operand();
  detail::parallel_for(B.slices(), [&](index_t slice) {
    fill_slice(source, target, slice, columns.data(), B.values.data());
  });
  return B;
}

template <class T>
CsrMatrix<T> to_csr(const BsellMatrix<T>& A) {
  A.validate();
  const auto source = A.operand();
  const auto row_offsets =
      uninitialized<index_t>("cnc::csr row_offsets", static_cast<std::size_t>(A.rows) + 1);
  index_t* offsets = row_offsets.data();
  const auto unpack = [&](auto fill, index_t* columns, T* values) {
    detail::parallel_for(A.slices(), [&](index_t slice) {
      for (int i = 0; i < A.slice_height; ++i)
        unpack_lane<decltype(fill)::value>(source, lane_of(source, slice, i), offsets, columns,
                                           values);
    });
  };
  unpack(std::false_type{}, nullptr, nullptr);
  const auto nonzeros =
      static_cast<std::size_t>(detail::offsets_from_counts(offsets, A.rows, "nonzeros"));
  const auto columns = uninitialized<index_t>("cnc::csr columns", nonzeros);
  const auto values = uninitialized<T>("cnc::csr values", nonzeros);
  unpack(std::true_type{}, columns.data(), values.data());
  return {A.rows, A.cols, 1, row_offsets, columns, values};
}

template <class T, class S>
void update_values(BsellMatrix<T>& A, const CsrMatrix<S>& source) {
  detail::require_refreshable(A, source);
  const auto target = A.operand();
  const auto from = source.operand();
  T* values = A.values.data();
  const index_t slice = detail::first_fault(
      A.slices(), [=](index_t s) { return refresh_slice(target, values, from, s).position >= 0; });
  if (slice >= 0) detail::throw_refused<T>(from, refresh_slice(target, values, from, slice));
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
