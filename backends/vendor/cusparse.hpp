#pragma once

#include <cnc/contract/backend.hpp>

namespace cnc {

// NVIDIA's cuSPARSE under cuBLAS vector operations: baselines for device memory. One table for each
// of the library's algorithms, so that the best of them can be named as the peer.
//
// Descriptors, buffers and the results of cusparseSpMV_preprocess are made when a matrix is first
// met and kept for the last few matrices: the first product allocates and may wait, the others are enqueued.
// `dot` and `nrm2` are offered for double alone: the library rounds a float sum to float.

/// CSR with CUSPARSE_SPMV_CSR_ALG1; sums may differ in the last bits from run to run.
extern const Backend cusparse_backend;
/// CSR with CUSPARSE_SPMV_CSR_ALG2, deterministic.
extern const Backend cusparse_alg2_backend;
/// Sliced ELL: takes a BsellMatrix of block size 1 whose rows are in their own order (sort window 1),
/// because the library knows no row permutation. Columns and values are used where they are.
extern const Backend cusparse_sell_backend;
/// BSR: takes a BcsrMatrix of block size 2 or more that divides rows and columns, because the library
/// knows no partial blocks.
extern const Backend cusparse_bsr_backend;

}  // namespace cnc
