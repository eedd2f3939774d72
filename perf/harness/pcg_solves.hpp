#pragma once

#include "harness/measure.hpp"

#include <cnc/solver.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace cnc::perf {

// What the PCG benches share. An iteration's time is the difference between a long and a short solve.

inline constexpr index_t shorter = 4;
inline constexpr index_t fewest = 12;  ///< a difference over fewer iterations would be noise

/// Options of a solve that runs to its limit, whatever happens.
SolveOptions endless(Method method, PreconditionerKind preconditioner, int block_size);

/// Residual norm of the reference backend after the short solve of A x = random_vector(rows, 2), for a
/// diagonal in blocks of that size.
double expected_residual(const CsrMatrix<double>& A, int block_size);

/// A turn: pairs of a short and a long solve for its share of the time, after a solve that is not timed. The seconds of
/// an iteration are the median of the differences. time(iterations) does a solve and says how many seconds it took.
template <class Time>
Turn iteration_turn(const Time& time, index_t longer, const MeasureOptions& measure) {
  return [time, longer, share = measure.seconds / measure.turns] {
    (void)time(shorter);
    std::vector<double> differences;
    for (double spent = 0; spent < share;) {
      const double few = time(shorter);
      const double many = time(longer);
      spent += few + many;
      // A difference that is smaller could only be noise.
      differences.push_back(std::max(many - few, 0.1 * many) / (longer - shorter));
    }
    return median_of(std::move(differences));
  };
}

}  // namespace cnc::perf
