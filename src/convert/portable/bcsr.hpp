#pragma once

#include "convert/bcsr_checks.hpp"
#include "convert/block_row.hpp"
#include "convert/portable/loops.hpp"

#include <cnc/convert.hpp>

#include <algorithm>

// Check, build and refresh BCSR (and so CSR), and change its precision, on any execution space.

namespace cnc::portable {

/// As BcsrMatrix::validate.
template <class Exec, class T, class Space>
Checked validate(const BcsrMatrix<T, Space>& matrix) {
  detail::check_counts(matrix);
  const auto A = matrix.operand();
  const offset_t blocks = matrix.blocks();
  detail::check_offset_bounds(matrix, fetch(matrix.row_offsets, 0),
                              fetch(matrix.row_offsets, matrix.block_rows()));
  constexpr offset_t descends = nothing - 1;  // no fault, but a row of CSR in another order
  constexpr int lanes = row_lanes<Exec>;
  const offset_t found = least<Exec>(
      "cnc::validate", static_cast<offset_t>(A.block_rows()) * lanes,
      KOKKOS_LAMBDA(const offset_t thread, offset_t& value) {
        const auto row = static_cast<index_t>(thread / lanes);
        bool ascending = true;
        const auto fault = detail::block_row_fault(A, blocks, row, ascending,
                                                   static_cast<int>(thread % lanes), lanes);
        if (!ascending) lower(value, descends);
        if (fault != detail::BlockRowFault::none)
          lower(value, ranked(row, static_cast<offset_t>(fault)));
      });
  if (found == nothing) return Checked::ascending;
  if (found != descends) {
    const auto [row, fault] = unranked(found);
    detail::throw_row_fault(matrix, static_cast<index_t>(row),
                            static_cast<detail::BlockRowFault>(fault));
  }
  (void)detail::ascending_order<Exec>(matrix);  // finds what comes twice
  return Checked::valid;
}

template <class Exec, class T, class Space>
BcsrMatrix<T, Space> to_bcsr(const CsrMatrix<T, Space>& given, int block_size) {
  detail::require_block_size(block_size);
  if (block_size == 1) {
    detail::require_csr(given);
    return given;
  }
  const CsrMatrix<T, Space> A = detail::ascending_csr<Exec>(given);

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
  detail::require_blocks<T, Space>("to_bcsr", blocks, b2);
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
void update_values(BcsrMatrix<T, Space>& A, const CsrMatrix<S, Space>& given) {
  detail::require_refreshable(A, given);
  if (detail::shares_arrays(A, given)) return;
  require(!A.read_only, "update_values: the values of the matrix are const");
  const CsrMatrix<S, Space> source = detail::ascending_csr<Exec>(given);
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
  BcsrMatrix<To, Space> result{A.rows,    A.cols, A.block_size, A.row_offsets,
                               A.columns, values, A.nonzeros};
  result.checked = A.checked;
  return result;
}

}  // namespace cnc::portable
