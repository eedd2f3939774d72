#pragma once

#include <cnc/contract/backend.hpp>

namespace cnc {

/// Kokkos Kernels on Kokkos' default host execution space: a baseline for CSR and BLAS-1.
extern const Backend kokkos_kernels_backend;

}  // namespace cnc
