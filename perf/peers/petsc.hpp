#pragma once

#include "peers/peers.hpp"

// PETSc in this process alone, which is one thread: double only, as Debian's packages are.

namespace cnc::perf::petsc {

/// Formats AIJ, and BAIJ for block sizes above 1, of which rows and cols are multiples.
SpmvPeer<double> spmv(const CsrArrays<double>& A, int block_size);
SolverPeer<double> solver(const CsrArrays<double>& A, Krylov method, int block_size);
std::string version();

}  // namespace cnc::perf::petsc
