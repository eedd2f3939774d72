#pragma once

#include "kokkos/sum.hpp"

#include <cnc/contract/queue.hpp>
#include <cnc/contract/types.hpp>

#include <Kokkos_Core.hpp>

// How kernels are launched. Labels have at most 15 characters: Kokkos takes them as std::string,
// and a longer one would allocate on every launch.
//
// Contract functions that a kernel calls are constexpr and not marked for a device; nvcc takes them
// with --expt-relaxed-constexpr (see CMakeLists.txt), the other device compilers as they are.

namespace cnc::kokkos {

/// Threads of a team and vector lanes of a thread. Fixed numbers, because the shape of a team
/// decides the order in which it sums.
struct TeamShape {
  int threads;
  int lanes;
};

template <class Exec>
inline constexpr bool is_host = Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible;

/// One thread per entry or per block of entries.
template <class Exec>
inline constexpr TeamShape entry_team = is_host<Exec> ? TeamShape{1, 1} : TeamShape{128, 1};

/// The lanes share a (block) row.
template <class Exec>
inline constexpr TeamShape row_team = is_host<Exec> ? TeamShape{1, 1} : TeamShape{32, 8};

template <class Exec>
using Team = typename Kokkos::TeamPolicy<Exec>::member_type;

/// The context's instance of the execution space.
template <class Exec>
Exec execution_space(const Queue& queue) {
  return queue.execution_space ? *static_cast<const Exec*>(queue.execution_space) : Exec();
}

/// Units of `scalars` rows each that make up one partial sum: at least reduction_block rows, as
/// reduction_slots expects, and a multiple of 32 so that groups of SIMD lanes are not cut in two.
constexpr index_t units_per_part(int scalars) {
  return ceil_div(reduction_block / scalars, 32) * 32;
}

/// body(i) for i in [0, n).
template <class Exec, class Body>
void for_each_entry(const char* label, const Queue& queue, index_t n, const Body& body) {
  const Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>> policy(execution_space<Exec>(queue),
                                                                     0, n);
  Kokkos::parallel_for(label, policy, body);
}

// Kernels of these headers are function objects and not lambdas: a lambda for host and device in a template that
// several sources instantiate can lose the host half that nvcc makes for it, and then copies call nowhere.

/// One part of a loop over units.
template <class Exec, class Body>
struct PartKernel {
  Body body;
  index_t units;
  index_t part;
  KOKKOS_INLINE_FUNCTION void operator()(const Team<Exec>& team) const {
    const index_t begin = static_cast<index_t>(team.league_rank()) * part;
    const index_t end = units - begin < part ? units : begin + part;
    body(team, begin, end);
  }
};

/// body(team, begin, end) for consecutive ranges of `part` units that cover [0, units). One empty
/// range when there are no units, so that a body which also moves scalars does so.
template <class Exec, class Body>
void for_each_part(const char* label, const Queue& queue, TeamShape shape, index_t units,
                   index_t part, const Body& body) {
  const index_t parts = units == 0 ? 1 : ceil_div(units, part);
  const Kokkos::TeamPolicy<Exec> policy(execution_space<Exec>(queue), parts, shape.threads,
                                        shape.lanes);
  Kokkos::parallel_for(label, policy, PartKernel<Exec, Body>{body, units, part});
}

/// kernel(team) on one team.
template <class Exec, class Kernel>
void for_one_team(const char* label, const Queue& queue, const Kernel& kernel) {
  constexpr TeamShape shape = entry_team<Exec>;
  const Kokkos::TeamPolicy<Exec> policy(execution_space<Exec>(queue), 1, shape.threads,
                                        shape.lanes);
  Kokkos::parallel_for(label, policy, kernel);
}

/// The sum of all partial sums, on one team. T is double, or a compensated sum.
template <class Exec, class T, int N, class Store>
struct FinishSumKernel {
  const T* partials;
  index_t parts;
  Store store;
  KOKKOS_INLINE_FUNCTION void operator()(const Team<Exec>& team) const {
    const T* from = partials;
    Sum<T, N> total;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, index_t(0), parts),
        [&](const index_t i, Sum<T, N>& sum) {
          for (int k = 0; k < N; ++k) sum.value[k] += from[i * N + k];
        },
        total);
    Kokkos::single(Kokkos::PerTeam(team), [&]() { store(total); });
  }
};

/// Adds up the `parts` partial sums in a fixed order and hands the total to store, once.
template <class Exec, class T, int N, class Store>
void finish_sum(const Queue& queue, const T* partials, index_t parts, const Store& store) {
  for_one_team<Exec>("cnc::finish_sum", queue,
                     FinishSumKernel<Exec, T, N, Store>{partials, parts, store});
}

/// One part of a sum: what the body adds up over its range becomes a partial sum.
template <class Exec, int N, class Body, class T = double>
struct PartSum {
  Body body;
  T* partials;
  index_t part;
  KOKKOS_INLINE_FUNCTION void operator()(const Team<Exec>& team, index_t begin, index_t end) const {
    Sum<T, N> sum;
    body(team, begin, end, sum);
    T* to = partials + begin / part * N;
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      for (int k = 0; k < N; ++k) to[k] = sum.value[k];
    });
  }
};

/// body(team, begin, end, sum) leaves the sum over its range in `sum`; the total goes to
/// store(total). The ranges depend on `units` alone and both passes sum in a fixed order, so the
/// bits of the result depend neither on the run nor on the number of threads.
template <class Exec, int N, class T = double, class Body, class Store>
void sum_parts(const char* label, const Queue& queue, TeamShape shape, index_t units, index_t part,
               const Body& body, const Store& store) {
  auto* const partials = reinterpret_cast<T*>(queue.partials);
  for_each_part<Exec>(label, queue, shape, units, part,
                      PartSum<Exec, N, Body, T>{body, partials, part});
  finish_sum<Exec, T, N>(queue, partials, ceil_div(units, part), store);
}

/// Stores one sum as it is.
struct StoreSum {
  double* result;
  KOKKOS_INLINE_FUNCTION void operator()(const Sum<double, 1>& total) const {
    *result = total.value[0];
  }
};

}  // namespace cnc::kokkos
