#include <gpu/cuda_hip/runtime.hpp>

#include <algorithm>
#include <string_view>

namespace cnc::gpu::inline CNC_GPU_TARGET {

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

int attribute(hipDeviceAttribute_t which, int device) {
  int value = 0;
  CNC_GPU_CALL(DeviceGetAttribute, &value, which, device);
  return value;
}

}  // namespace

const char* why_no_device(hipError_t code) {
  return code == hipErrorNoDevice ? "no GPU that HIP can use, or no driver for one" : nullptr;
}

Availability usability(const hipDeviceProp_t& properties) {
  const std::string processor(processor_of(properties.gcnArchName));
  const std::string name = std::string(properties.name) + ", " + processor;
  if (!is_compiled(processor))
    return {false, name + ": this build holds code for " + std::string(compiled)};
  return {true, name};
}

DeviceFacts ask_facts(int device) {
  const auto bytes = [&](hipDeviceAttribute_t which) {
    return static_cast<std::size_t>(attribute(which, device));
  };
  return {.processors = attribute(hipDeviceAttributeMultiprocessorCount, device),
          .wave = attribute(hipDeviceAttributeWarpSize, device),
          .shared_bytes = bytes(hipDeviceAttributeMaxSharedMemoryPerBlock),
          .cache_bytes = bytes(hipDeviceAttributeL2CacheSize),
          .cooperative = attribute(hipDeviceAttributeCooperativeLaunch, device) != 0};
}

hipError_t allocate_pinned(void** data, std::size_t bytes) {
  return hipHostMalloc(data, bytes,
                       hipHostMallocPortable | hipHostMallocMapped | hipHostMallocCoherent);
}
void free_pinned(void* data) { (void)hipHostFree(data); }
hipError_t allocate_for_peers(void** data, std::size_t bytes) {
  return hipExtMallocWithFlags(data, bytes, hipDeviceMallocFinegrained);
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
