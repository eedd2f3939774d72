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
  if constexpr (sizeof(T) == 2) {
    unsigned short a;
    asm volatile("ld.global.nc.L1::no_allocate.b16 %0, [%1];" : "=h"(a) : "l"(from));
    memcpy(&value, &a, sizeof value);
  } else if constexpr (sizeof(T) == 4) {
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

/// Architectures before 9.0 do not overlap kernels.
__device__ __forceinline__ void wait_for_kernel_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" : : : "memory");
#endif
}
__device__ __forceinline__ void let_next_kernel_begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" : : : "memory");
#endif
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

__device__ __forceinline__ void add_relaxed(std::uint32_t* counter, std::uint32_t value) {
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" : : "l"(counter), "r"(value) : "memory");
}
__device__ __forceinline__ std::uint32_t load_relaxed(const std::uint32_t* from) {
  std::uint32_t value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}
__device__ __forceinline__ std::uint64_t load_relaxed(const std::uint64_t* from) {
  unsigned long long value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}
__device__ __forceinline__ void store_relaxed(std::uint64_t* to, std::uint64_t value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;"
               :
               : "l"(to), "l"(static_cast<unsigned long long>(value))
               : "memory");
}
/// Two words side by side, each whole in itself.
__device__ __forceinline__ void load_relaxed(const std::uint64_t* from, std::uint64_t (&words)[2]) {
  unsigned long long first, second;
  asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(first), "=l"(second)
               : "l"(from)
               : "memory");
  words[0] = first;
  words[1] = second;
}
__device__ __forceinline__ void store_relaxed(std::uint64_t* to, const std::uint64_t (&words)[2]) {
  asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};"
               :
               : "l"(to), "l"(static_cast<unsigned long long>(words[0])),
                 "l"(static_cast<unsigned long long>(words[1]))
               : "memory");
}

/// The same between devices.
__device__ __forceinline__ void load_relaxed_of_system(const std::uint64_t* from,
                                                       std::uint64_t (&words)[2]) {
  unsigned long long first, second;
  asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(first), "=l"(second)
               : "l"(from)
               : "memory");
  words[0] = first;
  words[1] = second;
}
__device__ __forceinline__ void store_relaxed_of_system(std::uint64_t* to,
                                                        const std::uint64_t (&words)[2]) {
  asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};"
               :
               : "l"(to), "l"(static_cast<unsigned long long>(words[0])),
                 "l"(static_cast<unsigned long long>(words[1]))
               : "memory");
}
__device__ __forceinline__ std::uint64_t load_relaxed_of_system(const std::uint64_t* from) {
  unsigned long long value;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}
__device__ __forceinline__ void store_relaxed_of_system(std::uint64_t* to, std::uint64_t value) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;"
               :
               : "l"(to), "l"(static_cast<unsigned long long>(value))
               : "memory");
}

}  // namespace cnc::gpu::ptx
