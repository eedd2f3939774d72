#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

// Jacobi-PCG as one writes it on NVIDIA's libraries: cuSPARSE for the product, cuBLAS for the
// vectors, a kernel for the diagonal.

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

/// Where alpha and beta are computed. On the host: two results are read back in every iteration, the
/// usual way. On the device: cuBLAS' device pointer mode, the host waits for nothing.
enum class Scalars { host, device };

struct Outcome {
  double seconds_per_iteration = 0;  ///< by device events around the whole loop
  double residual = 0;               ///< || b - A x ||, computed anew from x
};

template <class V>
struct Pcg {
  std::string name;  ///< "cuSPARSE csr-alg2 + cuBLAS, scalars on the host"
  /// What the choice of the product went by: name and seconds, fastest first.
  std::vector<std::pair<std::string, double>> products;
  /// Exactly `iterations` iterations from x = 0; b and x in device memory, [n].
  std::function<Outcome(const V* b, V* x, int iterations)> run;
};

/// Sets up on a stream of its own: times CSR algorithms 1 and 2 and sliced ELL (slices of 32 rows in
/// their own order, converted on the host) and keeps the fastest.
///
/// Errors   std::runtime_error (a call that failed). V is float or double, n at least 1.
template <class V>
Pcg<V> pcg(const DeviceSystem<V>& system, Scalars scalars);

}  // namespace cnc::perf::cusparse_peer
