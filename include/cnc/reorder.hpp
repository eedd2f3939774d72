#pragma once

#include <cnc/bcsr_matrix.hpp>

namespace cnc {

/// Reverse Cuthill-McKee ordering of the graph of A + A^T, component by component, each started from a
/// pseudo-peripheral vertex. Blocks of `block_size` rows are kept together and aligned, so a partial
/// last block stays last. The same pattern gives the same ordering on any number of threads.
///
/// Shapes   A: square. Result p: [rows]; row i of the reordered matrix is row p(i) of A.
/// Errors   InvalidArgument (A not square, not valid CSR, block size outside 1..16).
/// Cost     O(nonzeros log(longest row)) per search, a handful of searches; O(edges) memory.
/// Source   Cuthill & McKee, "Reducing the bandwidth of sparse symmetric matrices", 1969; George & Liu,
///          "An implementation of a pseudoperipheral node finder", 1979.
template <class T>
Vector<index_t> rcm_ordering(const CsrMatrix<T>& A, int block_size = 1);

/// P A P^T: entry (i, j) of the result is entry (p(i), p(j)) of A. Columns ascend. In parallel.
///
/// Shapes   A: square; p: [rows].
/// Errors   InvalidArgument (A not square, not valid CSR, p is no permutation of A's rows).
template <class T>
CsrMatrix<T> permute(const CsrMatrix<T>& A, const Vector<const index_t>& p);

}  // namespace cnc
