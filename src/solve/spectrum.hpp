#pragma once

#include <cnc/solver.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace cnc::detail {

/// The tridiagonal matrix of Lanczos' process for M^-1 A, from the step lengths alpha and the ratios beta of CG.
///
/// Method   Golub & Van Loan, Matrix computations, 4th ed., 2013, sections 10.1, 11.3.5 and 8.4.1 (bisection by Sturm
///          counts).
class LanczosMatrix {
 public:
  static constexpr std::size_t largest = 160;

  /// An iteration of CG: its step alpha = r.z / p.Ap, and r.z before and after it.
  void add(double alpha, double rz_before, double rz) {
    if (size_ == 0) unit_ = alpha;
    const double inverse = unit_ / alpha, beta = rz / rz_before;
    diagonal_[size_] = inverse + carried_;
    carried_ = beta * inverse;
    squares_[size_] = beta * inverse * inverse;  // of the entry beside it, which the next row has
    ++size_;
  }
  std::size_t size() const { return size_; }

  /// The outer eigenvalues, to a thousandth. Cost O(size) for each halving.
  Spectrum ends() const {
    double above = 0;  // by Gershgorin's theorem
    for (std::size_t k = 0; k < size(); ++k)
      above = std::max(above, diagonal_[k] + beside(k) + (k > 0 ? beside(k - 1) : 0));
    return {eigenvalue(0, above) / unit_, eigenvalue(size() - 1, above) / unit_};
  }

 private:
  double beside(std::size_t k) const { return k + 1 < size() ? std::sqrt(squares_[k]) : 0; }

  /// How many eigenvalues are less than s.
  std::size_t below(double s) const {
    std::size_t count = 0;
    double pivot = 1;
    for (std::size_t k = 0; k < size(); ++k) {
      pivot = diagonal_[k] - s - (k > 0 ? squares_[k - 1] / pivot : 0);
      if (pivot == 0) pivot = -1e-300;
      count += pivot < 0;
    }
    return count;
  }
  /// The k-th from below, all being positive.
  double eigenvalue(std::size_t k, double above) const {
    double low = 0, high = above;
    while (high - low > 1e-3 * high && high > 1e-300) {
      const double middle = (low + high) / 2;
      (below(middle) > k ? high : low) = middle;
    }
    return high;
  }

  std::array<double, largest> diagonal_ = {}, squares_ = {};  ///< of the matrix times unit_
  double unit_ = 1;
  std::size_t size_ = 0;
  double carried_ = 0;
};

/// The spectrum that iterations of CG find. Both ends come from inside, the upper one within a few iterations as a rule.
class SpectrumEstimate {
 public:
  static constexpr std::size_t first_look = 10, most_steps = 40;
  static_assert(most_steps <= LanczosMatrix::largest);
  /// The largest Ritz value is still a little less than the largest eigenvalue.
  static constexpr double margin = 1.05;

  void add(double alpha, double rz_before, double rz) { lanczos_.add(alpha, rz_before, rz); }

  /// Whether more iterations would not tell more: twice as many have moved neither end by a twentieth.
  bool is_settled() {
    if (lanczos_.size() < next_look_) return false;
    const Spectrum before = found_;
    found_ = lanczos_.ends();
    next_look_ *= 2;
    const bool moved =
        found_.smallest < 0.95 * before.smallest || found_.largest > 1.05 * before.largest;
    return !moved || lanczos_.size() >= most_steps;
  }
  /// At its last look, with a margin.
  Spectrum found() const { return {found_.smallest, margin * found_.largest}; }

 private:
  LanczosMatrix lanczos_;
  std::size_t next_look_ = first_look;
  Spectrum found_ = {std::numeric_limits<double>::infinity(), 0};
};

inline bool is_known(const Spectrum& spectrum) { return spectrum.largest > 0; }

/// The least that holds both; one that is not known holds nothing.
inline Spectrum joined(const Spectrum& a, const Spectrum& b) {
  if (!is_known(a)) return b;
  return {std::min(a.smallest, b.smallest), std::max(a.largest, b.largest)};
}

/// By how much, in the natural logarithm, an iteration of Chebyshev's makes the error smaller in the end.
///
/// Method   Saad, Iterative methods for sparse linear systems, 2nd ed., 2003, section 6.11.3.
inline double chebyshev_rate(const Spectrum& spectrum) {
  const double root = std::sqrt(spectrum.smallest / spectrum.largest);
  return std::log((1 + root) / std::max(1 - root, 1e-16));
}

}  // namespace cnc::detail
