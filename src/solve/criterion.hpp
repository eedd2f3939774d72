#pragma once

#include <cnc/solver.hpp>

#include "on_each.hpp"
#include "solve/other_ranks.hpp"
#include "solve/tally.hpp"
#include "solve/workspace.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace cnc::detail {

/// Whether options ask for more than the 2-norm of the whole residual.
inline bool has_criterion(const SolveOptions& options) {
  return options.norm != ResidualNorm::two || options.components != 1;
}

/// Of one group of rows and each component: the largest |v[i]|, or the sum of the squares of factor v[i]. Groups do not
/// depend on the number of threads, so neither does what is added up.
template <class W>
struct GroupNorms {
  const W* v;
  const index_t* permutation;  ///< null: rows as given
  int first;                   ///< the component of the first row
  offset_t rows, groups, per_group;
  int components;
  bool side_by_side;  ///< neighbouring groups have neighbouring rows, as a device reads best
  bool squares;
  double factor[max_components];
  double* partial;  ///< [groups x components]

  KOKKOS_INLINE_FUNCTION void operator()(offset_t group) const {
    double of[max_components] = {};
    const offset_t begin = side_by_side ? group : group * per_group;
    const offset_t end = side_by_side || begin + per_group > rows ? rows : begin + per_group;
    for (offset_t i = begin; i < end; i += side_by_side ? groups : 1) {
      const offset_t row = permutation != nullptr ? permutation[i] : i;
      const int c = static_cast<int>((first + row) % components);
      const double entry = static_cast<double>(v[i]), size = entry < 0 ? -entry : entry;
      if (squares)
        of[c] += size * factor[c] * (size * factor[c]);
      else
        keep_larger(of[c], size);
    }
    for (int c = 0; c < components; ++c) partial[group * components + c] = of[c];
  }

  /// A NaN is larger than everything.
  KOKKOS_INLINE_FUNCTION static void keep_larger(double& largest, double size) {
    if (largest == largest && !(size <= largest)) largest = size;
  }
};

/// What decides about convergence where it is not the 2-norm of the whole residual: a norm of each component of it. The
/// norms are taken once the recurrence is done, by loops of their own.
template <class V, class Exec>
class Criterion {
 public:
  using Space = typename Exec::memory_space;

  /// One for each component.
  using Norms = std::vector<double>;

  Criterion(const Context<Exec>& ctx, Workspace<V, Space>& work, const SolveOptions& options,
            const Vector<index_t, Space>& permutation, index_t rows, Tally& tally,
            OtherRanks* ranks = nullptr)
      : ctx_(ctx),
        work_(work),
        options_(options),
        permutation_(permutation.extent(0) > 0 ? permutation.data() : nullptr),
        rows_(rows),
        tally_(tally),
        ranks_(ranks) {}

  /// Whether it is asked for. If not, nothing else here is called.
  bool active() const { return has_criterion(options_); }

  /// The norms of v. What is not finite stays so.
  template <class W>
  Norms norms(const Vector<W, Space>& v) {
    Norms largest = combined(v, nullptr);
    if (options_.norm == ResidualNorm::infinity) return largest;
    // Of a multiple by a power of two, whose squares neither vanish nor overflow.
    Norms factor(largest.size(), 1);
    for (std::size_t c = 0; c < factor.size(); ++c)
      if (largest[c] > 0 && std::isfinite(largest[c]))
        factor[c] = std::ldexp(1.0, std::clamp(-std::ilogb(largest[c]), -1000, 1000));
    Norms result = combined(v, factor.data());
    for (std::size_t c = 0; c < result.size(); ++c)
      result[c] = std::isfinite(largest[c]) ? std::sqrt(result[c]) / factor[c] : largest[c];
    return result;
  }

  /// The norm of all components together.
  double whole(const Norms& norms) const {
    double result = 0;
    for (const double norm : norms)
      if (options_.norm == ResidualNorm::two)
        result = std::hypot(result, norm);
      else
        GroupNorms<V>::keep_larger(result, norm);
    return result;
  }

  /// Takes the norms that rtol is relative to, in units of which `scale` make one of the caller's. A component without a
  /// reference of its own has the largest of the others.
  void refer_to(const Norms& reference, double scale) {
    const double largest = *std::max_element(reference.begin(), reference.end());
    tolerances_.clear();
    for (const double norm : reference)
      tolerances_.push_back(
          std::max(options_.rtol * (norm > 0 ? norm : largest), options_.atol * scale));
  }
  const Norms& tolerances() const { return tolerances_; }

  /// The greatest ratio of a norm to its tolerance: at most 1 is convergence. NaN where there is one.
  double worst(const Norms& norms) const {
    double result = 0;
    for (std::size_t c = 0; c < norms.size(); ++c)
      if (norms[c] != 0) GroupNorms<V>::keep_larger(result, norms[c] / tolerances_[c]);
    return result;
  }

  /// What the 2-norm of a residual is to come down to next, from `now`, at which the worst ratio is `worst`. Did its shape
  /// stay, now / worst would do, but that of the first residual says little of the last ones. So the first look is where the
  /// tolerances could be met at the earliest, if the residual were as large everywhere as they allow; the next ones
  /// are on half of the way that seems to be left, while that is far. A look costs a product, so none comes before another
  /// tenth is gained: that much too low is half a percent of the iterations that lead to 1e-8.
  double aim(double now, double worst) const {
    if (worst <= 4) return std::min(now / worst, 0.9 * now);
    return std::min(earliest(), now / std::sqrt(worst));
  }

 private:
  /// No residual whose 2-norm is larger meets the tolerances.
  double earliest() const {
    double result = 0;
    for (std::size_t c = 0; c < tolerances_.size(); ++c) {
      const offset_t others = static_cast<offset_t>(c), step = options_.components;
      const offset_t all = ranks_ ? ranks_->all_rows() : rows_;
      const double rows = all > others ? double((all - others + step - 1) / step) : 0;
      result = std::hypot(
          result, tolerances_[c] * (options_.norm == ResidualNorm::two ? 1 : std::sqrt(rows)));
    }
    return result;
  }

  /// The largest entries, or with factors the sums of squares.
  template <class W>
  Norms combined(const Vector<W, Space>& v, const double* factor) {
    using Entry = std::remove_const_t<W>;
    constexpr offset_t per_group = 4096;
    const offset_t groups = on_threads<Exec> ? (rows_ + per_group - 1) / per_group
                                             : std::min<offset_t>(rows_, per_group);
    const int components = options_.components;
    const std::size_t count = static_cast<std::size_t>(groups) * components;
    if (work_.partial_norms.extent(0) < count) {
      work_.partial_norms = zeroed<double, Space>("cnc::partial_norms", count);
      work_.host_partial_norms =
          host_copy<double, Space>("cnc::host_partial_norms", work_.partial_norms);
    }
    GroupNorms<Entry> body{v.data(),
                           permutation_,
                           ranks_ ? static_cast<int>(ranks_->number_of(0) % components) : 0,
                           rows_,
                           groups,
                           per_group,
                           components,
                           !on_threads<Exec>,
                           factor != nullptr,
                           {},
                           work_.partial_norms.data()};
    if (factor != nullptr) std::copy(factor, factor + components, body.factor);
    if constexpr (on_threads<Exec>)
      on_host(groups, threads_for(rows_, ctx_.threads()), body);
    else
      on_each(ctx_, groups, body);
    ++tally_.backend_calls;
    ++tally_.host_synchronisations;
    Kokkos::deep_copy(ctx_.execution_space_instance(), work_.host_partial_norms,
                      work_.partial_norms);
    ctx_.fence();
    Norms result(static_cast<std::size_t>(components), 0);
    for (std::size_t k = 0; k < count; ++k) {
      double& norm = result[k % static_cast<std::size_t>(components)];
      if (factor != nullptr)
        norm += work_.host_partial_norms(k);
      else
        GroupNorms<Entry>::keep_larger(norm, work_.host_partial_norms(k));
    }
    if (ranks_ && factor != nullptr) ranks_->add_up(result.data(), components);
    if (ranks_ && factor == nullptr) ranks_->take_largest(result.data(), components);
    return result;
  }

  const Context<Exec>& ctx_;
  Workspace<V, Space>& work_;
  const SolveOptions& options_;
  const index_t* permutation_;
  index_t rows_;
  Tally& tally_;
  OtherRanks* ranks_;  ///< null: there are none
  Norms tolerances_;
};

}  // namespace cnc::detail
