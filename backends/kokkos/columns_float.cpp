#include "kokkos/columns.hpp"

namespace cnc::kokkos {

CNC_INSTANTIATE_COLUMNS(float)
CNC_INSTANTIATE_COLUMN_PRODUCTS(float, float)

}  // namespace cnc::kokkos
