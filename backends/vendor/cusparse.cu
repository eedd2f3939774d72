#include "vendor/cusparse.hpp"

#include "vendor/cusparse_library.hpp"

#include <memory>
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

/// One of the library's products with one of its formats.
template <cusparseSpMVAlg_t algorithm, class Operand, class V>
struct Product;

template <cusparseSpMVAlg_t algorithm, class M, class V>
struct Product<algorithm, BcsrOperand<M>, V> {
  static constexpr bool blocks = algorithm == CUSPARSE_SPMV_BSR_ALG1;

  static Pattern pattern(const BcsrOperand<M>& A) {
    if (!blocks && A.block_size != 1)
      throw UnsupportedOperation("backend 'cusparse' offers spmv for block size 1 only");
    if (blocks && (A.block_size == 1 || A.rows % A.block_size != 0 || A.cols % A.block_size != 0))
      throw UnsupportedOperation(
          "backend 'cusparse-bsr' offers spmv for block sizes above 1 that divide rows and "
          "columns");
    return {algorithm,    data_type<M>, data_type<V>,  A.rows,    A.cols,
            A.block_size, A.blocks,     A.row_offsets, A.columns, A.values};
  }
};

template <class M, class V>
struct Product<CUSPARSE_SPMV_SELL_ALG1, BsellOperand<M>, V> {
  static Pattern pattern(const BsellOperand<M>& A) {
    if (A.block_size != 1)
      throw UnsupportedOperation("backend 'cusparse-sell' offers spmv for block size 1 only");
    return {CUSPARSE_SPMV_SELL_ALG1, data_type<M>, data_type<V>,    A.rows,    A.cols,
            A.slice_height,          A.slots,      A.slice_offsets, A.columns, A.values,
            A.row_permutation};
  }
};

template <cusparseSpMVAlg_t algorithm, class Operand, class V>
std::unique_ptr<MatrixPlan> plan(const Queue& queue, const Operand& A) {
  const Pattern pattern = Product<algorithm, Operand, V>::pattern(A);
  if (pattern.rows == 0 || pattern.entries == 0) return nullptr;
  const Call call(queue);
  return std::make_unique<ProductPlan>(call->sparse, queue.stream, pattern);
}

template <cusparseSpMVAlg_t algorithm, class Operand, class V>
void spmv(const Queue& queue, V alpha, const Operand& A, const V* x, V beta, V* y) {
  const Pattern pattern = Product<algorithm, Operand, V>::pattern(A);
  if (pattern.rows == 0) return;
  const Call call(queue);
  if (pattern.entries == 0) return scale(call, pattern.rows, beta, y);
  const auto* const planned = dynamic_cast<const ProductPlan*>(A.plan);
  if (planned == nullptr || planned->pattern() != pattern)
    throw InvalidArgument("backend 'cusparse': a product needs the plan of its matrix (plan_spmv)");
  planned->run(call->sparse, &alpha, x, &beta, y);
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
  using Operand =
      std::conditional_t<algorithm == CUSPARSE_SPMV_SELL_ALG1, BsellOperand<M>, BcsrOperand<M>>;
  MatrixTable<M, V> table;
  auto& ops = table.template of<Operand>();
  ops.spmv = spmv<algorithm, Operand, V>;
  ops.plan = plan<algorithm, Operand, V>;
  return table;
}

template <cusparseSpMVAlg_t algorithm>
constexpr Backend backend(const char* name, const char* description) {
  return {
      .name = name,
      .description = description,
      .memory = MemorySpace::device,
      .baseline = true,
      .variant = false,
      .availability = availability,
      .vectors = for_vector_types([&]<class V>() { return vector_table<V>(); }),
      .matrices =
          for_precisions([&]<class M, class V>() { return matrix_table<algorithm, M, V>(); }),
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
