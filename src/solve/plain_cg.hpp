#pragma once

#include "solve/system.hpp"
#include "solve/tally.hpp"
#include "solve/workspace.hpp"

namespace cnc::detail {

/// Conjugate gradients from plain operations, one vector operation at a time: what every backend can do that has products
/// and BLAS-1, libraries that are compared with among them, and what fused forms are measured against. Scalars are on
/// the host, which waits for each.
template <class V, class Exec>
class PlainCg {
 public:
  using Space = typename Exec::memory_space;

  PlainCg(const System<V, Exec>& system, const Workspace<V, Space>& work, const Vector<V, Space>& x,
          Tally& tally)
      : system_(system), work_(work), x_(x), tally_(tally) {}

  void start(Method method, MethodScalars& s) {
    s = {};
    if (method == Method::pcg)
      precondition_residual<Cg<V>>(s);
    else
      precondition_residual<CgSingleReduction<V>>(s);
  }

  /// One iteration of the classic recurrences (Hestenes & Stiefel 1952).
  void classic(MethodScalars& s) {
    using M = Cg<V>;
    const double beta = s.first ? 0.0 : s[M::rz] / s[M::rz_previous];
    axpby(1, vector(M::z), beta, vector(M::p));
    system_.apply(vector(M::p), vector(M::q));
    ++tally_.backend_calls;
    s[M::pq] = dot(vector(M::p), vector(M::q));
    if (!takes_step<M>(s)) return;
    axpy(s[M::alpha], vector(M::p), x_);
    axpy(-s[M::alpha], vector(M::q), vector(M::r));
    precondition_residual<M>(s);
    s.first = 0;
  }

  /// One iteration of Chronopoulos & Gear 1989, algorithm 2.2.
  void single_reduction(MethodScalars& s) {
    using M = CgSingleReduction<V>;
    system_.apply(vector(M::z), vector(M::q));
    ++tally_.backend_calls;
    s[M::zq] = dot(vector(M::z), vector(M::q));
    if (!takes_step<M>(s)) return;
    axpby(1, vector(M::z), s[M::beta], vector(M::p));
    axpby(1, vector(M::q), s[M::beta], vector(M::s));
    axpy(s[M::alpha], vector(M::p), x_);
    axpy(-s[M::alpha], vector(M::s), vector(M::r));
    precondition_residual<M>(s);
    s.first = 0;
  }

 private:
  const Vector<V, Space>& vector(int k) const { return work_.vectors[k]; }

  /// The scalar step of the method's last pass; false: a breakdown.
  template <class M>
  static bool takes_step(MethodScalars& s) {
    s.breakdown = M::Iteration::Last::step(s);
    return s.breakdown == Breakdown::none;
  }
  template <class M>
  void precondition_residual(MethodScalars& s) {
    system_.preconditioner().apply(*system_.ctx, vector(M::r), vector(M::z));
    ++tally_.backend_calls;
    s[M::rz] = dot(vector(M::r), vector(M::z));
    s[M::rr] = dot(vector(M::r), vector(M::r));
  }
  void axpby(double alpha, const Vector<V, Space>& x, double beta, const Vector<V, Space>& y) {
    system_.vector_ops().axpby(system_.ctx->queue(), system_.rows, static_cast<V>(alpha), x.data(),
                               static_cast<V>(beta), y.data());
    ++tally_.backend_calls;
  }
  void axpy(double alpha, const Vector<V, Space>& x, const Vector<V, Space>& y) {
    system_.vector_ops().axpy(system_.ctx->queue(), system_.rows, static_cast<V>(alpha), x.data(),
                              y.data());
    ++tally_.backend_calls;
  }
  double dot(const Vector<V, Space>& a, const Vector<V, Space>& b) {
    ++tally_.backend_calls;
    ++tally_.host_synchronisations;
    system_.vector_ops().dot(system_.ctx->queue(), system_.rows, a.data(), b.data(),
                             system_.ctx->result_slot());
    return system_.ctx->read_result();
  }

  const System<V, Exec>& system_;
  const Workspace<V, Space>& work_;
  Vector<V, Space> x_;
  Tally& tally_;
};

}  // namespace cnc::detail
