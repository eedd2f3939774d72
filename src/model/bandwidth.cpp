#include <cnc/blas1.hpp>
#include <cnc/model.hpp>

#include "model/streams.hpp"
#include "model/timing.hpp"
#include "parallel.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace cnc {
namespace {

/// Seconds of one pass, which returns when it is done. A sample makes the clock no part of the figure.
template <class Pass>
double fastest(double seconds, const Pass& pass) {
  return detail::fastest_call(seconds, 2e-5, pass, [] {});
}

/// Sixteen independent sums: one would wait for the latency of the addition instead of the memory.
double sum_range(const double* x, offset_t begin, offset_t end) {
  constexpr int lanes = 16;
  double sums[lanes] = {};
  offset_t i = begin;
  for (; i + lanes <= end; i += lanes)
    for (int k = 0; k < lanes; ++k) sums[k] += x[i + k];
  double sum = 0;
  for (; i < end; ++i) sum += x[i];
  for (const double s : sums) sum += s;
  return sum;
}

double read_pass(const double* x, offset_t n, int threads) {
  std::vector<double> sums(static_cast<std::size_t>(threads));
  detail::parallel_ranges(n, threads, [&](offset_t begin, offset_t end, int part) {
    sums[static_cast<std::size_t>(part)] = sum_range(x, begin, end);
  });
  double sum = 0;
  for (const double s : sums) sum += s;
  return sum;
}

void triad_pass(double* a, const double* b, const double* c, offset_t n, int threads) {
  detail::parallel_ranges(n, threads, [=](offset_t begin, offset_t end, int) {
#pragma omp simd
    for (offset_t i = begin; i < end; ++i) a[i] = b[i] + 0.5 * c[i];
  });
}

template <class Exec>
double dot_rate(Context<Exec>& ctx, const Vector<double, typename Exec::memory_space>& x,
                double seconds) {
  const std::size_t half = std::min<std::size_t>(x.extent(0) / 2, 2147483647u);
  const auto left = Kokkos::subview(x, std::make_pair(std::size_t{0}, half));
  const auto right = Kokkos::subview(x, std::make_pair(half, 2 * half));
  const double best = fastest(seconds, [&] { (void)dot(ctx, left, right); });
  return 2.0 * static_cast<double>(half) * sizeof(double) / best;
}

template <class Exec>
inline constexpr bool on_host = detail::is_host_space<typename Exec::memory_space>;

/// The memory full of ones, on a host first touched by the threads that will read it.
template <class Exec>
Vector<double, typename Exec::memory_space> touched(const Context<Exec>& ctx, std::size_t n) {
  const InstanceScope scope(ctx.execution_space_instance());
  const auto x = uninitialized<double, typename Exec::memory_space>("cnc::bandwidth", n);
  if constexpr (on_host<Exec>) {
    double* data = x.data();
    detail::parallel_ranges(
        static_cast<offset_t>(n), ctx.threads(),
        [=](offset_t begin, offset_t end, int) { std::fill(data + begin, data + end, 1.0); });
  } else {
    Kokkos::deep_copy(ctx.execution_space_instance(), x, 1.0);
  }
  return x;
}

template <class Exec>
double read_rate(Context<Exec>& ctx, const Vector<double, typename Exec::memory_space>& x,
                 double seconds) {
  double rate = 0;
  if constexpr (on_host<Exec>) {
    const auto n = static_cast<offset_t>(x.extent(0));
    volatile double kept = 0;  // the compiler must not see that nobody needs the sum
    const auto rate_of = [&](int threads) {
      return static_cast<double>(n) * sizeof(double) /
             fastest(seconds, [&] { kept = read_pass(x.data(), n, threads); });
    };
    rate = rate_of(ctx.threads());
    // Waking the others costs more than they read of a set this small.
    if (ctx.threads() > 1 && n < 500'000) rate = std::max(rate, rate_of(1));
    (void)kept;
  } else {
    rate = detail::stream_read_rate(ctx, x, seconds);
  }
  return ctx.template vectors<double>().dot == nullptr ? rate
                                                       : std::max(rate, dot_rate(ctx, x, seconds));
}

template <class Exec>
double triad_rate(const Context<Exec>& ctx, const Vector<double, typename Exec::memory_space>& x,
                  double seconds) {
  if constexpr (on_host<Exec>) {
    const auto third = static_cast<offset_t>(x.extent(0) / 3);
    double* a = x.data();
    const double best =
        fastest(seconds, [&] { triad_pass(a, a + third, a + 2 * third, third, ctx.threads()); });
    return 3.0 * static_cast<double>(third) * sizeof(double) / best;
  } else {
    return detail::stream_triad_rate(ctx, x, seconds);
  }
}

template <class Exec>
std::size_t doubles_in(std::size_t working_set) {
  constexpr MemorySpace memory = on_host<Exec> ? MemorySpace::host : MemorySpace::device;
  if (working_set == 0) working_set = out_of_cache_bytes(memory);
  return std::max<std::size_t>(working_set / 8, 96);
}

}  // namespace

std::size_t last_level_cache_bytes() {
  long bytes = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
  bytes = std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE));
#endif
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

std::size_t out_of_cache_bytes(MemorySpace memory) {
  constexpr std::size_t least = 256'000'000;
  constexpr std::size_t most = 1'000'000'000;
  const std::size_t share = detail::free_bytes(memory) / 8;
  if (memory == MemorySpace::device) return std::min(most, share);
  const std::size_t bytes = std::min(std::clamp(4 * last_level_cache_bytes(), least, most), share);
  return std::max<std::size_t>(bytes, 1'000'000);
}

template <class Exec>
Bandwidth measure_bandwidth(Context<Exec>& ctx, std::size_t working_set, double seconds) {
  require(seconds > 0, "measure_bandwidth: seconds must be positive");
  const auto x = touched(ctx, doubles_in<Exec>(working_set));
  Bandwidth result;
  result.working_set = x.extent(0) * sizeof(double);
  result.read = read_rate(ctx, x, seconds);
  result.triad = triad_rate(ctx, x, seconds);
  return result;
}

template <class Exec>
double measure_read_bandwidth(Context<Exec>& ctx, std::size_t working_set, double seconds) {
  require(seconds > 0, "measure_read_bandwidth: seconds must be positive");
  return read_rate(ctx, touched(ctx, doubles_in<Exec>(working_set)), seconds);
}

using HostExec = Kokkos::DefaultHostExecutionSpace;
template Bandwidth measure_bandwidth(Context<HostExec>&, std::size_t, double);
template double measure_read_bandwidth(Context<HostExec>&, std::size_t, double);
#ifdef CNC_KOKKOS_HAS_DEVICE
using DeviceExec = Kokkos::DefaultExecutionSpace;
template Bandwidth measure_bandwidth(Context<DeviceExec>&, std::size_t, double);
template double measure_read_bandwidth(Context<DeviceExec>&, std::size_t, double);
#endif

}  // namespace cnc
