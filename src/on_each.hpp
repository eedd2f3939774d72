#pragma once

#include <cnc/context.hpp>

#include "lane_group.hpp"
#include "parallel.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <type_traits>

namespace cnc::detail {

// The loops that set-up consists of: for, sum, scan. Each runs on the host with the threads of the library, which
// a serial Kokkos lacks, and on a device as Kokkos kernels. Their bodies are objects with a call operator rather
// than lambdas: nvcc calls a lambda for host and device through a pointer on the host. Labels are short: Kokkos
// takes them as std::string.

/// Whether loops run on the threads of the library instead of through Kokkos.
template <class Exec>
inline constexpr bool on_threads = is_host_space<typename Exec::memory_space>;

/// How many neighbouring threads share a unit of work that has so many parts: as many on a device, where they read
/// and write side by side; one on the host. Such a unit is unit i / sharing, begun at part i % sharing.
template <class Exec>
KOKKOS_INLINE_FUNCTION constexpr int sharing(int parts) {
  return on_threads<Exec> ? 1 : parts;
}

/// The same for a row of CSR.
template <class Exec>
inline constexpr int row_lanes = on_threads<Exec> ? 1 : 8;

/// Waits for what is enqueued. Newer Kokkos names what waits, and a long name would be memory from the heap.
template <class Exec>
void wait_for(const Exec& exec) {
  if constexpr (requires { exec.fence("cnc"); })
    exec.fence("cnc");
  else
    exec.fence();
}

/// [begin, end) as Kokkos knows it.
template <class Exec>
auto kokkos_range(const Exec& exec, offset_t begin, offset_t end) {
  return Kokkos::RangePolicy<typename Exec::execution_space, Kokkos::IndexType<offset_t>>(
      exec, begin, end);
}

// The share of one thread of the host: functions of their own, on a copy of the body. Inside a parallel region
// compilers keep less of it in registers (up to 1.3 times slower).
template <class Body>
[[gnu::noinline]] void on_range(offset_t begin, offset_t end, const Body body) {
  for (offset_t i = begin; i < end; ++i) body(i);
}
template <class Sum, class Body>
[[gnu::noinline]] void sum_over_range(offset_t begin, offset_t end, const Body body, Sum& result) {
  Sum sum{};
  for (offset_t i = begin; i < end; ++i) body(i, sum);
  result = sum;
}

/// body(i) for i in [0, n) on the host.
template <class Body>
void on_host(offset_t n, int threads, const Body& body) {
  parallel_ranges(n, threads,
                  [&](offset_t begin, offset_t end, int) { on_range(begin, end, body); });
}

/// body(i) for i in [0, n), enqueued on exec. `rows`: how many a small number of large units i stand for.
template <class Exec, class Body>
void on_each(const Exec& exec, offset_t n, const Body& body, offset_t rows = 0) {
  if constexpr (on_threads<Exec>)
    on_host(n, threads_for(std::max(n, rows)), body);
  else
    Kokkos::parallel_for("cnc::on_each", kokkos_range(exec, 0, n), body);
}

/// The same on the threads of a context.
template <class Exec, class Body>
void on_each(const Context<Exec>& ctx, offset_t n, const Body& body) {
  if constexpr (on_threads<Exec>)
    on_host(n, threads_for(n, ctx.threads()), body);
  else
    on_each(ctx.execution_space_instance(), n, body);
}

/// to[k] := value
template <class T>
struct SetEach {
  T* to;
  T value;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t k) const { to[k] = value; }
};

/// Base of what loops learn: types that begin empty and have an operator+= whose result does not depend on the
/// order of what is added.
struct Facts {};

/// The sum of what body(i, sum) adds for i in [0, n). `rows`: as above. A body with a for_range(begin, end) gives each thread of the host
/// its own. Waits.
template <class Sum = offset_t, class Exec, class Body>
Sum sum_over(const Exec& exec, offset_t n, const Body& body, offset_t rows = 0) {
  Sum all{};
  if constexpr (on_threads<Exec>) {
    parallel_ranges(n, threads_for(std::max(n, rows)), [&](offset_t begin, offset_t end, int) {
      Sum part;
      if constexpr (requires { body.for_range(begin, end); })
        sum_over_range(begin, end, body.for_range(begin, end), part);
      else
        sum_over_range(begin, end, body, part);
#pragma omp critical(cnc_sum_over)
      all += part;
    });
  } else if (n > 0) {
    Kokkos::parallel_reduce("cnc::sum_over", kokkos_range(exec, 0, n), body, Kokkos::Sum<Sum>(all));
  }
  return all;
}

/// One entry of a view, brought to the host. Waits.
template <class View>
auto fetch(const View& view, offset_t i) {
  const auto at = static_cast<std::size_t>(i);
  if constexpr (is_host_space<typename View::memory_space>) {
    return static_cast<typename View::non_const_value_type>(view(at));
  } else {
    typename View::non_const_value_type entry;
    Kokkos::deep_copy(entry, Kokkos::subview(view, at));
    return entry;
  }
}

// A long scan on a device: sums of chunks, their scan, then a scan of each chunk, by lanes side by side. Kokkos' own, with a thread for
// each element, takes several times as long.

inline constexpr offset_t scan_chunk = 256;

/// sums[chunk] := what the body adds in a chunk
template <class Body>
struct SumChunk {
  offset_t begin, end;
  Body body;
  offset_t* sums;
  template <class Group>
  KOKKOS_INLINE_FUNCTION void operator()(offset_t chunk, const Group& group) const {
    const offset_t first = begin + chunk * scan_chunk, left = end - first;
    const offset_t sum =
        group.sum(static_cast<index_t>(left < scan_chunk ? left : scan_chunk),
                  [&](index_t j, offset_t& part) { body(first + j, part, false); });
    group.each(1, [&](index_t) { sums[chunk] = sum; });
  }
};
/// sums[chunk] := the sum before the chunk
struct AddChunks {
  offset_t* sums;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t chunk, offset_t& sum, bool last) const {
    const offset_t own = sums[chunk];
    if (last) sums[chunk] = sum;
    sum += own;
  }
};
template <class Body>
struct ScanChunk {
  offset_t begin, end;
  Body body;
  const offset_t* sums;
  template <class Group>
  KOKKOS_INLINE_FUNCTION void operator()(offset_t chunk, const Group& group) const {
    const offset_t first = begin + chunk * scan_chunk, left = end - first;
    const offset_t before = sums[chunk];
    group.scan(static_cast<index_t>(left < scan_chunk ? left : scan_chunk),
               [&](index_t j, offset_t& part, bool last) {
                 offset_t sum = before + part;
                 body(first + j, sum, last);
                 part = sum - before;
               });
  }
};

/// Calls body(i, sum, true), which adds to the sum, for i in [begin, end) in this order, and returns the sum. On a
/// device it is called with false before that, when the sum is not known yet. Waits.
/// Errors   OutOfMemory (a long one on a device).
template <class Exec, class Body>
offset_t scan(const Exec& exec, offset_t begin, offset_t end, const Body& body) {
  offset_t sum = 0;
  if constexpr (on_threads<Exec>) {
    for (offset_t i = begin; i < end; ++i) body(i, sum, true);
  } else if (end - begin <= 16 * scan_chunk) {
    Kokkos::parallel_scan("cnc::scan", kokkos_range(exec, begin, end), body, sum);
  } else {
    const offset_t chunks = (end - begin + scan_chunk - 1) / scan_chunk;
    const auto sums = zeroed<offset_t, typename Exec::memory_space>(
        "cnc::scan", static_cast<std::size_t>(chunks) + 1);
    constexpr int lanes = 32;
    on_each_group(exec, chunks, lanes, 0, SumChunk<Body>{begin, end, body, sums.data()});
    Kokkos::parallel_scan("cnc::scan", kokkos_range(exec, 0, chunks + 1), AddChunks{sums.data()});
    on_each_group(exec, chunks, lanes, 0, ScanChunk<Body>{begin, end, body, sums.data()});
    sum = fetch(sums, chunks);
  }
  return sum;
}

/// The least of the keys that a loop reports: a sum, for sum_over. A key may rank two numbers, below 2^32 and below
/// 2^31, by the first and then by the second.
struct Least : Facts {
  static constexpr offset_t nothing = std::numeric_limits<offset_t>::max();
  offset_t key = nothing;

  KOKKOS_INLINE_FUNCTION void report(offset_t other) {
    if (other < key) key = other;
  }
  KOKKOS_INLINE_FUNCTION void report(offset_t first, offset_t second) {
    report((first << 31) | second);
  }
  KOKKOS_INLINE_FUNCTION Least& operator+=(const Least& other) {
    report(other.key);
    return *this;
  }

  bool found() const { return key != nothing; }
  offset_t first() const { return key >> 31; }
  index_t second() const { return static_cast<index_t>(key & 0x7fffffff); }
};

/// Reports i where a row is at fault.
template <class Faulty>
struct ReportFaulty {
  Faulty faulty;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, Least& first) const {
    if (i < first.key && faulty(i)) first.report(i);
  }
};

/// The smallest i in [0, n) for which faulty(i) holds, or -1. Waits.
template <class Exec, class Faulty>
index_t first_row(const Exec& exec, index_t n, const Faulty& faulty) {
  const auto first = sum_over<Least>(exec, n, ReportFaulty<Faulty>{faulty});
  return first.found() ? static_cast<index_t>(first.key) : -1;
}

// Memory that other threads may read and write at the same time, whoever comes last being as good.

template <class T>
KOKKOS_INLINE_FUNCTION T load_shared(T& place) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return place;
#else
  return std::atomic_ref<T>(place).load(std::memory_order_relaxed);
#endif
}
template <class T>
KOKKOS_INLINE_FUNCTION void store_shared(T& place, T value) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  place = value;
#else
  std::atomic_ref<T>(place).store(value, std::memory_order_relaxed);
#endif
}

/// Writes `value` to a place that holds `expected`, and returns what it held.
template <class T>
KOKKOS_INLINE_FUNCTION T exchange_if_equal(T& place, T expected, T value) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return Kokkos::atomic_compare_exchange(&place, expected, value);
#else
  std::atomic_ref<T>(place).compare_exchange_strong(expected, value, std::memory_order_relaxed);
  return expected;
#endif
}

}  // namespace cnc::detail

// Tells Kokkos::Sum where to start.
template <class T>
requires std::is_base_of_v<cnc::detail::Facts, T>
struct Kokkos::reduction_identity<T> {
  KOKKOS_FORCEINLINE_FUNCTION static T sum() { return {}; }
};
