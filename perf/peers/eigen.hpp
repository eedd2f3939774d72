#pragma once

#include "peers/gemm.hpp"
#include "peers/peers.hpp"

namespace cnc::perf::eigen {

template <class V>
SpmvPeer<V> spmv(const CsrArrays<V>& A, int threads);
template <class V>
SolverPeer<V> solver(const CsrArrays<V>& A, Krylov method, int threads);
template <class V>
VectorPeer<V> vectors();
template <class V>
GemmPeer<V> gemm(int threads);
std::string version();

}  // namespace cnc::perf::eigen
