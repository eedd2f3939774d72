#pragma once

#include "convert/bcsr.hpp"
#include "convert/bsell.hpp"
#include "convert/dia.hpp"
#include "precondition/diagonal_block.hpp"

#include <cnc/preconditioner.hpp>

namespace cnc::detail {

/// The first fault of all: by row, then kind.
KOKKOS_INLINE_FUNCTION void report(const BlockFault& fault, Least& first) {
  if (fault.row >= 0) first.report(fault.row, fault.singular_block ? 1 : 0);
}

template <class V, class Blocks>
struct InvertEntry {
  Blocks blocks;
  DiagonalRule rule;
  V* inverse;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, Least& fault) const {
    report(invert_entry(blocks, rule, static_cast<index_t>(i), inverse[i]), fault);
  }
};

/// capacity: room for the largest block that a thread may meet, b or more.
template <int capacity, class V, class Blocks>
struct InvertBlock {
  Blocks blocks;
  int b;
  V* inverse;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, Least& fault) const {
    report(invert_diagonal_block<capacity>(blocks, b, static_cast<index_t>(i), inverse + i * b * b),
           fault);
  }
};

/// Inverts `count` blocks into M, which may already hold them.
template <class Exec, class V, class Space, class Blocks>
PreconditionerSetup invert_blocks(const Blocks& blocks, index_t count,
                                  Preconditioner<V, Space>& M) {
  const int b = M.block_size;
  V* inverse = M.inverse.data();
  const auto run = [&](const auto& invert) {
    return sum_over<Least>(instance<Exec>(), count, invert);
  };
  const Least fault = b == 1   ? run(InvertEntry<V, Blocks>{blocks, M.diagonal, inverse})
                      : b <= 4 ? run(InvertBlock<4, V, Blocks>{blocks, b, inverse})
                      : b <= 8 ? run(InvertBlock<8, V, Blocks>{blocks, b, inverse})
                               : run(InvertBlock<max_block_size, V, Blocks>{blocks, b, inverse});
  M.uniform = M.kind == PreconditionerKind::jacobi && is_uniform(instance<Exec>(), count, inverse);
  if (!fault.found()) return {};
  return {static_cast<index_t>(fault.first()), fault.second() == 1};
}

/// Copies the diagonal blocks of a layout, from whose rows they are picked.
template <class Rows, class V>
struct CopyDiagonalBlocks {
  Rows rows;
  int b;
  V* blocks;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t thread) const {
    rows.for_each(thread, [&](index_t row, const auto& walk) {
      const index_t first = row / b * b;
      V* const entries = blocks + static_cast<offset_t>(row) * b;
      for (int c = 0; c < b; ++c) entries[c] = 0;
      walk([&](index_t column, V value) {
        const offset_t c = static_cast<offset_t>(column) - first;
        if (c >= 0 && c < b) entries[c] = value;
      });
    });
  }
};

/// norms[i] := the 2-norm of row i
template <class Rows, class V>
struct CopyRowNorms {
  Rows rows;
  V* norms;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t thread) const {
    rows.for_each(thread, [&](index_t row, const auto& walk) {
      double sum = 0;
      walk([&](index_t, auto value) { sum += double(value) * double(value); });
      norms[row] = static_cast<V>(std::sqrt(sum));
    });
  }
};

namespace set_up {

/// Whether norms of rows are inverted in the place of the diagonal.
template <class V, class Space>
bool takes_row_norms(const Preconditioner<V, Space>& M) {
  return M.kind != PreconditionerKind::none && M.block_size == 1 &&
         M.diagonal == DiagonalRule::row_norm;
}
template <class Exec, class V, class Space, class Operand>
PreconditionerSetup invert_row_norms(const Operand& A, Preconditioner<V, Space>& M) {
  const Rows<Exec, Operand> rows{A};
  on_each(instance<Exec>(), rows.threads(),
          CopyRowNorms<Rows<Exec, Operand>, V>{rows, M.inverse.data()});
  return invert_blocks<Exec>(CopiedBlocks<V>{{A.rows}, M.inverse.data()}, A.rows, M);
}

template <class Exec, class V, class S, class Space>
PreconditionerSetup set_up_preconditioner(const CsrMatrix<S, Space>& A, PreconditionerKind kind,
                                          int block_size, Preconditioner<V, Space>& M) {
  require(A.block_size == 1, "set_up_preconditioner: needs a CSR matrix (block size 1)");
  require_set_up(A.rows, A.cols, kind, block_size);
  const bool ascending = kind == PreconditionerKind::none || require_csr(A) == Checked::ascending;
  const index_t blocks = open_set_up(A.rows, kind, block_size, M);
  if (takes_row_norms(M)) return invert_row_norms<Exec>(A.operand(), M);
  return invert_blocks<Exec>(BlocksInCsr<S>{A.operand(), ascending}, blocks, M);
}

/// The same from a layout, which is valid. Block sizes of layout and preconditioner need not agree.
template <class Exec, class V, class Space>
PreconditionerSetup set_up_preconditioner(const Matrix<V, Space>& any, PreconditionerKind kind,
                                          int block_size, Preconditioner<V, Space>& M) {
  return std::visit(
      [&]<class Layout>(const Layout& A) -> PreconditionerSetup {
        if constexpr (requires { A.row_offsets; })
          if (A.block_size == 1) return set_up_preconditioner<Exec>(A, kind, block_size, M);
        require_set_up(A.rows, A.cols, kind, block_size);
        const index_t blocks = open_set_up(A.rows, kind, block_size, M);
        if (blocks == 0) return {};
        const auto operand = A.operand();
        if (takes_row_norms(M)) return invert_row_norms<Exec>(operand, M);
        const Rows<Exec, std::remove_const_t<decltype(operand)>> rows{operand};
        V* const inverse = M.inverse.data();
        on_each(instance<Exec>(), rows.threads(),
                CopyDiagonalBlocks<decltype(rows), V>{rows, M.block_size, inverse});
        return invert_blocks<Exec>(CopiedBlocks<V>{{A.rows}, inverse}, blocks, M);
      },
      any);
}

/// Of A^T A.
template <class Exec, class V, class Space>
PreconditionerSetup set_up_normal_preconditioner(const CsrMatrix<V, Space>& transpose,
                                                 PreconditionerKind kind, int block_size,
                                                 Preconditioner<V, Space>& M) {
  require_set_up(transpose.rows, transpose.rows, kind, block_size);
  const auto ascending = ascending_csr<Exec>(transpose);
  const index_t blocks = open_set_up(transpose.rows, kind, block_size, M);
  return invert_blocks<Exec>(NormalBlocks<V>{ascending.operand()}, blocks, M);
}

}  // namespace set_up
}  // namespace cnc::detail
