#include "convert/bsell_layout.hpp"
#include "convert/checks.hpp"

#include <cnc/bsell_matrix.hpp>

#include <string>
#include <vector>

namespace cnc {
namespace {

using detail::Lane;
using detail::lane_of;

template <class T>
void check_extents(const BsellMatrix<T>& A) {
  require(A.rows >= 0 && A.cols >= 0, "BsellMatrix: rows and cols must not be negative");
  require(A.block_size >= 1 && A.block_size <= max_block_size,
          "BsellMatrix: block size must be 1 to 16");
  require(A.slice_height >= 1 && A.slice_height <= max_slice_height,
          "BsellMatrix: slice height must be 1 to 1024");
  require(A.sort_window >= 1, "BsellMatrix: sort window must be at least 1");
  const auto slices = static_cast<std::size_t>(A.slices());
  require(A.slice_offsets.extent(0) == slices + 1,
          "BsellMatrix: slice_offsets needs slices + 1 entries");
  require(A.row_permutation.extent(0) == slices * static_cast<std::size_t>(A.slice_height),
          "BsellMatrix: row_permutation needs slices * slice_height entries");
  require(A.values.extent(0) ==
              A.columns.extent(0) * static_cast<std::size_t>(A.block_size * A.block_size),
          "BsellMatrix: values needs slots * block_size^2 entries");
  require(A.nonzeros >= 0 && A.nonzeros <= A.stored(),
          "BsellMatrix: nonzeros must be 0 to stored()");
}

/// Every block row has one sorted position, padding lanes come after all of them.
template <class T>
void check_permutation(const BsellOperand<T>& A) {
  const index_t block_rows = A.block_rows();
  const offset_t positions = static_cast<offset_t>(A.slices()) * A.slice_height;
  std::vector<char> seen(static_cast<std::size_t>(block_rows), 0);
  for (offset_t i = 0; i < positions; ++i) {
    const index_t block_row = A.row_permutation[i];
    const auto where = [=] { return " at sorted position " + std::to_string(i); };
    if (i >= block_rows) {
      require(block_row == -1, [&] {
        return "BsellMatrix: row_permutation is not -1" + where() + ", a padding lane";
      });
      continue;
    }
    require(block_row >= 0 && block_row < block_rows,
            [&] { return "BsellMatrix: row_permutation is out of range" + where(); });
    require(seen[block_row] == 0,
            [&] { return "BsellMatrix: row_permutation repeats a block row" + where(); });
    seen[block_row] = 1;
  }
}

template <class T>
bool block_is_zero(const BsellOperand<T>& A, const Lane<T>& lane, offset_t j, int first_row,
                   int first_col) {
  for (int r = 0; r < A.block_size; ++r)
    for (int c = r < first_row ? first_col : 0; c < A.block_size; ++c)
      if (A.values[lane.position(j, r, c)] != T(0)) return false;
  return true;
}

/// Blocks of the lane before its padding: columns ascend up to there.
template <class T>
offset_t used_width(const Lane<T>& lane) {
  offset_t j = lane.block_row < 0 || lane.width == 0 ? 0 : 1;
  while (j > 0 && j < lane.width && lane.column(j) > lane.column(j - 1)) ++j;
  return j;
}

/// What is wrong with a lane, or null.
template <class T>
const char* lane_fault(const BsellOperand<T>& A, const Lane<T>& lane) {
  for (offset_t j = 0; j < lane.width; ++j)
    if (lane.column(j) < 0 || lane.column(j) >= ceil_div(A.cols, A.block_size))
      return "a column is out of range";
  const offset_t used = used_width(lane);
  for (offset_t j = 0; j < used; ++j) {
    const int width = std::min<index_t>(A.block_size, A.cols - lane.column(j) * A.block_size);
    if (!block_is_zero(A, lane, j, lane.height, width))
      return "an entry outside the matrix is not zero";
  }
  for (offset_t j = used; j < lane.width; ++j) {
    bool own = used == 0 || lane.column(j) == lane.column(used - 1);
    for (offset_t i = 0; i < used && !own; ++i) own = lane.column(i) == lane.column(j);
    if (!own) return "columns do not ascend, or padding repeats no column of its row";
    if (!block_is_zero(A, lane, j, 0, 0)) return "padding is not zero";
  }
  return nullptr;
}

/// What is wrong with a slice, or null. Reads nothing out of bounds whatever slice_offsets hold.
template <class T>
const char* slice_fault(const BsellOperand<T>& A, offset_t slots, index_t slice) {
  const offset_t begin = A.slice_offsets[slice];
  const offset_t end = A.slice_offsets[slice + 1];
  if (begin < 0 || end < begin || end > slots)
    return "slice offsets do not ascend from 0 to the number of slots";
  if ((end - begin) % A.slice_height != 0) return "its slots are no multiple of the slice height";
  for (int lane = 0; lane < A.slice_height; ++lane)
    if (const char* fault = lane_fault(A, lane_of(A, slice, lane))) return fault;
  return nullptr;
}

}  // namespace

template <class T, class Space>
void BsellMatrix<T, Space>::validate() const {
  check_extents(*this);
  const auto A = operand();
  require(A.slice_offsets[0] == 0, "BsellMatrix: slice offsets must start at 0");
  require(A.slice_offsets[slices()] == slots(),
          "BsellMatrix: slice offsets must end at the number of slots");
  check_permutation(A);
  const index_t slice = detail::first_fault(
      slices(), [&](index_t s) { return slice_fault(A, slots(), s) != nullptr; });
  require(slice < 0, [&] {
    return "BsellMatrix: slice " + std::to_string(slice) + ": " + slice_fault(A, slots(), slice);
  });
}

template void BsellMatrix<float>::validate() const;
template void BsellMatrix<double>::validate() const;

}  // namespace cnc
