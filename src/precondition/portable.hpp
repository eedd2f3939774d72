#pragma once

#include "convert/portable/loops.hpp"
#include "precondition/diagonal_block.hpp"

#include <cnc/preconditioner.hpp>

namespace cnc::portable {

/// The first fault of all as one number for `least`: row, then kind.
KOKKOS_INLINE_FUNCTION void lower(offset_t& value, const detail::BlockFault& fault) {
  if (fault.row >= 0) lower(value, ranked(fault.row, fault.singular_block ? 1 : 0));
}

template <class Exec, class V, class S>
offset_t invert_entries(const BcsrOperand<S>& A, bool ascending, V* inverse) {
  return least<Exec>(
      "cnc::invert", A.rows, KOKKOS_LAMBDA(const offset_t i, offset_t& value) {
        lower(value, detail::invert_entry(A, ascending, static_cast<index_t>(i), inverse[i]));
      });
}

/// capacity: room for the largest block that a thread may meet, b or more.
template <class Exec, int capacity, class V, class S>
offset_t invert_blocks(const BcsrOperand<S>& A, bool ascending, int b, V* inverse) {
  return least<Exec>(
      "cnc::invert", ceil_div(A.rows, b), KOKKOS_LAMBDA(const offset_t i, offset_t& value) {
        lower(value, detail::invert_diagonal_block<capacity>(
                         A, ascending, b, static_cast<index_t>(i), inverse + i * b * b));
      });
}

template <class Exec, class V, class S, class Space>
PreconditionerSetup set_up_preconditioner(const CsrMatrix<S, Space>& A, PreconditionerKind kind,
                                          int block_size, Preconditioner<V, Space>& M) {
  const auto [blocks, ascending] = detail::open_set_up(A, kind, block_size, M);
  if (blocks == 0) return {};
  const auto source = A.operand();
  const int b = M.block_size;
  V* inverse = M.inverse.data();
  const offset_t found = b == 1   ? invert_entries<Exec>(source, ascending, inverse)
                         : b <= 4 ? invert_blocks<Exec, 4>(source, ascending, b, inverse)
                         : b <= 8
                             ? invert_blocks<Exec, 8>(source, ascending, b, inverse)
                             : invert_blocks<Exec, max_block_size>(source, ascending, b, inverse);
  if (found == nothing) return {};
  const auto [row, singular] = unranked(found);
  return {static_cast<index_t>(row), singular == 1};
}

}  // namespace cnc::portable
