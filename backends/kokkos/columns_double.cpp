#include "kokkos/columns.hpp"

namespace cnc::kokkos {

template struct Columns<HostExec, double>;
CNC_IF_DEVICE(template struct Columns<DeviceExec, double>;)

#define CNC_INSTANTIATE(Operand)                            \
  template struct ColumnProduct<HostExec, Operand, double>; \
  CNC_IF_DEVICE(template struct ColumnProduct<DeviceExec, Operand, double>;)
CNC_INSTANTIATE(BcsrOperand<float>)
CNC_INSTANTIATE(BsellOperand<float>)
CNC_INSTANTIATE(DiaOperand<float>)
CNC_INSTANTIATE(BcsrOperand<double>)
CNC_INSTANTIATE(BsellOperand<double>)
CNC_INSTANTIATE(DiaOperand<double>)

}  // namespace cnc::kokkos
