#include <openmp/gathers.hpp>
#include <openmp/openmp.hpp>

#include <parallel.hpp>

#include <fstream>
#include <string>

namespace cnc {
namespace {

const Backend& widest_variant() {
#ifdef CNC_HAVE_AVX
  if (openmp_avx512_backend.availability().usable) return openmp_avx512_backend;
  if (openmp_avx2_backend.availability().usable) return openmp_avx2_backend;
#endif
  return openmp_portable_backend;
}

bool find_fast_gathers() {
#ifdef CNC_HAVE_AVX
  __builtin_cpu_init();
  if (!__builtin_cpu_is("intel")) return false;
  std::ifstream file("/sys/devices/system/cpu/vulnerabilities/gather_data_sampling");
  std::string state;
  std::getline(file, state);
  return state.rfind("Mitigation", 0) != 0;
#else
  return false;
#endif
}

Availability availability() {
  const int threads = detail::set_up_threads();
  return {true, std::string(widest_variant().description) + ", " + std::to_string(threads) +
                    (threads == 1 ? " thread" : " threads")};
}

Backend chosen_backend() {
  Backend backend = widest_variant();
  backend.name = "openmp";
  backend.description = "OpenMP threads with the widest vectors of this processor";
  backend.variant = false;
  backend.availability = availability;
  return backend;
}

}  // namespace

bool openmp::gathers_are_fast = find_fast_gathers();

const Backend& openmp_backend() {
  static const Backend backend = chosen_backend();
  return backend;
}

}  // namespace cnc
