#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

// Instructions of NVIDIA GPUs that CUDA has no function for.

namespace cnc::gpu::ptx {

/// Reads memory that nobody writes during the kernel, without a place in the first-level cache.
template <class T>
__device__ __forceinline__ T load_once(const T* from) {
  T value;
  if constexpr (sizeof(T) == 4) {
    unsigned a;
    asm volatile("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(a) : "l"(from));
    memcpy(&value, &a, sizeof value);
  } else if constexpr (sizeof(T) == 8) {
    unsigned long long a;
    asm volatile("ld.global.nc.L1::no_allocate.b64 %0, [%1];" : "=l"(a) : "l"(from));
    memcpy(&value, &a, sizeof value);
  } else {
    static_assert(sizeof(T) == 16);
    unsigned long long a[2];
    asm volatile("ld.global.nc.L1::no_allocate.v2.b64 {%0, %1}, [%2];"
                 : "=l"(a[0]), "=l"(a[1])
                 : "l"(from));
    memcpy(&value, a, sizeof value);
  }
  return value;
}

__device__ __forceinline__ void add_release(std::uint32_t* counter, std::uint32_t value) {
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" : : "l"(counter), "r"(value) : "memory");
}
__device__ __forceinline__ std::uint32_t load_acquire(const std::uint32_t* counter) {
  std::uint32_t value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(counter) : "memory");
  return value;
}
/// Past this processor's first-level cache.
__device__ __forceinline__ double load_remote(const double* from) {
  double value;
  asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(value) : "l"(from) : "memory");
  return value;
}

}  // namespace cnc::gpu::ptx
