#pragma once

#include <target/gpu.hpp>

// Which kernels are compiled of those that differ in a constant alone (CNC_KERNELS), the same in all sources of a target.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// All; or the small set, which compiles in about half the time. It has none for blocks of 4, 5, 6 and 8 rows and for rows of CSR
/// shared by 4, 16 or 32 lanes, which take others, and fewer resident ones (has_resident_form).
#ifdef CNC_SMALL_KERNEL_SET
inline constexpr bool all_kernels = false;
#else
inline constexpr bool all_kernels = true;
#endif

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
