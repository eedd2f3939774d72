#include "kokkos/columns.hpp"

namespace cnc::kokkos {

template struct Columns<HostExec, float>;
CNC_IF_DEVICE(template struct Columns<DeviceExec, float>;)

#define CNC_INSTANTIATE(Operand)                           \
  template struct ColumnProduct<HostExec, Operand, float>; \
  CNC_IF_DEVICE(template struct ColumnProduct<DeviceExec, Operand, float>;)
CNC_INSTANTIATE(BcsrOperand<float>)
CNC_INSTANTIATE(BsellOperand<float>)
CNC_INSTANTIATE(DiaOperand<float>)

}  // namespace cnc::kokkos
