#pragma once

#include <cnc/context.hpp>

#include "model/timing.hpp"

namespace cnc::detail {

// Kernels that do nothing but move memory on a device.

struct alignas(16) TwoDoubles {
  double first, second;
};

/// Reads four places far apart, 16 bytes each, so that enough loads are under way. The sum is stored only
/// if it is one that ones cannot have: the compiler does not know.
struct ReadStream {
  const TwoDoubles* x;
  offset_t quarter;
  double* never;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    const TwoDoubles a = x[i], b = x[i + quarter], c = x[i + 2 * quarter], d = x[i + 3 * quarter];
    const double sum =
        (a.first + a.second) + (b.first + b.second) + (c.first + c.second) + (d.first + d.second);
    if (sum == -1) *never = sum;
  }
};

/// McCalpin's STREAM triad.
struct TriadStream {
  TwoDoubles* a;
  const TwoDoubles* b;
  const TwoDoubles* c;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    a[i] = {b[i].first + 0.5 * c[i].first, b[i].second + 0.5 * c[i].second};
  }
};

/// Seconds of one of many equal launches.
template <class Exec, class Body>
double fastest_launch(const Exec& exec, offset_t n, const Body& body, double seconds) {
  const Kokkos::RangePolicy<Exec, Kokkos::IndexType<offset_t>> range(exec, 0, n);
  exec.fence();
  return fastest_call(
      seconds, 4e-3, [&] { Kokkos::parallel_for("cnc::stream", range, body); },
      [&] { exec.fence(); });
}

template <class Exec>
double stream_read_rate(const Context<Exec>& ctx,
                        const Vector<double, typename Exec::memory_space>& x, double seconds) {
  const auto quarter = static_cast<offset_t>(x.extent(0) / 8);
  const ReadStream body{reinterpret_cast<const TwoDoubles*>(x.data()), quarter, ctx.result_slot()};
  return 4.0 * static_cast<double>(quarter) * sizeof(TwoDoubles) /
         fastest_launch(ctx.execution_space_instance(), quarter, body, seconds);
}

template <class Exec>
double stream_triad_rate(const Context<Exec>& ctx,
                         const Vector<double, typename Exec::memory_space>& x, double seconds) {
  const auto third = static_cast<offset_t>(x.extent(0) / 6);
  auto* const a = reinterpret_cast<TwoDoubles*>(x.data());
  return 3.0 * static_cast<double>(third) * sizeof(TwoDoubles) /
         fastest_launch(ctx.execution_space_instance(), third,
                        TriadStream{a, a + third, a + 2 * third}, seconds);
}

}  // namespace cnc::detail
