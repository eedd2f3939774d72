#include "vendor/kokkos_kernels.hpp"

#include "kokkos/availability.hpp"

#include <cnc/contract/error.hpp>

#include <KokkosBlas.hpp>
#include <KokkosSparse_CrsMatrix.hpp>
#include <KokkosSparse_spmv.hpp>
#include <Kokkos_Core.hpp>

// Every call wraps our operands in unmanaged views and hands them over: nothing is copied. The
// library runs on its default execution space; the queue's threads and scratch are not its concern.

namespace cnc {
namespace kokkos_kernels {

using Exec = Kokkos::DefaultHostExecutionSpace;
using Device = Kokkos::Device<Exec, Kokkos::HostSpace>;
using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;

template <class T>
using View = Kokkos::View<T*, Kokkos::LayoutLeft, Device, Unmanaged>;

template <class T>
View<T> view(T* data, index_t n) {
  return View<T>(data, static_cast<std::size_t>(n));
}

template <class V>
void axpy(const Queue&, index_t n, V alpha, const V* x, V* y) {
  KokkosBlas::axpy(alpha, view(x, n), view(y, n));
}

template <class V>
void axpby(const Queue&, index_t n, V alpha, const V* x, V beta, V* y) {
  KokkosBlas::axpby(alpha, view(x, n), beta, view(y, n));
}

template <class V>
void scal(const Queue&, index_t n, V alpha, V* x) {
  // With BLAS below it, scal turns 0 times NaN into NaN.
  if (alpha == V(0))
    KokkosBlas::fill(view(x, n), V(0));
  else
    KokkosBlas::scal(view(x, n), alpha, view(x, n));
}

template <class V>
void multiply(const Queue&, index_t n, const V* x, const V* y, V* z) {
  KokkosBlas::mult(V(0), view(z, n), V(1), view(x, n), view(y, n));
}

void dot(const Queue&, index_t n, const double* x, const double* y, double* result) {
  *result = KokkosBlas::dot(view(x, n), view(y, n));
}

void nrm2(const Queue&, index_t n, const double* x, double* result) {
  *result = KokkosBlas::nrm2(view(x, n));
}

template <class M>
using Matrix = KokkosSparse::CrsMatrix<const M, const index_t, Device, Unmanaged, const index_t>;

/// CSR alone: what CrsMatrix describes without a conversion. Larger blocks are refused.
template <class M, class V>
void spmv(const Queue&, V alpha, const BcsrOperand<M>& A, const V* x, V beta, V* y) {
  if (A.block_size != 1)
    throw UnsupportedOperation("backend 'kokkos-kernels' offers spmv for block size 1 only");
  const index_t nonzeros = A.rows == 0 ? 0 : A.row_offsets[A.rows];
  const Matrix<M> matrix("", A.rows, A.cols, nonzeros, view(A.values, nonzeros),
                         view(A.row_offsets, A.rows + 1), view(A.columns, nonzeros));
  KokkosSparse::spmv("N", alpha, matrix, view(x, A.cols), beta, view(y, A.rows));
}

template <class V>
constexpr VectorOps<V> vector_table() {
  VectorOps<V> table;
  table.axpy = axpy<V>;
  table.axpby = axpby<V>;
  table.scal = scal<V>;
  table.multiply = multiply<V>;
  // The library rounds the sum of a float reduction to float, the contract wants it in double.
  if constexpr (std::is_same_v<V, double>) {
    table.dot = dot;
    table.nrm2 = nrm2;
  }
  return table;
}

template <class M, class V>
constexpr MatrixTable<M, V> matrix_table() {
  MatrixTable<M, V> table;
  table.template of<BcsrOperand<M>>().spmv = spmv<M, V>;
  return table;
}

}  // namespace kokkos_kernels

constexpr Backend kokkos_kernels_backend = {
    .name = "kokkos-kernels",
    .description = "Kokkos Kernels: CSR SpMV and BLAS-1 of the library, to compare with",
    .memory = MemorySpace::host,
    .baseline = true,
    .variant = false,
    .availability = kokkos::availability<kokkos_kernels::Exec>,
    .threads = kokkos::threads<kokkos_kernels::Exec>,
    .vectors = for_vector_types([]<class V>() { return kokkos_kernels::vector_table<V>(); }),
    .matrices =
        for_precisions([]<class M, class V>() { return kokkos_kernels::matrix_table<M, V>(); }),
};

}  // namespace cnc
