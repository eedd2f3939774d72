#pragma once

#include "convert/checks.hpp"
#include "convert/device_product.hpp"
#include "convert/sparse_blocks.hpp"
#include "huge_pages.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

// C = A B of sparse matrices of small blocks: the pattern of C once, its values as often as those of A and B change.
//
// Row i of C gathers the rows of B that row i of A names, in the order of A: the same sums for any number of threads. A
// thread of the host finds a column's place in a table as long as B has columns.
//
// Method   Gustavson, Two fast algorithms for sparse matrices: multiplication and permuted transposition, 1978.

namespace cnc::detail {

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
