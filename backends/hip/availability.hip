#include "hip/availability.hpp"

#include <hip/hip_runtime.h>

#include <string>
#include <string_view>

namespace cnc::hip {
namespace {

/// What this build holds code for, separated by blanks.
constexpr std::string_view compiled = CNC_HIP_ARCHITECTURES;

/// "gfx90a" of "gfx90a:sramecc+:xnack-".
std::string_view processor_of(std::string_view architecture) {
  return architecture.substr(0, architecture.find(':'));
}

bool is_compiled(std::string_view processor) {
  for (std::string_view left = compiled; !left.empty();) {
    const std::size_t end = std::min(left.find(' '), left.size());
    if (processor_of(left.substr(0, end)) == processor) return true;
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return false;
}

Availability look() {
  int devices = 0;
  const hipError_t code = hipGetDeviceCount(&devices);
  if (code == hipErrorNoDevice || (code == hipSuccess && devices == 0))
    return {false, "no GPU that HIP can use, or no driver for one"};
  if (code != hipSuccess) return {false, std::string("HIP: ") + hipGetErrorString(code)};
  int device = 0;
  hipDeviceProp_t properties;
  if (hipGetDevice(&device) != hipSuccess ||
      hipGetDeviceProperties(&properties, device) != hipSuccess)
    return {false, "the GPU does not answer"};
  const std::string processor(processor_of(properties.gcnArchName));
  const std::string name = std::string(properties.name) + ", " + processor;
  if (!is_compiled(processor))
    return {false, name + ": this build holds code for " + std::string(compiled)};
  return {true, name + ", " + std::to_string(properties.multiProcessorCount) + " processors" +
                    (devices > 1 ? ", " + std::to_string(devices) + " devices" : "")};
}

}  // namespace

Availability availability() {
  static const Availability seen = look();
  return seen;
}

double free_bytes(int device) {
  int before = 0;
  std::size_t free = 0, total = 0;
  if (hipGetDevice(&before) != hipSuccess || hipSetDevice(device) != hipSuccess) return 0;
  const bool known = hipMemGetInfo(&free, &total) == hipSuccess;
  (void)hipSetDevice(before);
  return known ? static_cast<double>(free) : 0;
}

}  // namespace cnc::hip
