#include "harness/machine.hpp"

#include "peers/peers.hpp"

#include <cnc/backend.hpp>
#include <cnc/model.hpp>
#include <cnc/version.hpp>

#include <Kokkos_Core.hpp>

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace cnc::perf {
namespace {

using Json = nlohmann::ordered_json;

/// The value of the first line "key : value" of a file.
std::string value_in(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const std::size_t colon = line.find(':');
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    if (colon != std::string::npos && begin != std::string::npos) return line.substr(begin);
  }
  return "";
}

double load_average() {
  double load[1] = {-1};
  return getloadavg(load, 1) == 1 ? load[0] : -1;
}

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "g++ " __VERSION__;
#else
  return "unknown";
#endif
}

}  // namespace

Json describe_machine(int threads) {
  Json machine;
  const std::string model = value_in("/proc/cpuinfo", "model name");
  if (!model.empty()) machine["cpu"] = model;
  machine["logical_cpus"] = sysconf(_SC_NPROCESSORS_ONLN);
  machine["threads"] = threads;
  machine["last_level_cache_bytes"] = last_level_cache_bytes();
  machine["memory_bytes"] =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  machine["load_average_at_start"] = load_average();
  for (const char* name : {"OMP_PROC_BIND", "OMP_PLACES", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT"})
    if (const char* value = std::getenv(name)) machine["environment"][name] = value;
  return machine;
}

Json describe_build(const std::string& commit) {
  Json build;
  build["version"] = version_string;
  build["commit"] = commit.empty() ? CNC_PERF_COMMIT : commit;
  build["compiler"] = compiler();
  build["flags"] = CNC_PERF_FLAGS;
  build["peer_flags"] = CNC_PERF_PEER_FLAGS;
  build["kokkos_host_space"] = Kokkos::DefaultHostExecutionSpace::name();
  build["peers"] = peer_versions();
  for (const Backend* backend : backends()) {
    const Availability availability = backend->availability();
    build["backends"][backend->name] =
        availability.usable ? availability.detail : "not usable: " + availability.detail;
  }
  return build;
}

}  // namespace cnc::perf
