#pragma once

#include <cnc/bcsr_matrix.hpp>

#include <span>

namespace cnc {

/// One entry of a matrix in coordinate form, indices from 0.
template <class T>
struct Triplet {
  index_t row = 0;  ///< from 0
  index_t col = 0;  ///< from 0
  T value{};        ///< of the entry
};

/// CSR from triplets in any order; entries at the same place are summed in the order given, so the
/// result has the same bits whatever the number of threads. Explicit zeros stay stored.
///
/// Shapes   rows, cols >= 0; every index in range.
/// Errors   InvalidArgument (index out of range: the first such entry is named; more than 2^31 - 1
///          entries left after summing).
/// Cost     O(entries + rows) time plus a sort within each row, in parallel; 8 bytes per entry and per
///          row besides the result.
template <class T>
CsrMatrix<T> csr_from_triplets(index_t rows, index_t cols, std::span<const Triplet<T>> entries);

}  // namespace cnc
