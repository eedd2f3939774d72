#pragma once

#include <cnc/copy.hpp>

#include "solve/prepare.hpp"
#include "solve/system.hpp"
#include "solve/tally.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace cnc::detail {

/// Vectors that A and A^T map to zero, orthonormal, in the order of the iterations; and how to take them out of others.
template <class V, class Exec>
class NullVectors {
 public:
  using Space = typename Exec::memory_space;

  bool empty() const { return count_ == 0; }
  const Vector<V, Space>& rhs() const { return rhs_; }

  /// From vectors in the caller's order, made orthonormal on the host. `constant` adds a vector of ones. Of several ranks own parts, of
  /// as many vectors on each, with own rows or without.
  /// Errors   InvalidArgument (too many; a wrong length; not finite, zero, or a combination of those before it),
  ///          UnsupportedOperation (a backend without mdot and maxpy).
  void set_up(const System<V, Exec>& system, bool constant, std::span<const Vector<V, Space>> given,
              const Ordering<V, Exec>& ordering) {
    *this = {};
    if (system.all_rows() == 0) return;
    const Context<Exec>& ctx = *system.ctx;
    const auto n = static_cast<std::size_t>(system.rows);
    std::vector<std::vector<double>> basis;
    if (constant) basis.emplace_back(n, 1.0);
    for (const Vector<V, Space>& v : given) {
      require(v.extent(0) == n, [&] {
        return "Solver: a vector of the null space has " + std::to_string(v.extent(0)) +
               " entries, the matrix has " + std::to_string(n) + " rows";
      });
      const auto host = copy_to<HostSpace>(v);
      basis.emplace_back(host.data(), host.data() + n);
    }
    if (basis.empty()) return;
    require(basis.size() <= max_vectors_together, "Solver: a null space has 8 vectors at most");
    offered(ops(ctx).mdot, ctx.backend(), "mdot");
    offered(ops(ctx).maxpy, ctx.backend(), "maxpy");
    orthonormalize(system, basis);

    count_ = static_cast<int>(basis.size());
    stride_ = ceil_div(system.rows, 16) * offset_t(16);
    vectors_ = zeroed<V, Space>("cnc::null_space", static_cast<std::size_t>(stride_ * count_));
    coefficients_ = zeroed<double, Space>("cnc::null_space", max_vectors_together);
    rhs_ = uninitialized<V, Space>("cnc::null_space", n);
    for (int k = 0; k < count_; ++k) {
      const auto host = uninitialized<V>("cnc::null_space", n);
      for (std::size_t i = 0; i < n; ++i)
        host(i) = static_cast<V>(basis[static_cast<std::size_t>(k)][i]);
      const Vector<V, Space> to(vectors_.data() + k * stride_, n);
      if (!ordering.active()) {
        Kokkos::deep_copy(to, copy_to<Space>(host));
        continue;
      }
      const auto from = copy_to<Space>(host);
      ordering.gather(ctx.execution_space_instance(), from, to);
      ctx.fence();
    }
  }

  /// v less its part in the null space. Enqueued, twice for what rounding leaves; of several ranks they wait for each other.
  void project(const System<V, Exec>& system, const Vector<V, Space>& v, Tally& tally) const {
    const Context<Exec>& ctx = *system.ctx;
    const auto n = static_cast<index_t>(v.extent(0));
    for (int pass = 0; pass < 2; ++pass) {
      ops(ctx).mdot(ctx.queue(), n, count_, vectors_.data(), stride_, v.data(),
                    coefficients_.data());
      system.add_up_there(coefficients_);
      tally.host_synchronisations += system.ranks != nullptr;
      ops(ctx).maxpy(ctx.queue(), n, count_, -1, coefficients_.data(), vectors_.data(), stride_,
                     v.data(), nullptr);
      tally.backend_calls += 2;
    }
  }

 private:
  static const VectorOps<V>& ops(const Context<Exec>& ctx) { return ctx.template vectors<V>(); }

  static void orthonormalize(const System<V, Exec>& system,
                             std::vector<std::vector<double>>& basis) {
    const auto dot = [&](const std::vector<double>& a, const std::vector<double>& b) {
      double sum = 0;
      for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
      system.add_up(&sum, 1);
      return sum;
    };
    const auto norm = [&](const std::vector<double>& v) { return std::sqrt(dot(v, v)); };
    for (std::size_t k = 0; k < basis.size(); ++k) {
      double largest = 0;  // whose square may be out of range
      for (const double entry : basis[k])
        if (!std::isnan(largest) && !(std::abs(entry) <= largest)) largest = std::abs(entry);
      system.take_largest(largest);
      for (double& entry : basis[k]) entry /= largest;
      const double before = norm(basis[k]);
      for (int pass = 0; pass < 2; ++pass)
        for (std::size_t j = 0; j < k; ++j) {
          const double part = dot(basis[j], basis[k]);
          for (std::size_t i = 0; i < basis[k].size(); ++i) basis[k][i] -= part * basis[j][i];
        }
      const double after = norm(basis[k]);
      require(std::isfinite(before) && after > 1e-6 * before,
              "Solver: the vectors of a null space must be finite and independent");
      for (double& entry : basis[k]) entry /= after;
    }
  }

  int count_ = 0;
  offset_t stride_ = 0;
  Vector<V, Space> vectors_;
  Vector<double, Space> coefficients_;
  Vector<V, Space> rhs_;  ///< for a right-hand side without its part there
};

}  // namespace cnc::detail
