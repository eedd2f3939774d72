#pragma once

#include <cnc/contract/types.hpp>

#include "processors.hpp"
#include "team.hpp"

#include <exception>

namespace cnc::detail {

/// Threads that a parallel region of set-up code uses.
inline int set_up_threads() {
#ifdef _OPENMP
  return threads_of(omp_get_max_threads());
#else
  return 1;
#endif
}

/// Threads for a loop over n: one when n is too small to be worth waking the others.
inline int threads_for(offset_t n, int threads = set_up_threads()) {
  return n > 2048 ? threads : 1;
}

/// Where the k-th of `parts` equal ranges of [0, n) begins.
template <class Index>
constexpr Index range_begin(Index n, int k, int parts) {
  return static_cast<Index>(static_cast<offset_t>(n) / parts * k +
                            static_cast<offset_t>(n) % parts * k / parts);
}

/// Calls body(i) for i in [0, n) on up to `threads` threads, equal ranges of i each. The first
/// exception that a body throws is rethrown here.
template <class Index, class Body>
void parallel_for(Index n, const Body& body, int threads) {
  std::exception_ptr failure;
  run_team(threads, Shares::unknown, [&](const Team& team) {
    const Index end = range_begin(n, team.part() + 1, team.parts());
    for (Index i = range_begin(n, team.part(), team.parts()); i < end; ++i) {
      try {
        body(i);
      } catch (...) {
#pragma omp critical(cnc_parallel_failure)
        if (!failure) failure = std::current_exception();
      }
    }
  });
  if (failure) std::rethrow_exception(failure);
}

/// The same on all threads, or on one when n is too small to be worth waking them.
template <class Index, class Body>
void parallel_for(Index n, const Body& body) {
  parallel_for(n, body, threads_for(n));
}

/// Calls body(begin, end, part) for `parts` consecutive ranges that cover [0, n), one thread each.
template <class Index, class Body>
void parallel_ranges(Index n, int parts, const Body& body) {
  parallel_for(
      parts,
      [&](int part) { body(range_begin(n, part, parts), range_begin(n, part + 1, parts), part); },
      parts);
}

}  // namespace cnc::detail
