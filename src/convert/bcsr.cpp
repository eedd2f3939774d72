#include "convert/block_row.hpp"
#include "convert/checks.hpp"
#include "convert/place_row.hpp"

#include <cnc/convert.hpp>

#include <algorithm>
#include <string>
#include <type_traits>

// Everything about BCSR (and so CSR) that is not arithmetic: check, build, unpack, refresh.

namespace cnc {
namespace {

/// Rows of block row i, and columns of block column j, that lie inside the matrix.
template <class T>
int block_height(const BcsrOperand<T>& A, index_t i) {
  return std::min<index_t>(A.block_size, A.rows - i * A.block_size);
}
template <class T>
int block_width(const BcsrOperand<T>& A, index_t j) {
  return std::min<index_t>(A.block_size, A.cols - j * A.block_size);
}

template <class T>
bool zero_out_of_range(const BcsrOperand<T>& A, index_t i, index_t k) {
  const int b = A.block_size;
  const int height = block_height(A, i);
  const int width = block_width(A, A.columns[k]);
  if (height == b && width == b) return true;
  const T* block = A.values + static_cast<offset_t>(k) * b * b;
  for (int r = 0; r < b; ++r)
    for (int c = r < height ? width : 0; c < b; ++c)
      if (block[r * b + c] != T(0)) return false;
  return true;
}

/// What is wrong with block row i, or null. Reads nothing out of bounds whatever the arrays hold.
template <class T>
const char* block_row_fault(const BcsrOperand<T>& A, offset_t blocks, index_t i) {
  const index_t begin = A.row_offsets[i];
  const index_t end = A.row_offsets[i + 1];
  if (begin < 0 || end < begin || end > blocks)
    return "row offsets do not ascend from 0 to the number of blocks";
  // Ascending columns that start at 0 or later and end before block_cols are all in range.
  for (index_t k = begin + 1; k < end; ++k)
    if (A.columns[k] <= A.columns[k - 1]) return "columns do not ascend";
  if (begin < end && (A.columns[begin] < 0 || A.columns[end - 1] >= A.block_cols()))
    return "a column is out of range";
  // Only blocks of the last block row and a block of the last block column can be partial.
  const bool last_row = i == A.block_rows() - 1;
  for (index_t k = last_row ? begin : std::max(begin, end - 1); k < end; ++k)
    if (!zero_out_of_range(A, i, k)) return "an entry outside the matrix is not zero";
  return nullptr;
}

/// Counts (fill == false) or writes the entries of block row i that are not zero, row by row.
template <bool fill, class T>
void unpack_block_row(const BcsrOperand<T>& A, index_t i, index_t* row_offsets, index_t* columns,
                      T* values) {
  const int b = A.block_size;
  const int height = block_height(A, i);
  index_t position[max_block_size] = {};
  if constexpr (fill) std::copy_n(row_offsets + i * b, height, position);
  for (index_t k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
    const T* block = A.values + static_cast<offset_t>(k) * b * b;
    const int width = block_width(A, A.columns[k]);
    for (int r = 0; r < height; ++r) {
      for (int c = 0; c < width; ++c) {
        const T value = block[r * b + c];
        if (value == T(0)) continue;
        if constexpr (fill) {
          columns[position[r]] = A.columns[k] * b + c;
          values[position[r]] = value;
        }
        ++position[r];
      }
    }
  }
  if constexpr (!fill) std::copy_n(position, height, row_offsets + i * b + 1);
}

/// Overwrites block row i with the source's values.
template <class T, class S>
detail::RefusedEntry refresh_block_row(const BcsrOperand<T>& A, T* values,
                                       const BcsrOperand<S>& source, index_t i) {
  const int b = A.block_size;
  const index_t begin = A.row_offsets[i];
  const index_t* columns = A.columns + begin;
  T* first = values + static_cast<offset_t>(begin) * b * b;
  std::fill(first, values + static_cast<offset_t>(A.row_offsets[i + 1]) * b * b, T(0));
  for (int r = 0; r < block_height(A, i); ++r) {
    const index_t refused = detail::place_row<T>(
        source, i * b + r, b, A.row_offsets[i + 1] - begin, [=](offset_t j) { return columns[j]; },
        [=](offset_t j, int c) -> T& { return first[(j * b + r) * b + c]; });
    if (refused >= 0) return {i * b + r, refused};
  }
  return {};
}

}  // namespace

template <class T, class Space>
void BcsrMatrix<T, Space>::validate() const {
  check_extents();
  require(nonzeros >= 0 && nonzeros <= stored(), "BcsrMatrix: nonzeros must be 0 to stored()");
  const auto A = operand();
  require(A.row_offsets[0] == 0, "BcsrMatrix: row offsets must start at 0");
  require(A.row_offsets[block_rows()] == blocks(),
          "BcsrMatrix: row offsets must end at the number of blocks");
  const index_t i = detail::first_fault(
      block_rows(), [&](index_t row) { return block_row_fault(A, blocks(), row) != nullptr; });
  require(i < 0, [&] {
    return "BcsrMatrix: block row " + std::to_string(i) + ": " + block_row_fault(A, blocks(), i);
  });
}

template <class T>
BcsrMatrix<T> to_bcsr(const CsrMatrix<T>& A, int block_size) {
  detail::require_block_size(block_size);
  detail::require_csr(A);
  if (block_size == 1) return A;

  const auto source = A.operand();
  const index_t block_rows = ceil_div(A.rows, block_size);
  const auto row_offsets =
      uninitialized<index_t>("cnc::bcsr row_offsets", static_cast<std::size_t>(block_rows) + 1);
  index_t* offsets = row_offsets.data();
  detail::parallel_for(block_rows, [=](index_t i) {
    offsets[i + 1] = detail::blocks_in_row(source, block_size, i);
  });
  const auto blocks =
      static_cast<std::size_t>(detail::offsets_from_counts(offsets, block_rows, "blocks"));

  const std::size_t b2 = static_cast<std::size_t>(block_size) * block_size;
  const auto columns = uninitialized<index_t>("cnc::bcsr columns", blocks);
  const auto values = uninitialized<T>("cnc::bcsr values", blocks * b2);
  index_t* column_data = columns.data();
  T* value_data = values.data();
  detail::parallel_for(block_rows, [=](index_t i) {
    index_t* column = column_data + offsets[i];
    T* next_block = value_data + static_cast<std::size_t>(offsets[i]) * b2;
    T* block = nullptr;
    detail::walk_block_row(
        source, block_size, i,
        [&](index_t block_column) {
          *column++ = block_column;
          block = next_block;
          next_block += b2;
          std::fill_n(block, b2, T(0));
        },
        [&](int r, int c, index_t k) { block[r * block_size + c] = source.values[k]; });
  });
  return {A.rows, A.cols, block_size, row_offsets, columns, values, A.nonzeros};
}

template <class T>
CsrMatrix<T> to_csr(const BcsrMatrix<T>& A) {
  A.validate();
  if (A.block_size == 1) return A;

  const auto source = A.operand();
  const auto row_offsets =
      uninitialized<index_t>("cnc::csr row_offsets", static_cast<std::size_t>(A.rows) + 1);
  index_t* offsets = row_offsets.data();
  detail::parallel_for(A.block_rows(), [=](index_t i) {
    unpack_block_row<false, T>(source, i, offsets, nullptr, nullptr);
  });
  const auto nonzeros =
      static_cast<std::size_t>(detail::offsets_from_counts(offsets, A.rows, "nonzeros"));
  const auto columns = uninitialized<index_t>("cnc::csr columns", nonzeros);
  const auto values = uninitialized<T>("cnc::csr values", nonzeros);
  detail::parallel_for(A.block_rows(), [=](index_t i) {
    unpack_block_row<true>(source, i, offsets, columns.data(), values.data());
  });
  return {A.rows, A.cols, 1, row_offsets, columns, values};
}

template <class T, class S>
void update_values(BcsrMatrix<T>& A, const CsrMatrix<S>& source) {
  detail::require_refreshable(A, source);
  if constexpr (std::is_same_v<T, S>) {
    if (A.values.data() == source.values.data() && A.columns.data() == source.columns.data())
      return;  // one matrix under two names: it has its new values already
  }
  const auto target = A.operand();
  const auto from = source.operand();
  T* values = A.values.data();
  const index_t i = detail::first_fault(A.block_rows(), [=](index_t row) {
    return refresh_block_row(target, values, from, row).position >= 0;
  });
  if (i >= 0) detail::throw_refused<T>(from, refresh_block_row(target, values, from, i));
  A.nonzeros = source.nonzeros;
}

#define CNC_INSTANTIATE(T)                                              \
  template void BcsrMatrix<T>::validate() const;                        \
  template BcsrMatrix<T> to_bcsr(const CsrMatrix<T>&, int);             \
  template CsrMatrix<T> to_csr(const BcsrMatrix<T>&);                   \
  template void update_values(BcsrMatrix<T>&, const CsrMatrix<float>&); \
  template void update_values(BcsrMatrix<T>&, const CsrMatrix<double>&);
CNC_INSTANTIATE(float)
CNC_INSTANTIATE(double)
#undef CNC_INSTANTIATE

}  // namespace cnc
