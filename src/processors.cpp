#include "processors.hpp"

#include "control_groups.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace cnc::detail {
namespace {

/// The first line of a file; empty where there is none.
std::string line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

int affinity_processors() {
#ifdef _OPENMP
  // Where OpenMP binds its threads one by one, the mask of one of them says nothing about the team.
  static const bool bound = [] {
    for (const char* name : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"})
      if (std::getenv(name) != nullptr) return true;
    return false;
  }();
  if (bound) return std::max(1, omp_get_num_procs());
#endif
  cpu_set_t set[16];  // a machine may have more processors than one holds
  if (sched_getaffinity(0, sizeof set, set) == 0) return std::max(1, CPU_COUNT_S(sizeof set, set));
  return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

int running_tasks(std::string_view text) {
  for (int averages = 0; averages < 3; ++averages) {
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos) return 0;
    text.remove_prefix(space + 1);
  }
  int running = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), running);
  const bool complete = error == std::errc() && end != text.data() + text.size() && *end == '/';
  return complete ? running : 0;
}

bool is_crowded(int threads) {
  const int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[128];
  const ssize_t size = read(file, text, sizeof text);
  close(file);
  if (size <= 0) return false;
  // The team's own threads may be running still: they spin before they sleep.
  const int processors = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  if (affinity_processors() < processors) return false;  // the load may be on the others
  return running_tasks({text, static_cast<std::size_t>(size)}) - std::min(threads, processors) >=
         processors;
}

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

int most_threads() {
  static const long most = std::max(256L, 8 * sysconf(_SC_NPROCESSORS_CONF));
  return static_cast<int>(most);
}

int threads_of(int openmp_threads) {
  if (std::getenv("OMP_NUM_THREADS") != nullptr) return std::min(openmp_threads, most_threads());
  return std::min(openmp_threads, usable_processors());
}

}  // namespace cnc::detail
