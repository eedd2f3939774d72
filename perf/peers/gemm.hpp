#pragma once

#include <functional>
#include <string>
#include <vector>

namespace cnc::perf {

/// A library's product of dense matrices: what the arithmetic of a machine delivers when memory is no limit.
template <class V>
struct GemmPeer {
  std::string name;
  bool on_device = false;
  /// Two n x n matrices of ones, and a function that multiplies them, waits, and says what the first entry of the product is.
  std::function<std::function<V()>(int n)> prepare;
};

/// All of this build; the host's with that many threads where the library lets one choose.
template <class V>
std::vector<GemmPeer<V>> gemm_peers(int threads);

/// @{
/// Those of each library, where this build has it.
template <class V>
GemmPeer<V> cblas_gemm();
template <class V>
GemmPeer<V> cublas_gemm();
/// @}

}  // namespace cnc::perf
