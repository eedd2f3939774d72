#include "hip/hip.hpp"

#include <gpu/table.hpp>

// The table is for the host. In the compiler's pass over device code a constant belongs to the device, and
// this one would ask there for host functions.
#ifndef __HIP_DEVICE_COMPILE__

namespace cnc {
namespace {

using gpu::RowMapping;
using Tables = gpu::Tables<CNC_HIP_WAVES>;

}  // namespace

constexpr Backend hip_backend = Tables::backend({"hip", "hand-written HIP kernels"});

constexpr Backend hip_row_per_block_backend = Tables::backend<RowMapping::row_per_block>(
    {"hip-row-per-block", "one thread block per block row (Verschoor & Jalba 2012)"});

constexpr Backend hip_row_per_wave_backend = Tables::backend<RowMapping::row_per_wave>(
    {"hip-row-per-wave", "one wave per block row (Verschoor & Jalba 2012)"});

constexpr Backend hip_balanced_backend = Tables::backend<RowMapping::balanced>(
    {"hip-balanced", "equal numbers of nonzeros per thread block (Dehnavi et al. 2010)"});

}  // namespace cnc

#endif
