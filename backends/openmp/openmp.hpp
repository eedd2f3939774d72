#pragma once

#include <cnc/contract/backend.hpp>

namespace cnc {

/// Host kernels with OpenMP threads and SIMD. The same generic source is compiled once per
/// instruction set, each in a namespace of its own; `openmp` is the widest one that the processor
/// running the program offers, the others can be asked for by name.
const Backend& openmp_backend();

extern const Backend openmp_portable_backend;  ///< 128-bit vectors, any processor
/// Of an x86-64 processor, with CNC_HAVE_AVX.
extern const Backend openmp_avx2_backend, openmp_avx512_backend;

}  // namespace cnc
