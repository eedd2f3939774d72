#include "convert/device_space.hpp"

#ifdef CNC_KOKKOS_HAS_DEVICE
#include "convert/settled.hpp"
#include "precondition/portable.hpp"

// What set_up_preconditioner.cpp defines for host matrices, for device matrices.

namespace cnc {

using detail::DeviceExec;
using detail::DeviceSpace;
using detail::Settled;

#define CNC_DEFINE(V, S)                                                             \
  template <>                                                                        \
  PreconditionerSetup set_up_preconditioner(const CsrMatrix<S, DeviceSpace>& A,      \
                                            PreconditionerKind kind, int block_size, \
                                            Preconditioner<V, DeviceSpace>& M) {     \
    const Settled settled;                                                           \
    return portable::set_up_preconditioner<DeviceExec>(A, kind, block_size, M);      \
  }
CNC_DEFINE(float, float)
CNC_DEFINE(float, double)
CNC_DEFINE(double, float)
CNC_DEFINE(double, double)
#undef CNC_DEFINE

}  // namespace cnc
#endif
