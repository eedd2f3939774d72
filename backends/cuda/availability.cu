#include "cuda/availability.hpp"

#include <cuda_runtime.h>

namespace cnc::cuda {
namespace {

constexpr int least_architecture = 70;  // of the instructions in target/gpu.hpp

Availability look() {
  int devices = 0;
  const cudaError_t code = cudaGetDeviceCount(&devices);
  if (code == cudaErrorInsufficientDriver || code == cudaErrorStubLibrary)
    return {false, "no NVIDIA driver, or one older than this CUDA run-time library"};
  if (code == cudaErrorNoDevice || (code == cudaSuccess && devices == 0))
    return {false, "no NVIDIA GPU found"};
  if (code != cudaSuccess) return {false, std::string("CUDA: ") + cudaGetErrorString(code)};
  int device = 0;
  cudaDeviceProp properties{};
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaGetDeviceProperties(&properties, device) != cudaSuccess)
    return {false, "the GPU does not answer"};
  const std::string name = std::string(properties.name) + ", compute capability " +
                           std::to_string(properties.major) + "." +
                           std::to_string(properties.minor);
  if (properties.major * 10 + properties.minor < least_architecture)
    return {false, name + ": at least 7.0 is needed"};
  // Whether this build holds code for it shows when a kernel is asked for.
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
  if (cudaGetDevice(&before) != cudaSuccess || cudaSetDevice(device) != cudaSuccess) return 0;
  const bool known = cudaMemGetInfo(&free, &total) == cudaSuccess;
  cudaSetDevice(before);
  return known ? static_cast<double>(free) : 0;
}

}  // namespace cnc::cuda
