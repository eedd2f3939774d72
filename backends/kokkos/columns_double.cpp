#include "kokkos/columns.hpp"

namespace cnc::kokkos {

CNC_INSTANTIATE_COLUMNS(double)
CNC_INSTANTIATE_COLUMN_PRODUCTS(float, double)
CNC_INSTANTIATE_COLUMN_PRODUCTS(double, double)

}  // namespace cnc::kokkos
