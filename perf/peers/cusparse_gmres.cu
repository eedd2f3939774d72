#include "peers/cusparse_iteration.hpp"

#include <cmath>

namespace cnc::perf::cusparse_peer {
namespace {

constexpr int rows_of_h = gmres_restart + 1;

/// y that makes || beta e_1 - H y || least; H by columns of rows_of_h, `steps` of them.
std::vector<double> least_squares(std::vector<double> H, double beta, int steps) {
  const auto at = [&](int row, int column) -> double& {
    return H[std::size_t(column * rows_of_h + row)];
  };
  std::vector<double> g(rows_of_h, 0.0), cosines, sines;
  g[0] = beta;
  for (int j = 0; j < steps; ++j) {
    const auto turn = [&](int k, double& above, double& below) {
      const double kept = above;
      above = cosines[k] * kept + sines[k] * below;
      below = -sines[k] * kept + cosines[k] * below;
    };
    for (int k = 0; k < j; ++k) turn(k, at(k, j), at(k + 1, j));
    const double length = std::hypot(at(j, j), at(j + 1, j));
    cosines.push_back(at(j, j) / length);
    sines.push_back(at(j + 1, j) / length);
    turn(j, at(j, j), at(j + 1, j));
    turn(j, g[j], g[j + 1]);
  }
  for (int k = steps - 1; k >= 0; --k) {
    for (int i = k + 1; i < steps; ++i) g[k] -= at(k, i) * g[i];
    g[k] /= at(k, k);
  }
  g.resize(std::size_t(steps));
  return g;
}

/// Preconditioned from the right. A cycle is enqueued as a whole: the host waits once, at its end.
template <class V>
class Gmres : public Iteration<V> {
  enum { zero, one, minus_one, inverse, minus_inverse, count };

 public:
  explicit Gmres(const DeviceSystem<V>& system)
      : Iteration<V>(system, Scalars::device, count),
        stride_((system.n + 31) / 32 * 32),
        basis_(std::size_t(stride_) * rows_of_h),
        H_(std::size_t(rows_of_h) * gmres_restart + 1),
        y_(gmres_restart) {
    this->set_scalar(one, V(1));
    this->set_scalar(minus_one, V(-1));
  }

 private:
  using Iteration<V>::r_, Iteration<V>::z_;

  V* v(int j) const { return basis_ + std::size_t(stride_) * j; }
  /// Column j of H, and behind the last one the norm of the residual.
  V* h(int j) const { return H_ + rows_of_h * j; }
  V* beta() const { return h(gmres_restart); }

  void start(const V* b) override {
    this->copy(b, r_);
    begin_cycle();
  }

  void iterate(const V* b, V* x, int iterations) override {
    for (int done = 0; done < iterations; done += gmres_restart) {
      const int steps = std::min(gmres_restart, iterations - done);
      for (int j = 0; j < steps; ++j) step(j);
      add_correction(steps, x);
      this->copy(b, r_);
      this->multiply(V(-1), x, V(1), r_);
      begin_cycle();
    }
  }

  void begin_cycle() {
    this->copy(r_, v(0));
    normalize(v(0), beta());
  }

  void step(int j) {
    V* const s = this->scalar(0);
    V* const w = v(j + 1);
    this->precondition(v(j), z_);
    this->multiply(V(1), z_, V(0), w);
    this->gemv(CUBLAS_OP_T, j + 1, s + one, basis_, stride_, w, s + zero, h(j));
    this->gemv(CUBLAS_OP_N, j + 1, s + minus_one, basis_, stride_, h(j), s + one, w);
    normalize(w, h(j) + j + 1);
  }

  void normalize(V* w, V* norm) {
    V* const s = this->scalar(0);
    this->nrm2(w, norm);
    this->divide(s + one, norm, s + one, s + one, s + inverse);
    this->scal(s + inverse, w);
  }

  /// x := x + M^-1 sum y_k v_k
  void add_correction(int steps, V* x) {
    std::vector<V> H(std::size_t(rows_of_h) * gmres_restart + 1);
    check(cudaMemcpyAsync(H.data(), H_, H.size() * sizeof(V), cudaMemcpyDeviceToHost,
                          this->stream()));
    check(cudaStreamSynchronize(this->stream()));
    const std::vector<double> y = least_squares({H.begin(), H.end() - 1}, double(H.back()), steps);
    const std::vector<V> coefficients(y.begin(), y.end());
    check(cudaMemcpyAsync(y_, coefficients.data(), coefficients.size() * sizeof(V),
                          cudaMemcpyHostToDevice, this->stream()));
    V* const s = this->scalar(0);
    this->gemv(CUBLAS_OP_N, steps, s + one, basis_, stride_, y_, s + zero, r_);
    this->precondition(r_, z_);
    this->axpy(s + one, z_, x);
  }

  int stride_;
  Array<V> basis_, H_, y_;
};

}  // namespace

template <class V>
Solver<V> gmres(const DeviceSystem<V>& system) {
  return ready<V>(std::make_shared<Gmres<V>>(system), Scalars::device);
}

template Solver<float> gmres(const DeviceSystem<float>&);
template Solver<double> gmres(const DeviceSystem<double>&);

}  // namespace cnc::perf::cusparse_peer
