#pragma once

#include <cnc/contract/operands.hpp>
#include <cnc/vector.hpp>

namespace cnc {

/// The different values of a matrix, where there are few, and which of them each stored one is: see find_value_table. It is made of
/// the values as they were; who writes to them has to make it anew or to empty it, as update_values does.
template <class T, class Space = HostSpace>
struct ValueTable {
  Kokkos::View<std::uint8_t*, Space> codes = {};  ///< [stored values]
  Kokkos::View<T*, Space> values = {};            ///< [most_table_values]
  int kinds = 0;                                  ///< different values

  bool empty() const { return kinds == 0; }  ///< there is none
  /// What kernels see.
  ValueTableOperand<T> operand() const { return {codes.data(), values.data()}; }
};

}  // namespace cnc
