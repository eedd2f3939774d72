#pragma once

#include "peers/peers.hpp"

namespace cnc::perf::amgcl_peer {

/// Block sizes for which the block-valued form is compiled.
inline constexpr int block_sizes[] = {2, 3, 4};

/// Block size 1 is the scalar form, the only one for M narrower than V.
template <class M, class V>
SpmvPeer<V> spmv(const CsrArrays<M>& A, int block_size);
template <class V>
SolverPeer<V> solver(const CsrArrays<V>& A, Krylov method, int block_size);
template <class V>
VectorPeer<V> vectors();
std::vector<MultigridPeer> multigrid(const CsrArrays<double>& A);
std::string version();

}  // namespace cnc::perf::amgcl_peer
