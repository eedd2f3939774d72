#pragma once

#include <cnc/contract/ops.hpp>

#include <string>
#include <type_traits>

namespace cnc {

/// Whether a backend can run on this machine, and what it runs on or why it cannot.
struct Availability {
  bool usable = false;  ///< contexts can be made
  std::string detail;   ///< "AVX-512, 2 threads" or "no device found"
};

/// A kernel set: a constant table. Which backends exist is written in src/registry.cpp alone.
struct Backend {
  const char* name = "";                   ///< as find_backend takes it
  const char* description = "";            ///< one line for lists of backends
  MemorySpace memory = MemorySpace::host;  ///< where its operands are
  /// A yardstick times somebody else's library; it is compared with, never chosen by `auto`.
  bool yardstick = false;
  /// A variant forces one instruction set of another backend; listed on request.
  bool variant = false;
  Availability (*availability)() = nullptr;  ///< asks the machine; never null
  /// Host backends: threads that operations on the queue use at most; null: one.
  int (*threads)(const Queue& queue) = nullptr;
  /// Device backends: bytes free on a device, for messages about memory; null on the host.
  double (*free_bytes)(int device) = nullptr;

  VectorOps<float> vector_f32 = {};                ///< operations on float vectors
  VectorOps<double> vector_f64 = {};               ///< operations on double vectors
  MatrixTable<float, float> matrix_f32 = {};       ///< float matrix and vectors
  MatrixTable<double, double> matrix_f64 = {};     ///< double matrix and vectors
  MatrixTable<float, double> matrix_f32_f64 = {};  ///< float matrix under double vectors
};

/// The table for vectors of V.
template <class V>
constexpr const VectorOps<V>& vector_ops(const Backend& backend) {
  static_assert(std::is_same_v<V, float> || std::is_same_v<V, double>);
  if constexpr (std::is_same_v<V, float>)
    return backend.vector_f32;
  else
    return backend.vector_f64;
}

/// The table for matrices stored in M under vectors of V.
template <class M, class V>
constexpr const MatrixTable<M, V>& matrix_table(const Backend& backend) {
  static_assert(sizeof(M) <= sizeof(V),
                "matrix storage may be narrower than the vectors, not wider");
  if constexpr (std::is_same_v<V, float>)
    return backend.matrix_f32;
  else if constexpr (std::is_same_v<M, double>)
    return backend.matrix_f64;
  else
    return backend.matrix_f32_f64;
}

}  // namespace cnc
