#include "vendor/cusparse.hpp"

#include "vendor/cusparse_library.hpp"

#include <string>
#include <type_traits>

namespace cnc {
namespace cusparse {
namespace {

// --- vector operations ----------------------------------------------------------------------------

/// The function for V of the two that cuBLAS has.
template <class V, class F32, class F64>
constexpr auto pick(F32* f32, F64* f64) {
  if constexpr (std::is_same_v<V, float>)
    return f32;
  else
    return f64;
}

template <class V>
void scale(const Call& call, index_t n, V alpha, V* x) {
  if (alpha == V(0))
    call.set_to_zero(x, std::size_t(n) * sizeof(V));
  else if (alpha != V(1))
    check(pick<V>(cublasSscal, cublasDscal)(call.blas(), n, &alpha, x, 1), "cublasScal");
}

template <class V>
void add(const Call& call, index_t n, V alpha, const V* x, V* y) {
  check(pick<V>(cublasSaxpy, cublasDaxpy)(call.blas(), n, &alpha, x, 1, y, 1), "cublasAxpy");
}

template <class V>
void axpy(const Queue& queue, index_t n, V alpha, const V* x, V* y) {
  if (n > 0) add(Call(queue), n, alpha, x, y);
}

/// Two calls: the library has no axpby for dense vectors.
template <class V>
void axpby(const Queue& queue, index_t n, V alpha, const V* x, V beta, V* y) {
  if (n == 0) return;
  const Call call(queue);
  if (beta == V(0)) {
    check(pick<V>(cublasScopy, cublasDcopy)(call.blas(), n, x, 1, y, 1), "cublasCopy");
    scale(call, n, alpha, y);
  } else {
    scale(call, n, beta, y);
    add(call, n, alpha, x, y);
  }
}

template <class V>
void scal(const Queue& queue, index_t n, V alpha, V* x) {
  if (n > 0) scale(Call(queue), n, alpha, x);
}

/// A product of a diagonal matrix and a matrix of one column, which may be done in place.
template <class V>
void multiply(const Queue& queue, index_t n, const V* x, const V* y, V* z) {
  if (n == 0) return;
  const V* column = z == y ? y : x;
  const V* diagonal = z == y ? x : y;
  check(pick<V>(cublasSdgmm, cublasDdgmm)(Call(queue).blas(), CUBLAS_SIDE_LEFT, n, 1, column, n,
                                          diagonal, 1, z, n),
        "cublasDgmm");
}

void dot(const Queue& queue, index_t n, const double* x, const double* y, double* result) {
  const Call call(queue);
  if (n == 0) return call.set_to_zero(result, sizeof(double));
  check(cublasDdot(call.blas(CUBLAS_POINTER_MODE_DEVICE), n, x, 1, y, 1, result), "cublasDdot");
}

void nrm2(const Queue& queue, index_t n, const double* x, double* result) {
  const Call call(queue);
  if (n == 0) return call.set_to_zero(result, sizeof(double));
  check(cublasDnrm2(call.blas(CUBLAS_POINTER_MODE_DEVICE), n, x, 1, result), "cublasDnrm2");
}

// --- matrix operations ----------------------------------------------------------------------------

template <class V>
void multiply_add(const Queue& queue, const Pattern& pattern, V alpha, const V* x, V beta, V* y) {
  if (pattern.rows == 0) return;
  const Call call(queue);
  if (pattern.entries == 0) return scale(call, pattern.rows, beta, y);
  call->product(pattern, x, y).run(call->sparse, &alpha, x, &beta, y);
}

template <class M, class V>
Pattern pattern_of(cusparseSpMVAlg_t algorithm, const BcsrOperand<M>& A) {
  return {algorithm,    data_type<M>, data_type<V>,  A.rows,    A.cols,
          A.block_size, A.blocks,     A.row_offsets, A.columns, A.values};
}

template <cusparseSpMVAlg_t algorithm, class M, class V>
void csr_spmv(const Queue& queue, V alpha, const BcsrOperand<M>& A, const V* x, V beta, V* y) {
  if (A.block_size != 1)
    throw UnsupportedOperation("backend 'cusparse' offers spmv for block size 1 only");
  multiply_add(queue, pattern_of<M, V>(algorithm, A), alpha, x, beta, y);
}

template <class M, class V>
void bsr_spmv(const Queue& queue, V alpha, const BcsrOperand<M>& A, const V* x, V beta, V* y) {
  if (A.block_size == 1 || A.rows % A.block_size != 0 || A.cols % A.block_size != 0)
    throw UnsupportedOperation(
        "backend 'cusparse-bsr' offers spmv for block sizes above 1 that divide rows and columns");
  multiply_add(queue, pattern_of<M, V>(CUSPARSE_SPMV_BSR_ALG1, A), alpha, x, beta, y);
}

template <class M, class V>
void sell_spmv(const Queue& queue, V alpha, const BsellOperand<M>& A, const V* x, V beta, V* y) {
  if (A.block_size != 1)
    throw UnsupportedOperation("backend 'cusparse-sell' offers spmv for block size 1 only");
  const Pattern pattern = {
      CUSPARSE_SPMV_SELL_ALG1, data_type<M>, data_type<V>,    A.rows,    A.cols,
      A.slice_height,          A.slots,      A.slice_offsets, A.columns, A.values,
      A.row_permutation};
  multiply_add(queue, pattern, alpha, x, beta, y);
}

// --- tables ---------------------------------------------------------------------------------------

Availability availability() {
  int driver = 0, devices = 0, device = 0;
  cudaDeviceProp properties;
  cudaError_t code = cudaDriverGetVersion(&driver);
  if (code == cudaSuccess && driver == 0) return {false, "no NVIDIA driver found"};
  if (code == cudaSuccess) code = cudaGetDeviceCount(&devices);
  if (code == cudaSuccess) code = cudaGetDevice(&device);
  if (code == cudaSuccess) code = cudaGetDeviceProperties(&properties, device);
  (void)cudaGetLastError();  // the next operation is not to blame
  if (code != cudaSuccess) return {false, cudaGetErrorString(code)};
  int major = 0, minor = 0;
  (void)cusparseGetProperty(MAJOR_VERSION, &major);
  (void)cusparseGetProperty(MINOR_VERSION, &minor);
  return {true, std::string(properties.name) + ", cuSPARSE " + std::to_string(major) + "." +
                    std::to_string(minor)};
}

template <class V>
constexpr VectorOps<V> vector_table() {
  VectorOps<V> table;
  table.axpy = axpy<V>;
  table.axpby = axpby<V>;
  table.scal = scal<V>;
  table.multiply = multiply<V>;
  if constexpr (std::is_same_v<V, double>) {
    table.dot = dot;
    table.nrm2 = nrm2;
  }
  return table;
}

template <cusparseSpMVAlg_t algorithm, class M, class V>
constexpr MatrixTable<M, V> matrix_table() {
  MatrixTable<M, V> table;
  if constexpr (algorithm == CUSPARSE_SPMV_SELL_ALG1)
    table.bsell.spmv = sell_spmv<M, V>;
  else if constexpr (algorithm == CUSPARSE_SPMV_BSR_ALG1)
    table.bcsr.spmv = bsr_spmv<M, V>;
  else
    table.bcsr.spmv = csr_spmv<algorithm, M, V>;
  return table;
}

template <cusparseSpMVAlg_t algorithm>
constexpr Backend backend(const char* name, const char* description) {
  return {
      .name = name,
      .description = description,
      .memory = MemorySpace::device,
      .yardstick = true,
      .variant = false,
      .availability = availability,
      .vector_f32 = vector_table<float>(),
      .vector_f64 = vector_table<double>(),
      .matrix_f32 = matrix_table<algorithm, float, float>(),
      .matrix_f64 = matrix_table<algorithm, double, double>(),
      .matrix_f32_f64 = matrix_table<algorithm, float, double>(),
  };
}

}  // namespace
}  // namespace cusparse

constexpr Backend cusparse_backend = cusparse::backend<CUSPARSE_SPMV_CSR_ALG1>(
    "cusparse", "cuSPARSE: CSR SpMV (algorithm 1) over cuBLAS, to compare with");
constexpr Backend cusparse_alg2_backend = cusparse::backend<CUSPARSE_SPMV_CSR_ALG2>(
    "cusparse-alg2", "cuSPARSE: CSR SpMV (algorithm 2) over cuBLAS, to compare with");
constexpr Backend cusparse_sell_backend = cusparse::backend<CUSPARSE_SPMV_SELL_ALG1>(
    "cusparse-sell", "cuSPARSE: sliced ELL SpMV over cuBLAS, to compare with");
constexpr Backend cusparse_bsr_backend = cusparse::backend<CUSPARSE_SPMV_BSR_ALG1>(
    "cusparse-bsr", "cuSPARSE: BSR SpMV over cuBLAS, to compare with");

}  // namespace cnc
