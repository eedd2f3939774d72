#pragma once

#include "precondition/diagonal_block.hpp"

#include <cnc/preconditioner.hpp>

namespace cnc::detail {

/// The first fault of all: by row, then kind.
KOKKOS_INLINE_FUNCTION void report(const BlockFault& fault, Least& first) {
  if (fault.row >= 0) first.report(fault.row, fault.singular_block ? 1 : 0);
}

template <class V, class S>
struct InvertEntry {
  BcsrOperand<S> A;
  bool ascending;
  V* inverse;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, Least& fault) const {
    report(invert_entry(A, ascending, static_cast<index_t>(i), inverse[i]), fault);
  }
};

/// capacity: room for the largest block that a thread may meet, b or more.
template <int capacity, class V, class S>
struct InvertBlock {
  BcsrOperand<S> A;
  bool ascending;
  int b;
  V* inverse;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, Least& fault) const {
    report(invert_diagonal_block<capacity>(A, ascending, b, static_cast<index_t>(i),
                                           inverse + i * b * b),
           fault);
  }
};

namespace set_up {

template <class Exec, class V, class S, class Space>
PreconditionerSetup set_up_preconditioner(const CsrMatrix<S, Space>& given, PreconditionerKind kind,
                                          int block_size, Preconditioner<V, Space>& M) {
  const SetUpPlan plan = open_set_up(given, kind, block_size, M);
  const auto A = given.operand();
  const int b = M.block_size;
  V* inverse = M.inverse.data();
  const auto run = [&](const auto& invert) {
    return sum_over<Least>(instance<Exec>(), plan.blocks, invert);
  };
  const Least fault = b == 1   ? run(InvertEntry<V, S>{A, plan.ascending, inverse})
                      : b <= 4 ? run(InvertBlock<4, V, S>{A, plan.ascending, b, inverse})
                      : b <= 8
                          ? run(InvertBlock<8, V, S>{A, plan.ascending, b, inverse})
                          : run(InvertBlock<max_block_size, V, S>{A, plan.ascending, b, inverse});
  if (!fault.found()) return {};
  return {static_cast<index_t>(fault.first()), fault.second() == 1};
}

}  // namespace set_up
}  // namespace cnc::detail
