#include "processors.hpp"

#include "control_groups.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

namespace cnc::detail {
namespace {

/// The affinity of the calling thread; a machine may have more processors than a cpu_set_t holds.
int affinity_processors() {
  for (int size = CPU_SETSIZE; size <= 1 << 20; size *= 4) {
    std::vector<cpu_set_t> set(static_cast<std::size_t>(size / CPU_SETSIZE));
    const std::size_t bytes = set.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, set.data()) == 0)
      return std::max(1, CPU_COUNT_S(bytes, set.data()));
  }
  return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

/// The first line of a file; empty where there is none.
std::string line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

int quota_processors(const std::string& text) {
  std::istringstream words(text);
  double quota = 0, period = 0;  // "max" and version 1's -1 are no limit
  if (!(words >> quota >> period) || !(quota > 0) || !(period > 0)) return 0;
  return static_cast<int>(std::clamp(std::ceil(quota / period), 1.0, 1e6));
}

int quota_processors(const std::string& membership, const std::string& root) {
  int least = 0;
  for_each_control_group(membership, root, "cpu", [&](const std::string& group, int version) {
    const int processors =
        quota_processors(version == 2 ? line_of(group + "/cpu.max")
                                      : line_of(group + "/cpu.cfs_quota_us") + " " +
                                            line_of(group + "/cpu.cfs_period_us"));
    if (processors > 0 && (least == 0 || processors < least)) least = processors;
  });
  return least;
}

int usable_processors() {
  // The quota is read once: it is a few files, and set when a container starts.
  static const int quota = quota_processors(control_group_membership(), control_group_root);
  const int processors = affinity_processors();
  return quota > 0 ? std::min(quota, processors) : processors;
}

int threads_of(int openmp_threads) {
  if (std::getenv("OMP_NUM_THREADS") != nullptr) return openmp_threads;
  return std::min(openmp_threads, usable_processors());
}

}  // namespace cnc::detail
