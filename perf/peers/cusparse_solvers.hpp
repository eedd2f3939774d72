#pragma once

#include "peers/peers.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

// Jacobi-preconditioned iterations as one writes them on NVIDIA's libraries: cuSPARSE for the
// product, cuBLAS for the vectors, a kernel for the diagonal.

namespace cnc::perf::cusparse_peer {

/// A square CSR matrix and the inverse of its diagonal, in memory of the current device; nothing is
/// owned, and everything must outlive the peer.
template <class V>
struct DeviceSystem {
  int n = 0;
  int nonzeros = 0;
  const int* row_offsets = nullptr;     ///< [n + 1]
  const int* columns = nullptr;         ///< [nonzeros]
  const V* values = nullptr;            ///< [nonzeros]
  const V* inverse_diagonal = nullptr;  ///< [n]
};

/// Where the scalars of an iteration are computed. On the host: dot products are read back, each when
/// it is done, the usual way. On the device: cuBLAS' device pointer mode, the host waits for nothing.
enum class Scalars { host, device };

struct Outcome {
  double seconds_per_iteration = 0;  ///< by device events around the whole loop
  double residual = 0;               ///< || b - A x ||, computed anew from x
};

template <class V>
struct Solver {
  std::string name;  ///< "cuSPARSE csr-alg2 + cuBLAS, scalars on the host"
  /// What the choice of the product went by: name and seconds, fastest first.
  std::vector<std::pair<std::string, double>> products;
  /// Exactly `iterations` iterations from x = 0; b and x in device memory, [n].
  std::function<Outcome(const V* b, V* x, int iterations)> run;
};

/// Each sets up on a stream of its own: times CSR algorithms 1 and 2 and sliced ELL (slices of 32
/// rows in their own order, converted on the host) and keeps the fastest. None computes a norm for a
/// stopping test.
///
/// Errors   std::runtime_error (a call that failed). V is float or double, n at least 1.
template <class V>
Solver<V> pcg(const DeviceSystem<V>& system, Scalars scalars);
template <class V>
Solver<V> bicgstab(const DeviceSystem<V>& system, Scalars scalars);
/// Classical Gram-Schmidt in one pass, two products with the basis. The host reads the Hessenberg
/// matrix of a whole cycle at its end.
template <class V>
Solver<V> gmres(const DeviceSystem<V>& system);

/// What there is of a method.
template <class V>
std::vector<Solver<V>> solvers(const DeviceSystem<V>& system, Krylov method) {
  switch (method) {
    case Krylov::gmres: return {gmres(system)};
    case Krylov::bicgstab:
      return {bicgstab(system, Scalars::host), bicgstab(system, Scalars::device)};
    default: return {pcg(system, Scalars::host), pcg(system, Scalars::device)};
  }
}

}  // namespace cnc::perf::cusparse_peer
