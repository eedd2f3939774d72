#pragma once

#include "convert/bcsr_rows.hpp"
#include "convert/block_row.hpp"
#include "convert/portable/loops.hpp"

#include <cnc/convert.hpp>

#include <algorithm>
#include <string>

// Check, build and refresh BCSR (and so CSR), and change its precision, on any execution space.

namespace cnc::portable {

/// As BcsrMatrix::validate.
template <class Exec, class T, class Space>
void validate(const BcsrMatrix<T, Space>& matrix) {
  // The constructor checks extents: members may have been changed since.
  (void)BcsrMatrix<T, Space>(matrix.rows, matrix.cols, matrix.block_size, matrix.row_offsets,
                             matrix.columns, matrix.values, matrix.nonzeros);
  require(matrix.nonzeros >= 0 && matrix.nonzeros <= matrix.stored(),
          "BcsrMatrix: nonzeros must be 0 to stored()");
  const auto A = matrix.operand();
  const offset_t blocks = matrix.blocks();
  // Rows 0 and 1 stand for the bounds of the offsets, row i + 2 for block row i.
  constexpr int lanes = row_lanes<Exec>;
  const offset_t rows = static_cast<offset_t>(A.block_rows()) + 2;
  const offset_t found = least<Exec>(
      "cnc::validate", rows * lanes, KOKKOS_LAMBDA(const offset_t thread, offset_t& value) {
        const offset_t row = thread / lanes;
        if (row == 0) {
          if (A.row_offsets[0] != 0) lower(value, ranked(0, 0));
        } else if (row == 1) {
          if (A.row_offsets[A.block_rows()] != blocks) lower(value, ranked(1, 0));
        } else {
          const auto fault = detail::block_row_fault(A, blocks, static_cast<index_t>(row - 2),
                                                     static_cast<int>(thread % lanes), lanes);
          if (fault != detail::BlockRowFault::none)
            lower(value, ranked(row, static_cast<offset_t>(fault)));
        }
      });
  if (found == nothing) return;
  const auto [row, fault] = unranked(found);
  require(row != 0, "BcsrMatrix: row offsets must start at 0");
  require(row != 1, "BcsrMatrix: row offsets must end at the number of blocks");
  detail::throw_invalid("BcsrMatrix: block row " + std::to_string(row - 2) + ": " +
                        fault_text(static_cast<detail::BlockRowFault>(fault)));
}

/// As detail::require_csr.
template <class Exec, class T, class Space>
void require_csr(const CsrMatrix<T, Space>& A) {
  require(A.block_size == 1, "a CSR matrix (block size 1) is needed here");
  validate<Exec>(A);
}

template <class Exec, class T, class Space>
BcsrMatrix<T, Space> to_bcsr(const CsrMatrix<T, Space>& A, int block_size) {
  detail::require_block_size(block_size);
  require_csr<Exec>(A);
  if (block_size == 1) return A;

  const auto source = A.operand();
  const index_t block_rows = ceil_div(A.rows, block_size);
  const auto row_offsets = uninitialized<index_t, Space>("cnc::bcsr row_offsets",
                                                         static_cast<std::size_t>(block_rows) + 1);
  index_t* offsets = row_offsets.data();
  Kokkos::parallel_for(
      "cnc::count", range<Exec>(0, block_rows), KOKKOS_LAMBDA(const offset_t i) {
        offsets[i + 1] = detail::blocks_in_row(source, block_size, static_cast<index_t>(i));
      });
  const auto blocks =
      static_cast<std::size_t>(offsets_from_counts<Exec>(offsets, block_rows, "blocks"));

  const int b2 = block_size * block_size;
  const auto columns = uninitialized<index_t, Space>("cnc::bcsr columns", blocks);
  const auto values =
      uninitialized<T, Space>("cnc::bcsr values", blocks * static_cast<std::size_t>(b2));
  index_t* column_data = columns.data();
  T* value_data = values.data();
  Kokkos::parallel_for(
      "cnc::fill", range<Exec>(0, block_rows), KOKKOS_LAMBDA(const offset_t i) {
        detail::fill_block_row(source, block_size, static_cast<index_t>(i),
                               column_data + offsets[i],
                               value_data + static_cast<offset_t>(offsets[i]) * b2);
      });
  return {A.rows, A.cols, block_size, row_offsets, columns, values, A.nonzeros};
}

/// Throws what `least` found in the source: ranked(row, position in columns) of a refused entry.
template <class T, class S, class Space>
void require_none_refused(offset_t found, const CsrMatrix<S, Space>& source) {
  if (found == nothing) return;
  const auto [row, position] = unranked(found);
  detail::throw_refused(static_cast<index_t>(row), fetch(source.columns, position),
                        detail::overflows<T>(fetch(source.values, position)));
}

template <class Exec, class T, class S, class Space>
void update_values(BcsrMatrix<T, Space>& A, const CsrMatrix<S, Space>& source) {
  detail::require_refreshable(A, source);
  if (detail::shares_arrays(A, source)) return;
  const auto target = A.operand();
  const auto from = source.operand();
  T* values = A.values.data();
  const int b = A.block_size;
  const offset_t found = least<Exec>(
      "cnc::refresh", static_cast<offset_t>(A.block_rows()) * b,
      KOKKOS_LAMBDA(const offset_t row, offset_t& value) {
        const index_t refused = detail::refresh_row(
            target, values, from, static_cast<index_t>(row / b), static_cast<int>(row % b));
        if (refused >= 0) lower(value, ranked(row, refused));
      });
  require_none_refused<T>(found, source);
  A.nonzeros = source.nonzeros;
}

template <class To, class Exec, class From, class Space>
BcsrMatrix<To, Space> convert_values(const BcsrMatrix<From, Space>& A) {
  const From* from = A.values.data();
  const auto values = uninitialized<To, Space>("cnc::bcsr values", A.values.extent(0));
  To* to = values.data();
  const offset_t found = least<Exec>(
      "cnc::convert", A.stored(), KOKKOS_LAMBDA(const offset_t k, offset_t& value) {
        const bool too_large = detail::overflows<To>(from[k]);
        to[k] = too_large ? To(0) : static_cast<To>(from[k]);
        if (too_large) lower(value, k);
      });
  if (found != nothing) {
    const auto offsets = Kokkos::create_mirror_view_and_copy(HostSpace(), A.row_offsets);
    const offset_t block = found / (A.block_size * A.block_size);
    const index_t* first = offsets.data();
    const index_t* after = std::upper_bound(first, first + offsets.extent(0), block);
    detail::require_no_overflow(static_cast<index_t>(after - first) - 1);
  }
  return {A.rows, A.cols, A.block_size, A.row_offsets, A.columns, values, A.nonzeros};
}

}  // namespace cnc::portable
