#include "session.hpp"

#include <cnc/context.hpp>

#ifdef _OPENMP
#include <omp.h>
#endif

#include <cstdlib>

namespace cnc::cli {

Session::Session(int threads) {
  detail::require_threads(threads);
#ifdef _OPENMP
  if (threads > 0) omp_set_num_threads(threads);
#endif
  (void)threads;
  // Kokkos' advice on thread binding is no business of a user who wants one clear line at most.
  setenv("KOKKOS_DISABLE_WARNINGS", "1", 0);
  guard_ = std::make_unique<Kokkos::ScopeGuard>();
}

}  // namespace cnc::cli
