#pragma once

#include "kokkos/kokkos.hpp"

#include <cnc/contract/arithmetic.hpp>
#include <cnc/contract/pass_name.hpp>
#include <cnc/contract/precisions.hpp>

#include <Kokkos_Core.hpp>

// The operations of this backend, templated on the execution space. Each class is defined in the
// source file of its name in snake_case and instantiated there for the spaces below; kokkos.cpp
// enters the functions into the tables. What they compute is said in cnc/contract/ops.hpp. The passes of
// the methods, as many as there are methods, are in pass.hpp, and what works on several columns in columns.hpp: they take a
// device compiler minutes, and have a source for each type of vectors.

namespace cnc::kokkos {

using namespace methods;

using HostExec = Kokkos::DefaultHostExecutionSpace;
#ifdef CNC_KOKKOS_HAS_DEVICE
using DeviceExec = Kokkos::DefaultExecutionSpace;
#define CNC_IF_DEVICE(...) __VA_ARGS__
#else
#define CNC_IF_DEVICE(...)
#endif

/// Entry by entry, no reduction.
template <class Exec, class V>
struct Elementwise {
  static void axpy(const Queue& queue, index_t n, V alpha, const V* x, V* y);
  static void axpby(const Queue& queue, index_t n, V alpha, const V* x, V beta, V* y);
  static void scal(const Queue& queue, index_t n, V alpha, V* x);
  static void multiply(const Queue& queue, index_t n, const V* x, const V* y, V* z);
  static void normalize(const Queue& queue, index_t n, const V* x, const double* xx, V* y);
};

template <class Exec, class V>
struct Reductions {
  static void dot(const Queue& queue, index_t n, const V* x, const V* y, double* result);
  static void nrm2(const Queue& queue, index_t n, const V* x, double* result);
  static void mdot(const Queue& queue, index_t n, int count, const V* y, offset_t stride,
                   const V* x, double* result);
  static void maxpy(const Queue& queue, index_t n, int count, double scale, const double* c,
                    const V* y, offset_t stride, V* x, double* xx);
};

/// The passes of all methods.
template <class Exec, class V>
struct Passes {
  static void run(const Queue& queue, PassName name, index_t n, const PreconditionerOperand<V>& M,
                  const MethodVectors<V>& vectors, MethodScalars* scalars, PassPart part);
};

/// Everything with several columns but products.
template <class Exec, class V>
struct Columns {
  static void run_pass(const Queue& queue, PassName name, index_t n, int columns,
                       const PreconditionerOperand<V>& M, const MethodVectors<V>& vectors,
                       ColumnScalars* scalars, PassPart part);
  static void dot(const Queue& queue, index_t n, int columns, const V* x, const V* y,
                  double* result);
  static void precondition(const Queue& queue, index_t n, int columns,
                           const PreconditionerOperand<V>& M, const V* r, V* z);
};
template <class Exec, class Operand, class V>
struct ColumnProduct {
  static void spmm(const Queue& queue, int columns, V alpha, const Operand& A, const V* x, V beta,
                   V* y, const ColumnDots<V>& dots);
};

/// In compensated sums; of_pass is named as in for_summing_pass.
template <class Exec, class V>
struct CarefulSums {
  static void dot(const Queue& queue, index_t n, const V* x, const V* y, double* result);
  static void of_pass(const Queue& queue, PassName name, index_t n, const MethodVectors<V>& v,
                      MethodScalars* scalars);
};
/// In a given arithmetic. Both are defined in careful.cpp.
template <class Exec, class Operand, class V>
struct CarefulProduct {
  static void spmv(const Queue& queue, Arithmetic arithmetic, const Operand& A, const V* x, V* y);
};

template <class Exec, class V>
struct Precondition {
  static void apply(const Queue& queue, index_t n, const PreconditionerOperand<V>& M, const V* r,
                    V* z);
};

/// What is done with the product of a row: y := alpha A x + beta y
template <class V>
struct StoreProduct {
  V alpha, beta;
  V* y;
  KOKKOS_INLINE_FUNCTION void operator()(index_t row, V product) const {
    y[row] = beta == V(0) ? alpha * product : alpha * product + beta * y[row];
  }
};
/// The same: a step of a relaxation.
template <class V>
struct StoreRelaxed {
  RelaxationStep<V> step;
  const V* x;
  V* y;
  KOKKOS_INLINE_FUNCTION void operator()(index_t row, V product) const {
    y[row] = step(row, product, x, y);
  }
};

/// The products of one format, which each source of a format defines.
template <class Exec, class Operand, class V>
struct Spmv;
template <class Exec, class M, class V>
struct Spmv<Exec, BcsrOperand<M>, V> {
  static void spmv(const Queue& queue, V alpha, const BcsrOperand<M>& A, const V* x, V beta, V* y);
  static void relax(const Queue& queue, const BcsrOperand<M>& A, const RelaxationStep<V>& step,
                    const V* x, V* y);
  static void spmv_dot(const Queue& queue, const BcsrOperand<M>& A, const V* x, V* y,
                       const ProductDots<V>& dots);
};
template <class Exec, class M, class V>
struct Spmv<Exec, BsellOperand<M>, V> {
  static void spmv(const Queue& queue, V alpha, const BsellOperand<M>& A, const V* x, V beta, V* y);
  static void relax(const Queue& queue, const BsellOperand<M>& A, const RelaxationStep<V>& step,
                    const V* x, V* y);
  static void spmv_dot(const Queue& queue, const BsellOperand<M>& A, const V* x, V* y,
                       const ProductDots<V>& dots);
};
template <class Exec, class M, class V>
struct Spmv<Exec, DiaOperand<M>, V> {
  static void spmv(const Queue& queue, V alpha, const DiaOperand<M>& A, const V* x, V beta, V* y);
  static void relax(const Queue& queue, const DiaOperand<M>& A, const RelaxationStep<V>& step,
                    const V* x, V* y);
  static void spmv_dot(const Queue& queue, const DiaOperand<M>& A, const V* x, V* y,
                       const ProductDots<V>& dots);
};

}  // namespace cnc::kokkos
