#pragma once

#include "compare_measure.hpp"
#include "iteration_timing.hpp"

#include <cnc/context.hpp>
#include <cnc/convert.hpp>
#include <cnc/copy.hpp>
#include <cnc/solver.hpp>
#include <cnc/spmv.hpp>

#include <cmath>

namespace cnc::cli {

/// Numbers in (-1, 1) that float holds exactly, so that every precision works on the same x.
template <class V>
Vector<V> random_vector(index_t n, std::uint64_t state) {
  Vector<V> x("x", static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.extent(0); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    x(i) = static_cast<V>(static_cast<float>(state >> 40) * 0x1p-23f - 1);
  }
  return x;
}

/// max |y - expected| / max |expected|; NaN stays NaN.
template <class V>
double relative_error(const Vector<V>& y, const Vector<double>& expected) {
  double worst = 0;
  double scale = 0;
  for (std::size_t i = 0; i < y.extent(0); ++i) {
    const double difference = std::abs(static_cast<double>(y(i)) - expected(i));
    if (!(difference <= worst)) worst = difference;
    scale = std::max(scale, std::abs(expected(i)));
  }
  return scale > 0 ? worst / scale : worst;
}

/// A wait costs more than a small kernel on a device, and the clock more than a small product on a host.
template <class Exec, class Launch>
Timing time_on(const Context<Exec>& ctx, const CompareRequest& request, const Launch& launch) {
  constexpr bool on_device = !std::is_same_v<typename Exec::memory_space, HostSpace>;
  return time_calls(request.effort, on_device ? 1e-3 : 2e-5, launch, [&] { ctx.fence(); });
}

/// y := A x, timed and compared with what the reference backend says. Unmeasured when not offered.
template <class V, class M, class Exec>
Measurement measure_spmv(Context<Exec>& ctx, const Matrix<M, typename Exec::memory_space>& A,
                         const Vector<double>& expected, const CompareRequest& request) {
  using Space = typename Exec::memory_space;
  Measurement result;
  const Vector<V, Space> x = copy_to<Space>(random_vector<V>(cols(A), 1));
  const Vector<V, Space> y = zeroed<V, Space>("y", static_cast<std::size_t>(rows(A)));
  std::unique_ptr<MatrixPlan> plan;
  const auto product = [&] { spmv(ctx, V(1), A, x, V(0), y, plan.get()); };
  try {
    plan = plan_spmv<V>(ctx, A);
    product();
  } catch (const UnsupportedOperation&) {
    return result;
  }
  ctx.fence();
  result.error = relative_error(copy_to<HostSpace>(y), expected);
  result.cost = spmv_cost(A, sizeof(V));
  result.working_set = result.cost.bytes;
  result.timing = time_on(ctx, request, product);
  return result;
}

/// Jacobi-PCG per iteration, from solves that neither break down nor converge within 24. Its bytes are those of the fused form, so that a backend which moves
/// more of them shows a lower rate.
template <class V, class Exec, class Space = typename Exec::memory_space>
Measurement measure_pcg(Context<Exec>& ctx, const CsrMatrix<V, Space>& A, const FormatSpec& format,
                        StoragePrecision storage, const Cost& spmv, const CompareRequest& request) {
  SolveOptions options;
  options.format = format;
  options.storage = storage;
  options.rtol = 0;  // never met, so that every solve runs to its limit
  options.divergence = std::numeric_limits<double>::max();
  options.record_history = false;
  Measurement result;
  try {
    Solver<V, Exec> solver(ctx, options);
    solver.prepare(A);
    const Vector<const V, Space> b = copy_to<Space>(random_vector<V>(A.rows, 2));
    const Vector<V, Space> x = zeroed<V, Space>("x", b.extent(0));
    const auto reset = [&] { Kokkos::deep_copy(x, V(0)); };
    result.timing = time_iteration(solver, 4, 24, b, x, reset, request.effort).timing;
    result.cost = spmv + cost::iteration(Method::pcg, A.rows, sizeof(V));
    result.working_set = spmv.bytes + 3.0 * A.rows * sizeof(V);  // and x, r, the diagonal
  } catch (const UnsupportedOperation&) {
    return {};  // shown as not offered
  }
  return result;
}

}  // namespace cnc::cli
