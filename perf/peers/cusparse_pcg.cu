#include "peers/cusparse_iteration.hpp"

namespace cnc::perf::cusparse_peer {
namespace {

template <class V>
class Pcg : public Iteration<V> {
  enum { rz, other_rz, pq, one, alpha, minus_alpha, beta, minus_beta, count };

 public:
  Pcg(const DeviceSystem<V>& system, Scalars scalars)
      : Iteration<V>(system, scalars, count), p_(this->n()), q_(this->n()) {
    this->set_scalar(one, V(1));
  }

 private:
  using Iteration<V>::r_, Iteration<V>::z_;

  void start(const V* b) override {
    this->copy(b, r_);
    this->precondition(r_, z_);
    this->copy(z_, p_);
    this->dot(r_, z_, this->scalar(rz));
  }

  void iterate(const V*, V* x, int iterations) override {
    V* const s = this->scalar(0);
    for (int i = 0; i < iterations; ++i) {
      const V* before = s + (i % 2 == 0 ? rz : other_rz);
      V* now = s + (i % 2 == 0 ? other_rz : rz);
      this->multiply(V(1), p_, V(0), q_);
      this->dot(p_, q_, s + pq);
      this->divide(before, s + pq, s + one, s + one, s + alpha);
      this->axpy(s + alpha, p_, x);
      this->axpy(s + minus_alpha, q_, r_);
      this->precondition(r_, z_);
      this->dot(r_, z_, now);
      this->divide(now, before, s + one, s + one, s + beta);
      this->scal(s + beta, p_);
      this->axpy(s + one, z_, p_);
    }
  }

  Array<V> p_, q_;
};

}  // namespace

template <class V>
Solver<V> pcg(const DeviceSystem<V>& system, Scalars scalars) {
  return ready<V>(std::make_shared<Pcg<V>>(system, scalars), scalars);
}

template Solver<float> pcg(const DeviceSystem<float>&, Scalars);
template Solver<double> pcg(const DeviceSystem<double>&, Scalars);

}  // namespace cnc::perf::cusparse_peer
