#pragma once

#include <cnc/contract/methods.hpp>
#include <cnc/contract/run.hpp>

#include <reference/bcsr_spmv.hpp>
#include <reference/blas1.hpp>
#include <reference/bsell_spmv.hpp>
#include <reference/dia_spmv.hpp>
#include <reference/precondition.hpp>

namespace cnc::reference {

using namespace methods;

// What the methods have in common: two loops over a vector, and when a run ends. The methods themselves are not fused
// and share nothing with those of the contract but the names of their vectors and scalars.

/// y := y + alpha x, alpha a coefficient of the method: in double also for float vectors
template <class V>
void add_scaled(index_t n, double alpha, const V* x, V* y) {
  for (index_t i = 0; i < n; ++i) y[i] = static_cast<V>(y[i] + alpha * x[i]);
}

/// p := z + beta p. At the first iteration p is not read: it may hold anything, NaN included.
template <class V>
void renew_direction(index_t n, bool first, double beta, const V* z, V* p) {
  for (index_t i = 0; i < n; ++i) p[i] = first ? z[i] : static_cast<V>(z[i] + beta * p[i]);
}

/// y := A x
template <class Operand, class V>
void product(const Queue& queue, const Operand& A, const V* x, V* y) {
  spmv(queue, V(1), A, x, V(0), y);
}

/// Whether another iteration is due. An r . r that is NaN ends a run: it is greater than nothing.
inline bool goes_on(const MethodScalars& s, const MethodRun& run) {
  return s.breakdown == Breakdown::none && run.iterations < run.max_iterations &&
         s.rr() > run.rr_target;
}

/// Closes an iteration. One that breaks down is none that was done and does not come here. `energy_gain`, of methods that
/// say it, is what it took off the square of the energy norm of the error.
inline void iteration_done(MethodScalars& s, MethodRun& run, const double* energy_gain = nullptr) {
  if (run.history != nullptr) run.history[run.iterations] = s.rr();
  if (run.energy_gains != nullptr && energy_gain != nullptr)
    run.energy_gains[run.iterations] = *energy_gain;
  ++run.iterations;
  s.first = 0;
}

}  // namespace cnc::reference
