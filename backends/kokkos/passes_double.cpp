#include "kokkos/pass.hpp"

namespace cnc::kokkos {

template struct Passes<HostExec, double>;
CNC_IF_DEVICE(template struct Passes<DeviceExec, double>;)

}  // namespace cnc::kokkos
