#pragma once

#include <cnc/contract/ops.hpp>

// Sums and products in a given arithmetic (cnc/contract/arithmetic.hpp). They are compiled once, in a source of their own that
// is not contracted, and shared by all instruction sets.

namespace cnc::openmp {

template <class V>
struct CarefulSums {
  static void dot(const Queue& queue, index_t n, const V* x, const V* y, double* result);
  static void of_pass(const Queue& queue, PassName name, index_t n, const MethodVectors<V>& v,
                      MethodScalars* scalars);
};

template <class Operand, class V>
struct CarefulProduct {
  static void spmv(const Queue& queue, Arithmetic arithmetic, const Operand& A, const V* x, V* y);
};

}  // namespace cnc::openmp
