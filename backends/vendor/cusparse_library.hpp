#pragma once

#include <cnc/contract/error.hpp>
#include <cnc/contract/operands.hpp>
#include <cnc/contract/queue.hpp>

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusparse.h>

#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

// What the cuSPARSE baselines keep between calls: a device's handles; and, in the plan of a matrix, its descriptors and
// the library's buffer.

namespace cnc::cusparse {

[[noreturn]] inline void fail(const char* operation, const std::string& code) {
  throw DeviceError(operation, "cusparse", code);
}

inline void check(cudaError_t code, const char* operation) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();  // the next operation is not to blame
  fail(operation, std::string(cudaGetErrorName(code)) + ": " + cudaGetErrorString(code));
}

inline void check(cublasStatus_t code, const char* operation) {
  if (code != CUBLAS_STATUS_SUCCESS) fail(operation, cublasGetStatusString(code));
}

/// What the library says that it does not offer, the backend does not offer.
inline void check(cusparseStatus_t code, const char* operation) {
  if (code == CUSPARSE_STATUS_NOT_SUPPORTED)
    throw UnsupportedOperation(std::string("backend 'cusparse': not supported by ") + operation);
  if (code != CUSPARSE_STATUS_SUCCESS) fail(operation, cusparseGetErrorString(code));
}

template <class T>
constexpr cudaDataType data_type = std::is_same_v<T, float> ? CUDA_R_32F : CUDA_R_64F;

/// What the library is told of a matrix.
struct Pattern {
  cusparseSpMVAlg_t algorithm;
  cudaDataType storage, vectors;
  index_t rows, cols;
  int edge;          ///< block size or slice height
  offset_t entries;  ///< blocks or slots
  const void* offsets;
  const void* columns;
  const void* values;
  const index_t* permutation = nullptr;
  bool operator==(const Pattern&) const = default;
};

/// Copies from the device once the stream's work is done.
template <class T>
std::vector<T> read(const void* from, std::size_t count, void* stream) {
  const auto native = static_cast<cudaStream_t>(stream);
  std::vector<T> values(count);
  check(cudaMemcpyAsync(values.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost, native),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(native), "cudaStreamSynchronize");
  return values;
}

/// The library's descriptors and buffer for y := alpha A x + beta y with one matrix.
class ProductPlan final : public MatrixPlan {
 public:
  ProductPlan(cusparseHandle_t handle, void* stream, const Pattern& pattern)
      : ProductPlan(pattern) {
    if (pattern.algorithm == CUSPARSE_SPMV_SELL_ALG1)
      describe_slices(stream);
    else if (pattern.algorithm == CUSPARSE_SPMV_BSR_ALG1)
      describe_blocks();
    else
      describe_rows();
    // Some aligned address, which is neither read nor written: the vectors are not known yet.
    constexpr std::uintptr_t alignment = alignof(double);
    void* const any = reinterpret_cast<void*>(
        (reinterpret_cast<std::uintptr_t>(pattern.values) + alignment - 1) / alignment * alignment);
    check(cusparseCreateDnVec(&x_, pattern.cols, any, pattern.vectors), "cusparseCreateDnVec");
    check(cusparseCreateDnVec(&y_, pattern.rows, any, pattern.vectors), "cusparseCreateDnVec");
    const float one_f32 = 1;
    const double one_f64 = 1;
    const void* one = &one_f64;
    if (pattern.vectors == CUDA_R_32F) one = &one_f32;
    std::size_t bytes = 0;
    check(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, one, matrix_, x_, one,
                                  y_, pattern.vectors, pattern.algorithm, &bytes),
          "cusparseSpMV_bufferSize");
    if (bytes > 0) check(cudaMalloc(&buffer_, bytes), "cudaMalloc");
    check(cusparseSpMV_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, one, matrix_, x_, one,
                                  y_, pattern.vectors, pattern.algorithm, buffer_),
          "cusparseSpMV_preprocess");
  }
  ~ProductPlan() override {
    if (matrix_ != nullptr) (void)cusparseDestroySpMat(matrix_);
    if (x_ != nullptr) (void)cusparseDestroyDnVec(x_);
    if (y_ != nullptr) (void)cusparseDestroyDnVec(y_);
    (void)cudaFree(buffer_);  // waits for kernels that still use it
    (void)cudaFree(slices_);
  }
  ProductPlan(const ProductPlan&) = delete;
  ProductPlan& operator=(const ProductPlan&) = delete;

  const Pattern& pattern() const { return pattern_; }

  /// Changes descriptors, so calls take turns.
  void run(cusparseHandle_t handle, const void* alpha, const void* x, const void* beta,
           void* y) const {
    check(cusparseDnVecSetValues(x_, const_cast<void*>(x)), "cusparseDnVecSetValues");
    check(cusparseDnVecSetValues(y_, y), "cusparseDnVecSetValues");
    check(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha, matrix_, x_, beta, y_,
                       pattern_.vectors, pattern_.algorithm, buffer_),
          "cusparseSpMV");
  }

 private:
  explicit ProductPlan(const Pattern& pattern) : pattern_(pattern) {}

  void describe_rows() {
    const Pattern& p = pattern_;
    check(cusparseCreateConstCsr(&matrix_, p.rows, p.cols, p.entries, p.offsets, p.columns,
                                 p.values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                 CUSPARSE_INDEX_BASE_ZERO, p.storage),
          "cusparseCreateConstCsr");
  }

  void describe_blocks() {
    const Pattern& p = pattern_;
    check(cusparseCreateConstBsr(&matrix_, p.rows / p.edge, p.cols / p.edge, p.entries, p.edge,
                                 p.edge, p.offsets, p.columns, p.values, CUSPARSE_INDEX_32I,
                                 CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, p.storage,
                                 CUSPARSE_ORDER_ROW),
          "cusparseCreateConstBsr");
  }

  /// The slice offsets are copied: the library wants the index type of the columns.
  void describe_slices(void* stream) {
    const Pattern& p = pattern_;
    if (p.entries > std::numeric_limits<index_t>::max())
      throw UnsupportedOperation("backend 'cusparse-sell' holds at most 2^31 - 1 slots");
    const auto permutation = read<index_t>(p.permutation, std::size_t(p.rows), stream);
    for (index_t row = 0; row < p.rows; ++row)
      if (permutation[std::size_t(row)] != row)
        throw UnsupportedOperation("backend 'cusparse-sell' takes rows in their own order only");
    const auto count = std::size_t(ceil_div(p.rows, p.edge)) + 1;
    const auto wide = read<offset_t>(p.offsets, count, stream);
    const std::vector<index_t> narrow(wide.begin(), wide.end());
    check(cudaMalloc(&slices_, count * sizeof(index_t)), "cudaMalloc");
    check(cudaMemcpyAsync(slices_, narrow.data(), count * sizeof(index_t), cudaMemcpyHostToDevice,
                          static_cast<cudaStream_t>(stream)),
          "cudaMemcpyAsync");
    check(cusparseCreateConstSlicedEll(&matrix_, p.rows, p.cols, p.entries, p.entries, p.edge,
                                       slices_, p.columns, p.values, CUSPARSE_INDEX_32I,
                                       CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, p.storage),
          "cusparseCreateConstSlicedEll");
  }

  Pattern pattern_;
  cusparseConstSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t x_ = nullptr;
  cusparseDnVecDescr_t y_ = nullptr;
  void* buffer_ = nullptr;
  void* slices_ = nullptr;
};

/// The handles of one device.
struct Library {
  cublasHandle_t blas = nullptr;
  cusparseHandle_t sparse = nullptr;
  void* stream = nullptr;

  Library() {
    check(cublasCreate(&blas), "cublasCreate");
    check(cusparseCreate(&sparse), "cusparseCreate");
  }

  void use_stream(void* other) {
    if (stream == other) return;
    check(cublasSetStream(blas, static_cast<cudaStream_t>(other)), "cublasSetStream");
    check(cusparseSetStream(sparse, static_cast<cudaStream_t>(other)), "cusparseSetStream");
    stream = other;
  }
};

/// Makes a device current for as long as it lives.
class DeviceScope {
 public:
  explicit DeviceScope(int device) : device_(device) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    if (before_ != device_) check(cudaSetDevice(device_), "cudaSetDevice");
  }
  ~DeviceScope() {
    if (before_ != device_) (void)cudaSetDevice(before_);
  }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int device_;
  int before_ = 0;
};

inline std::mutex turn;

/// One call into the library of the queue's device, on its stream. Calls take turns: each changes
/// handles and descriptors.
class Call {
 public:
  explicit Call(const Queue& queue)
      : lock_(turn), scope_(queue.device), library_(library(queue.device)) {
    library_.use_stream(queue.stream);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  Library* operator->() const { return &library_; }

  /// The BLAS handle, with scalars read from and results written to the host or the device.
  cublasHandle_t blas(cublasPointerMode_t scalars = CUBLAS_POINTER_MODE_HOST) const {
    check(cublasSetPointerMode(library_.blas, scalars), "cublasSetPointerMode");
    return library_.blas;
  }
  void set_to_zero(void* first, std::size_t bytes) const {
    check(cudaMemsetAsync(first, 0, bytes, static_cast<cudaStream_t>(library_.stream)),
          "cudaMemsetAsync");
  }

 private:
  /// Never destroyed: at the end of the process the driver may be gone before a destructor runs.
  static Library& library(int device) {
    static auto& libraries = *new std::map<int, Library>;
    return libraries[device];
  }

  std::lock_guard<std::mutex> lock_;
  DeviceScope scope_;
  Library& library_;
};

}  // namespace cnc::cusparse
