#pragma once

#include <cnc/contract/types.hpp>

#include <exception>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace cnc::detail {

/// Threads that a parallel region of set-up code uses.
inline int set_up_threads() {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

/// Calls body(i) for i in [0, n) on up to `threads` threads, equal ranges of i each. The first
/// exception that a body throws is rethrown here.
template <class Index, class Body>
void parallel_for(Index n, const Body& body, int threads) {
  std::exception_ptr failure;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (Index i = 0; i < n; ++i) {
    try {
      body(i);
    } catch (...) {
#pragma omp critical(cnc_parallel_failure)
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

/// The same on all threads, or on one when n is too small to be worth waking them.
template <class Index, class Body>
void parallel_for(Index n, const Body& body) {
  parallel_for(n, body, n > 2048 ? set_up_threads() : 1);
}

/// Calls body(begin, end, part) for `parts` consecutive ranges that cover [0, n), one thread each.
template <class Index, class Body>
void parallel_ranges(Index n, int parts, const Body& body) {
  const auto at = [=](int k) {
    return static_cast<Index>(static_cast<offset_t>(n) / parts * k +
                              static_cast<offset_t>(n) % parts * k / parts);
  };
  parallel_for(
      parts, [&](int part) { body(at(part), at(part + 1), part); }, parts);
}

}  // namespace cnc::detail
