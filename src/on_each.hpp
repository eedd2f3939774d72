#pragma once

#include <cnc/context.hpp>

#include "convert/checks.hpp"
#include "parallel.hpp"

#include <atomic>

namespace cnc::detail {

// Loops of the set-up, on the host with the threads of the library, which a serial Kokkos lacks, and on
// a device as Kokkos kernels. Labels are short: Kokkos takes them as std::string.

/// body(i) for i in [0, n), enqueued on exec.
template <class Exec, class Body>
void on_each(const Exec& exec, offset_t n, const Body& body) {
  if constexpr (is_host_space<typename Exec::memory_space>)
    parallel_for(n, body);
  else
    Kokkos::parallel_for("cnc::on_each",
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<offset_t>>(exec, 0, n), body);
}

/// The sum of what body(i, sum) adds for i in [0, n). Waits.
template <class Exec, class Body>
offset_t sum_over(const Exec& exec, offset_t n, const Body& body) {
  if constexpr (is_host_space<typename Exec::memory_space>) {
    std::atomic<offset_t> sum{0};
    parallel_ranges(n, n > 2048 ? set_up_threads() : 1, [&](offset_t begin, offset_t end, int) {
      offset_t part = 0;
      for (offset_t i = begin; i < end; ++i) body(i, part);
      sum += part;
    });
    return sum;
  } else {
    offset_t sum = 0;
    Kokkos::parallel_reduce("cnc::sum_over",
                            Kokkos::RangePolicy<Exec, Kokkos::IndexType<offset_t>>(exec, 0, n),
                            body, sum);
    return sum;
  }
}

/// The same on the threads of a context.
template <class Exec, class Body>
void on_each(const Context<Exec>& ctx, offset_t n, const Body& body) {
  if constexpr (is_host_space<typename Exec::memory_space>)
    parallel_for(n, body, n > 2048 ? ctx.threads() : 1);
  else
    on_each(ctx.execution_space_instance(), n, body);
}

/// Lowers `first` to i where a row is at fault.
template <class Faulty>
struct LowerFirst {
  Faulty faulty;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, offset_t& first) const {
    if (i < first && faulty(i)) first = i;
  }
};

/// The smallest i in [0, n) for which faulty(i) holds, or -1. Waits.
template <class Exec, class Faulty>
index_t first_row(const Exec& exec, index_t n, const Faulty& faulty) {
  if constexpr (is_host_space<typename Exec::memory_space>) {
    return first_fault(n, faulty);
  } else {
    offset_t first = n;
    Kokkos::parallel_reduce("cnc::first_row",
                            Kokkos::RangePolicy<Exec, Kokkos::IndexType<offset_t>>(exec, 0, n),
                            LowerFirst<Faulty>{faulty}, Kokkos::Min<offset_t>(first));
    return first < n ? static_cast<index_t>(first) : -1;
  }
}

}  // namespace cnc::detail
