#pragma once

#include "peers/cusparse_product.hpp"

// What the iterations on cuSPARSE and cuBLAS share: handles, the fastest product, operations on
// vectors and scalars, and how a solve is timed and checked.

namespace cnc::perf::cusparse_peer {

/// z := d .* r
template <class V>
__global__ void scale_by(int n, const V* d, const V* r, V* z) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) z[i] = d[i] * r[i];
}

/// q[0] := a / b c / d, q[1] := -q[0]
template <class V>
__host__ __device__ void quotient(const V* a, const V* b, const V* c, const V* d, V* q) {
  q[0] = *a / *b * (*c / *d);
  q[1] = -q[0];
}
template <class V>
__global__ void quotient_on_device(const V* a, const V* b, const V* c, const V* d, V* q) {
  quotient(a, b, c, d, q);
}

/// The function for V of the two that cuBLAS has.
template <class V, class F32, class F64>
constexpr auto pick(F32* f32, F64* f64) {
  if constexpr (std::is_same_v<V, float>)
    return f32;
  else
    return f64;
}

template <class V>
class Iteration {
 public:
  virtual ~Iteration() = default;

  /// Exactly `iterations` iterations from x = 0.
  Outcome run(const V* b, V* x, int iterations) {
    check(cudaMemsetAsync(x, 0, n() * sizeof(V), stream_.get()));
    read_scalars_on(where_);
    start(b);
    Timer timer(stream_.get());
    iterate(b, x, iterations);
    const double seconds = timer.seconds();
    return {seconds / std::max(iterations, 1), residual(b, x)};
  }
  /// Loads what is loaded on first use.
  void warm_up() { (void)run(A_.inverse_diagonal, Array<V>(n()), 2); }

  const std::vector<std::pair<std::string, double>>& products() const { return times_; }

 protected:
  Iteration(const DeviceSystem<V>& system, Scalars where, int scalar_count)
      : A_(system),
        where_(where),
        r_(n()),
        z_(n()),
        host_scalars_(std::size_t(scalar_count), V(0)),
        device_scalars_(host_scalars_) {
    cudaStream_t stream = nullptr;
    check(cudaStreamCreate(&stream));
    stream_.reset(stream);
    cublasHandle_t blas = nullptr;
    check(cublasCreate(&blas));
    blas_.reset(blas);
    check(cublasSetStream(blas, stream));
    cusparseHandle_t sparse = nullptr;
    check(cusparseCreate(&sparse));
    sparse_.reset(sparse);
    check(cusparseSetStream(sparse, stream));
    for (auto [vector, data] : {std::pair(&from_, r_.data()), std::pair(&to_, z_.data())}) {
      cusparseDnVecDescr_t descriptor = nullptr;
      check(cusparseCreateDnVec(&descriptor, A_.n, data, data_type<V>));
      vector->reset(descriptor);
    }
    choose_product();
  }

  /// What an iteration begins with, for x = 0.
  virtual void start(const V* b) = 0;
  virtual void iterate(const V* b, V* x, int iterations) = 0;

  std::size_t n() const { return std::size_t(A_.n); }
  cudaStream_t stream() const { return stream_.get(); }

  // --- scalars, where cuBLAS reads and writes them ---

  V* scalar(int k) {
    return (where_ == Scalars::host ? host_scalars_.data() : device_scalars_) + k;
  }
  void set_scalar(int k, V value) {
    host_scalars_[std::size_t(k)] = value;
    if (where_ == Scalars::device)
      check(cudaMemcpy(device_scalars_ + k, &value, sizeof(V), cudaMemcpyHostToDevice));
  }
  /// q[0] := a / b c / d, q[1] := -q[0]
  void divide(const V* a, const V* b, const V* c, const V* d, V* q) {
    if (where_ == Scalars::host) return quotient(a, b, c, d, q);
    quotient_on_device<<<1, 1, 0, stream()>>>(a, b, c, d, q);
    check(cudaGetLastError());
  }

  // --- vectors ---

  /// y := alpha A x + beta y
  void multiply(V alpha, const V* x, V beta, V* y) { multiply(product_, alpha, x, beta, y); }
  void precondition(const V* from, V* to) {
    constexpr int threads = 256;
    scale_by<<<(A_.n - 1) / threads + 1, threads, 0, stream()>>>(A_.n, A_.inverse_diagonal, from,
                                                                 to);
    check(cudaGetLastError());
  }
  void dot(const V* a, const V* b, V* result) {
    check(pick<V>(cublasSdot, cublasDdot)(blas_.get(), A_.n, a, 1, b, 1, result));
  }
  void nrm2(const V* a, V* result) {
    check(pick<V>(cublasSnrm2, cublasDnrm2)(blas_.get(), A_.n, a, 1, result));
  }
  void axpy(const V* alpha, const V* a, V* b) {
    check(pick<V>(cublasSaxpy, cublasDaxpy)(blas_.get(), A_.n, alpha, a, 1, b, 1));
  }
  void scal(const V* alpha, V* a) {
    check(pick<V>(cublasSscal, cublasDscal)(blas_.get(), A_.n, alpha, a, 1));
  }
  /// y := alpha op(B) x + beta y, where the `count` columns of B are `stride` apart.
  void gemv(cublasOperation_t op, int count, const V* alpha, const V* B, int stride, const V* x,
            const V* beta, V* y) {
    check(pick<V>(cublasSgemv, cublasDgemv)(blas_.get(), op, A_.n, count, alpha, B, stride, x, 1,
                                            beta, y, 1));
  }
  void copy(const V* from, V* to) {
    check(cudaMemcpyAsync(to, from, n() * sizeof(V), cudaMemcpyDeviceToDevice, stream()));
  }

 private:
  void read_scalars_on(Scalars where) {
    check(cublasSetPointerMode(blas_.get(), where == Scalars::host ? CUBLAS_POINTER_MODE_HOST
                                                                   : CUBLAS_POINTER_MODE_DEVICE));
  }

  double residual(const V* b, const V* x) {
    copy(b, r_);
    multiply(V(-1), x, V(1), r_);
    read_scalars_on(Scalars::host);
    V norm = 0;
    nrm2(r_, &norm);
    return double(norm);
  }

  /// The fastest of what the library has, by its time on this matrix.
  void choose_product() {
    std::vector<Product<V>> products;
    products.push_back(csr(A_, "csr-alg1", CUSPARSE_SPMV_CSR_ALG1));
    products.push_back(csr(A_, "csr-alg2", CUSPARSE_SPMV_CSR_ALG2));
    add_sliced_ell(A_, products);
    copy(A_.inverse_diagonal, r_);
    for (Product<V>& product : products) {
      prepare(product);
      const auto repeat = [&](int times) {
        Timer timer(stream());
        for (int i = 0; i < times; ++i) multiply(product, V(1), r_, V(0), z_);
        return timer.seconds() / times;
      };
      (void)repeat(5);
      product.seconds = std::min({repeat(20), repeat(20), repeat(20)});
    }
    std::sort(products.begin(), products.end(),
              [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
    for (const Product<V>& product : products) times_.emplace_back(product.name, product.seconds);
    product_ = std::move(products.front());
  }

  void prepare(Product<V>& product) {
    const V one = 1, zero = 0;
    std::size_t bytes = 0;
    check(cusparseSpMV_bufferSize(sparse_.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
                                  product.matrix.get(), from_.get(), &zero, to_.get(), data_type<V>,
                                  product.algorithm, &bytes));
    product.buffer = Array<char>(bytes);
    check(cusparseSpMV_preprocess(sparse_.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
                                  product.matrix.get(), from_.get(), &zero, to_.get(), data_type<V>,
                                  product.algorithm, product.buffer.data()));
  }

  void multiply(const Product<V>& product, V alpha, const V* x, V beta, V* y) {
    check(cusparseDnVecSetValues(from_.get(), const_cast<V*>(x)));
    check(cusparseDnVecSetValues(to_.get(), y));
    check(cusparseSpMV(sparse_.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha,
                       product.matrix.get(), from_.get(), &beta, to_.get(), data_type<V>,
                       product.algorithm, product.buffer.data()));
  }

  DeviceSystem<V> A_;
  Scalars where_;
  Owned<cudaStream_t, cudaStreamDestroy> stream_;
  Owned<cublasHandle_t, cublasDestroy> blas_;
  Owned<cusparseHandle_t, cusparseDestroy> sparse_;

 protected:
  Array<V> r_, z_;  ///< the residual, and a vector for what is preconditioned

 private:
  std::vector<V> host_scalars_;
  Array<V> device_scalars_;
  Owned<cusparseDnVecDescr_t, cusparseDestroyDnVec> from_, to_;
  Product<V> product_;
  std::vector<std::pair<std::string, double>> times_;
};

/// A peer of what iterates, ready to run.
template <class V>
Solver<V> ready(const std::shared_ptr<Iteration<V>>& iteration, Scalars scalars) {
  iteration->warm_up();
  return {"cuSPARSE " + iteration->products().front().first + " + cuBLAS, scalars on the " +
              (scalars == Scalars::host ? "host" : "device"),
          iteration->products(),
          [iteration](const V* b, V* x, int count) { return iteration->run(b, x, count); }};
}

}  // namespace cnc::perf::cusparse_peer
