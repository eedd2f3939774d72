#include "io/memory_limit.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

namespace cnc::detail {

namespace {

constexpr std::size_t unknown = std::numeric_limits<std::size_t>::max();

std::size_t number_in(const char* path) {
  std::ifstream file(path);
  std::size_t value = 0;
  return file >> value ? value : unknown;  // "max" means no limit
}

std::size_t system_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::size_t kibibytes = 0;
  std::string unit;
  while (file >> key >> kibibytes) {
    if (key == "MemAvailable:") {
      return kibibytes * 1024;
    }
    std::getline(file, unit);
  }
  return unknown;
}

std::size_t control_group_memory() {
  const std::size_t limit = number_in("/sys/fs/cgroup/memory.max");
  const std::size_t used = number_in("/sys/fs/cgroup/memory.current");
  if (limit == unknown || used == unknown) {
    return unknown;
  }
  return limit > used ? limit - used : 0;
}

}  // namespace

std::size_t available_memory() {
  const std::size_t bytes = std::min(system_memory(), control_group_memory());
  return bytes == unknown ? 0 : bytes;
}

void check_memory(const std::string& name, double bytes, const ReadOptions& options) {
  // Asking the system costs more than reading a small file.
  constexpr double always_granted = 64.0 * 1024 * 1024;
  if (options.memory_limit == 0 && bytes <= always_granted) {
    return;
  }
  const std::size_t limit = options.memory_limit > 0 ? options.memory_limit : available_memory();
  if (limit > 0 && bytes > static_cast<double>(limit)) {
    throw OutOfMemory(name, static_cast<std::size_t>(bytes), limit);
  }
}

}  // namespace cnc::detail
