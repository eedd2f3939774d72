#pragma once

#include "team.hpp"

#include <cstdlib>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace cnc::testing {

/// Teams are formed whatever else the machine runs.
[[maybe_unused]] inline const bool teams_are_formed = [] {
  detail::crowd_rule = [](int) { return false; };
  return true;
}();

/// So many threads for set-up, more than processors too, for the scope of an object of this type.
struct Threads {
#ifdef _OPENMP
  explicit Threads(int threads) {
    if (!asked) setenv("OMP_NUM_THREADS", "7", 1);
    omp_set_num_threads(threads);
  }
  ~Threads() {
    omp_set_num_threads(before);
    if (!asked) unsetenv("OMP_NUM_THREADS");
  }
  int before = omp_get_max_threads();
  bool asked = std::getenv("OMP_NUM_THREADS") != nullptr;
#else
  explicit Threads(int) {}
#endif
};

}  // namespace cnc::testing
