#include "convert/bsell_checks.hpp"
#include "convert/bsell_rows.hpp"
#include "convert/checks.hpp"

#include <cnc/bsell_matrix.hpp>

#include <string>
#include <vector>

namespace cnc {
namespace {

using detail::PermutationFault;
using detail::SliceFault;

/// Every block row has one sorted position, padding lanes come after all of them.
template <class T>
void check_permutation(const BsellOperand<T>& A) {
  std::vector<char> seen(static_cast<std::size_t>(A.block_rows()), 0);
  const offset_t positions = static_cast<offset_t>(A.slices()) * A.slice_height;
  for (offset_t i = 0; i < positions; ++i) {
    PermutationFault fault = detail::permutation_fault(A, i);
    if (fault == PermutationFault::none && i < A.block_rows()) {
      char& mark = seen[static_cast<std::size_t>(A.row_permutation[i])];
      if (mark != 0) fault = PermutationFault::repeats;
      mark = 1;
    }
    if (fault != PermutationFault::none) detail::throw_permutation_fault(fault, i);
  }
}

/// What is wrong with a slice: its slots, else its first lane at fault. Reads nothing out of bounds
/// whatever slice_offsets hold.
template <class T>
SliceFault slice_fault(const BsellOperand<T>& A, offset_t slots, index_t slice) {
  SliceFault fault = detail::slots_fault(A, slots, slice);
  for (int lane = 0; lane < A.slice_height && fault == SliceFault::none; ++lane)
    fault = detail::lane_fault(A, detail::lane_of(A, slice, lane));
  return fault;
}

}  // namespace

template <class T, class Space>
void BsellMatrix<T, Space>::validate() const {
  detail::check_bsell_extents(*this);
  const auto A = operand();
  detail::require_slice_bounds(A.slice_offsets[0], A.slice_offsets[slices()], slots());
  check_permutation(A);
  const index_t slice = detail::first_fault(
      slices(), [&](index_t s) { return slice_fault(A, slots(), s) != SliceFault::none; });
  if (slice >= 0) detail::throw_slice_fault(slice_fault(A, slots(), slice), slice);
}

template void BsellMatrix<float>::validate() const;
template void BsellMatrix<double>::validate() const;

}  // namespace cnc
