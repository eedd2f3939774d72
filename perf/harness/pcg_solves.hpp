#pragma once

#include <cnc/solver.hpp>

namespace cnc::perf {

// What the PCG benches share. An iteration's time is the difference between a long and a short solve.

inline constexpr index_t shorter = 4;
inline constexpr index_t fewest = 12;  ///< a difference over fewer iterations would be noise

/// Options of a solve that runs to its limit, whatever happens.
SolveOptions endless(Method method, PreconditionerKind preconditioner, int block_size);

/// Residual norm of the reference backend after the short solve of A x = random_vector(rows, 2), for a
/// diagonal in blocks of that size.
double expected_residual(const CsrMatrix<double>& A, int block_size);

}  // namespace cnc::perf
