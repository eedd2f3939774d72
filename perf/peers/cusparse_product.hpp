#pragma once

#include "peers/cusparse_solvers.hpp"

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusparse.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// What the iterations need of the libraries: owners of what they create, a clock, and the ways to
// multiply by a matrix.

namespace cnc::perf::cusparse_peer {

inline void check(cudaError_t code) {
  if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}
inline void check(cublasStatus_t code) {
  if (code != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(code));
}
inline void check(cusparseStatus_t code) {
  if (code != CUSPARSE_STATUS_SUCCESS) throw std::runtime_error(cusparseGetErrorString(code));
}

/// A C library's handle; `destroy` returns a status that is of no use any more.
template <auto destroy>
struct Destroy {
  template <class T>
  void operator()(T* handle) const {
    (void)destroy(handle);
  }
};
template <class Handle, auto destroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy<destroy>>;

template <class T>
class Array {
 public:
  explicit Array(std::size_t count) {
    void* memory = nullptr;
    if (count > 0) check(cudaMalloc(&memory, count * sizeof(T)));
    memory_.reset(memory);
  }
  explicit Array(const std::vector<T>& values) : Array(values.size()) {
    check(cudaMemcpy(data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  T* data() const { return static_cast<T*>(memory_.get()); }
  operator T*() const { return data(); }

 private:
  std::unique_ptr<void, Destroy<cudaFree>> memory_;
};

template <class T>
std::vector<T> read(const T* from, std::size_t count) {
  std::vector<T> values(count);
  check(cudaMemcpy(values.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

/// Seconds that the stream spends between two marks.
class Timer {
 public:
  explicit Timer(cudaStream_t stream) : stream_(stream) {
    for (auto* mark : {&start_, &stop_}) {
      cudaEvent_t event = nullptr;
      check(cudaEventCreate(&event));
      mark->reset(event);
    }
    check(cudaEventRecord(start_.get(), stream_));
  }
  double seconds() {
    float milliseconds = 0;
    check(cudaEventRecord(stop_.get(), stream_));
    check(cudaEventSynchronize(stop_.get()));
    check(cudaEventElapsedTime(&milliseconds, start_.get(), stop_.get()));
    return 1e-3 * milliseconds;
  }

 private:
  cudaStream_t stream_;
  Owned<cudaEvent_t, cudaEventDestroy> start_, stop_;
};

template <class V>
constexpr cudaDataType data_type = std::is_same_v<V, float> ? CUDA_R_32F : CUDA_R_64F;

/// A product of the library with one matrix. The arrays are those of sliced ELL, else empty.
template <class V>
struct Product {
  std::string name;
  cusparseSpMVAlg_t algorithm = CUSPARSE_SPMV_ALG_DEFAULT;
  Array<int> slice_offsets{0};
  Array<int> columns{0};
  Array<V> values{0};
  Owned<cusparseConstSpMatDescr_t, cusparseDestroySpMat> matrix = {};
  Array<char> buffer{0};
  double seconds = 0;
};

template <class V>
Product<V> csr(const DeviceSystem<V>& A, std::string name, cusparseSpMVAlg_t algorithm) {
  cusparseConstSpMatDescr_t matrix = nullptr;
  check(cusparseCreateConstCsr(&matrix, A.n, A.n, A.nonzeros, A.row_offsets, A.columns, A.values,
                               CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                               data_type<V>));
  Product<V> product{.name = std::move(name), .algorithm = algorithm};
  product.matrix.reset(matrix);
  return product;
}

/// Adds sliced ELL: column by column within a slice, padded with column -1. Left out when padding
/// doubles the matrix, for then it loses.
template <class V>
void add_sliced_ell(const DeviceSystem<V>& A, std::vector<Product<V>>& products) {
  constexpr int height = 32;
  const auto rows = read(A.row_offsets, std::size_t(A.n) + 1);
  std::vector<int> offsets = {0};
  const std::size_t most =
      std::min<std::size_t>(2 * std::size_t(A.nonzeros) + 1024, std::numeric_limits<int>::max());
  for (int first = 0; first < A.n; first += height) {
    int width = 0;
    for (int row = first; row < std::min(first + height, A.n); ++row)
      width = std::max(width, rows[row + 1] - rows[row]);
    const std::size_t end = std::size_t(offsets.back()) + std::size_t(width) * height;
    if (end > most) return;
    offsets.push_back(int(end));
  }
  const auto csr_columns = read(A.columns, std::size_t(A.nonzeros));
  const auto csr_values = read(A.values, std::size_t(A.nonzeros));
  std::vector<int> columns(std::size_t(offsets.back()), -1);
  std::vector<V> values(columns.size(), V(0));
  for (int row = 0; row < A.n; ++row)
    for (int k = rows[row]; k < rows[row + 1]; ++k) {
      const std::size_t slot =
          std::size_t(offsets[row / height]) + row % height + std::size_t(k - rows[row]) * height;
      columns[slot] = csr_columns[k];
      values[slot] = csr_values[k];
    }
  Product<V> product{.name = "sell",
                     .algorithm = CUSPARSE_SPMV_SELL_ALG1,
                     .slice_offsets = Array<int>(offsets),
                     .columns = Array<int>(columns),
                     .values = Array<V>(values)};
  cusparseConstSpMatDescr_t matrix = nullptr;
  check(cusparseCreateConstSlicedEll(&matrix, A.n, A.n, A.nonzeros, std::int64_t(columns.size()),
                                     height, product.slice_offsets.data(), product.columns.data(),
                                     product.values.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                     CUSPARSE_INDEX_BASE_ZERO, data_type<V>));
  product.matrix.reset(matrix);
  products.push_back(std::move(product));
}

}  // namespace cnc::perf::cusparse_peer
