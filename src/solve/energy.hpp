#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace cnc::detail {

/// The energy norm of the error of an iterate of CG, from below.
struct EnergyEstimate {
  double error = 0;
  std::size_t iteration = 0;  ///< of the recurrence, counted from its start
  bool close = false;         ///< whether what came after says that little is missing
};

/// From what iterations have taken off its square: what is still there after them is not known, so the error of an
/// iteration is at least the sum of all that followed. It is close where the later half of that, which tells how much may
/// come yet, is no more than a quarter: with linear convergence a ninth of the square is missing then, or 6 % of the norm.
/// The last such iteration is taken, else the first of all.
///
/// Method   Hestenes & Stiefel, Methods of conjugate gradients for solving linear systems, 1952, theorem 6:1; Strakos &
///          Tichy, On error estimation in the conjugate gradient method and why it works in finite precision
///          computations, 2002; a delay that adapts, by another rule: Meurant, Papez & Tichy 2021.
inline EnergyEstimate estimate_energy_error(const std::vector<double>& gains) {
  constexpr double most_of_later_half = 0.25;
  const std::size_t n = gains.size();
  double all = 0, later_half = 0;  // of the last k
  for (std::size_t k = 1; k <= n; ++k) {
    all += gains[n - k];
    if (k % 2 == 1) later_half += gains[n - (k + 1) / 2];
    if (later_half <= most_of_later_half * all) return {std::sqrt(all), n - k, true};
  }
  return {std::sqrt(all), 0, false};
}

}  // namespace cnc::detail
