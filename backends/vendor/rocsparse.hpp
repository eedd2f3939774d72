#pragma once

#include <cnc/contract/backend.hpp>

namespace cnc {

// AMD's rocSPARSE: baselines for CSR products in device memory, nothing else.
//
// The analysis of a matrix is made when it is first met and kept for the last few matrices: the first product
// waits, the others are enqueued.

/// CSR with the library's analysis (its adaptive algorithm).
extern const Backend rocsparse_backend;
/// CSR without analysis (one wave, or part of one, per row).
extern const Backend rocsparse_stream_backend;

}  // namespace cnc
