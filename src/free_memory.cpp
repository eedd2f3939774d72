#include "free_memory.hpp"

#include "control_groups.hpp"

#include <cnc/vector.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace cnc::detail {
namespace {

/// The number that a file starts with; unknown_bytes for "max" or where there is no such file.
std::size_t number_in(const std::string& path) {
  std::ifstream file(path);
  std::size_t value = 0;
  return file >> value ? value : unknown_bytes;
}

/// The sum of the numbers that stand after any of `keys` in lines of "key number".
template <class... Keys>
std::size_t sum_of(const std::string& path, const Keys&... keys) {
  std::ifstream file(path);
  std::size_t sum = 0;
  std::string key, rest;
  for (std::size_t value = 0; file >> key >> value; std::getline(file, rest))
    if (((key == keys) || ...)) sum += value;
  return sum;
}

std::size_t available_to_the_machine() {
  const std::string facts = "/proc/meminfo";
  const std::size_t kibibytes = sum_of(facts, "MemAvailable:", "SwapFree:");
  if (kibibytes > 0) return kibibytes * 1024;
  const long pages = sysconf(_SC_AVPHYS_PAGES);
  return pages > 0
             ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE))
             : unknown_bytes;
}

/// What RLIMIT_AS ("ulimit -v") leaves.
std::size_t left_of_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unknown_bytes;
  const std::size_t pages = number_in("/proc/self/statm");
  if (pages == unknown_bytes) return unknown_bytes;
  const std::size_t used = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

/// The files of one version of control groups, and the names of the page cache of files in its statistics.
struct GroupFiles {
  const char* limit;
  const char* used;
  const char* inactive_file;
  const char* active_file;
};
constexpr GroupFiles files_of_version[] = {
    {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file", "total_active_file"},
    {"memory.max", "memory.current", "inactive_file", "active_file"}};

std::size_t left_of_group(const std::string& directory, const GroupFiles& files) {
  const std::size_t limit = number_in(directory + "/" + files.limit);
  if (limit == unknown_bytes) return unknown_bytes;
  const std::size_t used = number_in(directory + "/" + files.used);
  if (used == unknown_bytes) return limit;
  // The page cache counts as used, and is given back before the group is out of memory.
  const std::size_t cache = sum_of(directory + "/memory.stat", std::string(files.inactive_file),
                                   std::string(files.active_file));
  const std::size_t held = used > cache ? used - cache : 0;
  return limit > held ? limit - held : 0;
}

}  // namespace

std::size_t free_group_bytes(const std::string& membership, const std::string& root) {
  std::size_t least = unknown_bytes;
  for_each_control_group(membership, root, "memory", [&](const std::string& group, int version) {
    least = std::min(least, left_of_group(group, files_of_version[version - 1]));
  });
  return least;
}

std::size_t free_host_bytes() {
  return std::min({available_to_the_machine(), left_of_address_space(),
                   free_group_bytes(control_group_membership(), control_group_root)});
}

}  // namespace cnc::detail
