#include "kokkos/pass.hpp"

namespace cnc::kokkos {

template struct Passes<HostExec, float>;
CNC_IF_DEVICE(template struct Passes<DeviceExec, float>;)

}  // namespace cnc::kokkos
