#include "peers/gemm.hpp"

#include <cblas.h>

#include <memory>
#include <type_traits>

namespace cnc::perf {

template <class V>
GemmPeer<V> cblas_gemm() {
  const auto prepare = [](int n) -> std::function<V()> {
    const auto size = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    const auto a = std::make_shared<std::vector<V>>(size, V(1));
    const auto b = std::make_shared<std::vector<V>>(size, V(1));
    const auto c = std::make_shared<std::vector<V>>(size, V(0));
    return [=] {
      if constexpr (std::is_same_v<V, float>)
        cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a->data(), n, b->data(),
                    n, 0, c->data(), n);
      else
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a->data(), n, b->data(),
                    n, 0, c->data(), n);
      return c->front();
    };
  };
  return {"cblas of " CNC_PERF_CBLAS, false, prepare};
}

template GemmPeer<float> cblas_gemm();
template GemmPeer<double> cblas_gemm();

}  // namespace cnc::perf
