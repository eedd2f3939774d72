#include "peers/cusparse_iteration.hpp"

namespace cnc::perf::cusparse_peer {
namespace {

template <class V>
class Bicgstab : public Iteration<V> {
  enum {
    rho,
    other_rho,
    r0_v,
    t_s,
    t_t,
    one,
    alpha,
    minus_alpha,
    omega,
    minus_omega,
    beta,
    minus_beta,
    count
  };

 public:
  Bicgstab(const DeviceSystem<V>& system, Scalars scalars)
      : Iteration<V>(system, scalars, count),
        r0_(this->n()),
        p_(this->n()),
        y_(this->n()),
        v_(this->n()),
        t_(this->n()) {
    this->set_scalar(one, V(1));
  }

 private:
  using Iteration<V>::r_, Iteration<V>::z_;

  void start(const V* b) override {
    this->copy(b, r_);
    this->copy(b, r0_);
    this->copy(b, p_);
    this->dot(r0_, r_, this->scalar(rho));
  }

  /// r holds s = r - alpha v between the two products.
  void iterate(const V*, V* x, int iterations) override {
    V* const s = this->scalar(0);
    for (int i = 0; i < iterations; ++i) {
      const V* before = s + (i % 2 == 0 ? rho : other_rho);
      V* now = s + (i % 2 == 0 ? other_rho : rho);
      this->precondition(p_, y_);
      this->multiply(V(1), y_, V(0), v_);
      this->dot(r0_, v_, s + r0_v);
      this->divide(before, s + r0_v, s + one, s + one, s + alpha);
      this->axpy(s + minus_alpha, v_, r_);
      this->precondition(r_, z_);
      this->multiply(V(1), z_, V(0), t_);
      this->dot(t_, r_, s + t_s);
      this->dot(t_, t_, s + t_t);
      this->divide(s + t_s, s + t_t, s + one, s + one, s + omega);
      this->axpy(s + alpha, y_, x);
      this->axpy(s + omega, z_, x);
      this->axpy(s + minus_omega, t_, r_);
      this->dot(r0_, r_, now);
      this->divide(now, before, s + alpha, s + omega, s + beta);
      this->axpy(s + minus_omega, v_, p_);
      this->scal(s + beta, p_);
      this->axpy(s + one, r_, p_);
    }
  }

  Array<V> r0_, p_, y_, v_, t_;
};

}  // namespace

template <class V>
Solver<V> bicgstab(const DeviceSystem<V>& system, Scalars scalars) {
  return ready<V>(std::make_shared<Bicgstab<V>>(system, scalars), scalars);
}

template Solver<float> bicgstab(const DeviceSystem<float>&, Scalars);
template Solver<double> bicgstab(const DeviceSystem<double>&, Scalars);

}  // namespace cnc::perf::cusparse_peer
