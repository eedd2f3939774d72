#include <cuda_runtime.h>

using cudaDeviceProp_t = cudaDeviceProp;  // the one name without the library's usual ending

#include <gpu/cuda_hip/runtime.hpp>

namespace cnc::gpu::inline CNC_GPU_TARGET {

namespace {

constexpr int least_architecture = 70;  // of the instructions in target/ptx.hpp

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  CNC_GPU_CALL(DeviceGetAttribute, &value, which, device);
  return value;
}

}  // namespace

const char* why_no_device(cudaError_t code) {
  switch (code) {
    case cudaErrorInsufficientDriver:
    case cudaErrorStubLibrary:
      return "no NVIDIA driver, or one older than this CUDA run-time library";
    case cudaErrorNoDevice: return "no NVIDIA GPU found";
    default: return nullptr;
  }
}

Availability usability(const cudaDeviceProp& properties) {
  const std::string name = std::string(properties.name) + ", compute capability " +
                           std::to_string(properties.major) + "." +
                           std::to_string(properties.minor);
  if (properties.major * 10 + properties.minor < least_architecture)
    return {false, name + ": at least 7.0 is needed"};
  // Whether this build holds code for it shows when a kernel is asked for.
  return {true, name};
}

namespace {
__global__ void any_kernel() {}

/// Whether device and what is compiled for it overlap kernels: from architecture 9.0 on.
bool overlaps(int device) {
  const DeviceScope scope(device);
  cudaFuncAttributes attributes;
  CNC_GPU_CALL(FuncGetAttributes, &attributes, reinterpret_cast<const void*>(any_kernel));
  return attribute(cudaDevAttrComputeCapabilityMajor, device) >= 9 && attributes.ptxVersion >= 90;
}
}  // namespace

DeviceFacts ask_facts(int device) {
  const auto bytes = [&](cudaDeviceAttr which) {
    return static_cast<std::size_t>(attribute(which, device));
  };
  return {.processors = attribute(cudaDevAttrMultiProcessorCount, device),
          .wave = attribute(cudaDevAttrWarpSize, device),
          .shared_bytes = bytes(cudaDevAttrMaxSharedMemoryPerBlockOptin),
          .cache_bytes = bytes(cudaDevAttrL2CacheSize),
          .cooperative = attribute(cudaDevAttrCooperativeLaunch, device) != 0,
          .overlaps = overlaps(device)};
}

cudaError_t allocate_pinned(void** data, std::size_t bytes) {
  return cudaHostAlloc(data, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
}
void free_pinned(void* data) { cudaFreeHost(data); }
cudaError_t allocate_for_peers(void** data, std::size_t bytes) { return cudaMalloc(data, bytes); }

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
