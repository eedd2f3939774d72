#include "peers/cusparse_iteration.hpp"
#include "peers/gemm.hpp"

namespace cnc::perf {
namespace {

/// The matrices on the device, and what multiplies them.
template <class V>
class Multiplication {
 public:
  explicit Multiplication(int n)
      : n_(n), a_(ones(n)), b_(ones(n)), c_(std::size_t(n) * std::size_t(n)) {
    cublasHandle_t blas = nullptr;
    cusparse_peer::check(cublasCreate(&blas));
    blas_.reset(blas);
  }

  V run() {
    const V one = 1, zero = 0;
    cusparse_peer::check(cusparse_peer::pick<V>(cublasSgemm, cublasDgemm)(
        blas_.get(), CUBLAS_OP_N, CUBLAS_OP_N, n_, n_, n_, &one, a_.data(), n_, b_.data(), n_,
        &zero, c_.data(), n_));
    return cusparse_peer::read(c_.data(), 1).front();
  }

 private:
  static std::vector<V> ones(int n) {
    return std::vector<V>(std::size_t(n) * std::size_t(n), V(1));
  }

  int n_;
  cusparse_peer::Array<V> a_, b_, c_;
  cusparse_peer::Owned<cublasHandle_t, cublasDestroy> blas_;
};

}  // namespace

template <class V>
GemmPeer<V> cublas_gemm() {
  return {"cuBLAS", true, [](int n) -> std::function<V()> {
            return [product = std::make_shared<Multiplication<V>>(n)] { return product->run(); };
          }};
}

template GemmPeer<float> cublas_gemm();
template GemmPeer<double> cublas_gemm();

}  // namespace cnc::perf
