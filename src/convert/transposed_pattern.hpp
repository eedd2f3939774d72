#pragma once

#include <cnc/matrix.hpp>

namespace cnc::detail {

/// The pattern of A^T, columns ascending, and which entry of A each of its entries is.
template <class Space>
struct TransposedPattern {
  Vector<index_t, Space> row_offsets;  ///< [A.cols + 1]
  Vector<index_t, Space> columns;      ///< [nonzeros]
  Vector<index_t, Space> origins;      ///< [nonzeros]
};

/// A is valid CSR, its rows in any order. Waits.
/// Errors   OutOfMemory.
template <class T, class Space>
TransposedPattern<Space> transposed_pattern(const CsrMatrix<T, Space>& A);

}  // namespace cnc::detail
