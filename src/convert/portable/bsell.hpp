#pragma once

#include "convert/bsell_checks.hpp"
#include "convert/bsell_rows.hpp"
#include "convert/portable/bcsr.hpp"
#include "convert/portable/loops.hpp"
#include "convert/portable/sort_rows.hpp"

#include <cnc/convert.hpp>

// Check, build and refresh BSELL on any execution space. A thread works on one lane, or on one row of
// a lane, and its neighbours on the neighbouring lanes: they write side by side.

namespace cnc::portable {

/// Refuses a permutation in which a block row is missing or repeats.
template <class Exec, class T>
void check_permutation(const BsellOperand<T>& A) {
  using detail::PermutationFault;
  using Space = typename Exec::memory_space;
  const offset_t positions = static_cast<offset_t>(A.slices()) * A.slice_height;
  const auto first_places =
      uninitialized<offset_t, Space>("cnc::first places", static_cast<std::size_t>(A.block_rows()));
  offset_t* first = first_places.data();
  Kokkos::deep_copy(detail::instance<Exec>(), first_places, nothing);
  // A minimum does not depend on the order in which the threads come.
  Kokkos::parallel_for(
      "cnc::places", range<Exec>(0, positions), KOKKOS_LAMBDA(const offset_t i) {
        if (i < A.block_rows() && detail::permutation_fault(A, i) == PermutationFault::none)
          Kokkos::atomic_fetch_min(&first[A.row_permutation[i]], i);
      });
  const offset_t found = least<Exec>(
      "cnc::validate", positions, KOKKOS_LAMBDA(const offset_t i, offset_t& value) {
        PermutationFault fault = detail::permutation_fault(A, i);
        if (fault == PermutationFault::none && i < A.block_rows() &&
            first[A.row_permutation[i]] < i)
          fault = PermutationFault::repeats;
        if (fault != PermutationFault::none) lower(value, ranked(i, static_cast<offset_t>(fault)));
      });
  if (found == nothing) return;
  const auto [position, fault] = unranked(found);
  detail::throw_permutation_fault(static_cast<PermutationFault>(fault), position);
}

/// As BsellMatrix::validate.
template <class Exec, class T, class Space>
void validate(const BsellMatrix<T, Space>& matrix) {
  using detail::SliceFault;
  detail::check_bsell_extents(matrix);
  const auto A = matrix.operand();
  const offset_t slots = matrix.slots();
  detail::require_slice_bounds(fetch(matrix.slice_offsets, 0),
                               fetch(matrix.slice_offsets, A.slices()), slots);
  check_permutation<Exec>(A);
  const offset_t found = least<Exec>(
      "cnc::validate", static_cast<offset_t>(A.slices()) * A.slice_height,
      KOKKOS_LAMBDA(const offset_t i, offset_t& value) {
        const auto slice = static_cast<index_t>(i / A.slice_height);
        SliceFault fault = detail::slots_fault(A, slots, slice);
        if (fault == SliceFault::none)
          fault = detail::lane_fault(
              A, detail::lane_of(A, slice, static_cast<int>(i % A.slice_height)));
        if (fault != SliceFault::none) lower(value, ranked(i, static_cast<offset_t>(fault)));
      });
  if (found == nothing) return;
  const auto [position, fault] = unranked(found);
  detail::throw_slice_fault(static_cast<SliceFault>(fault),
                            static_cast<index_t>(position / A.slice_height));
}

template <class Exec, class T, class Space>
BsellMatrix<T, Space> to_bsell(const CsrMatrix<T, Space>& given, int block_size = 1,
                               int slice_height = 0, index_t sort_window = 0) {
  BsellMatrix<T, Space> B = detail::sized_bsell(given, block_size, slice_height, sort_window);
  const CsrMatrix<T, Space> A = detail::ascending_csr<Exec>(given);

  const auto source = A.operand();
  const offset_t n = B.block_rows();
  const auto length_view =
      uninitialized<index_t, Space>("cnc::lengths", static_cast<std::size_t>(n));
  index_t* lengths = length_view.data();
  Kokkos::parallel_for(
      "cnc::count", range<Exec>(0, n), KOKKOS_LAMBDA(const offset_t i) {
        lengths[i] = detail::blocks_in_row(source, block_size, static_cast<index_t>(i));
      });
  const int C = B.slice_height;
  const offset_t positions = static_cast<offset_t>(B.slices()) * C;
  const auto permutation_view = uninitialized<index_t, Space>("cnc::bsell row_permutation",
                                                              static_cast<std::size_t>(positions));
  index_t* permutation = permutation_view.data();
  sort_rows<Exec>(lengths, n, B.sort_window, permutation, positions);
  B.row_permutation = permutation_view;

  const auto offset_view = uninitialized<offset_t, Space>("cnc::bsell slice_offsets",
                                                          static_cast<std::size_t>(B.slices()) + 1);
  offset_t* offsets = offset_view.data();
  Kokkos::parallel_for(
      "cnc::longest", range<Exec>(0, B.slices()), KOKKOS_LAMBDA(const offset_t slice) {
        index_t longest = 0;
        for (offset_t i = slice * C; i < n && i < (slice + 1) * C; ++i)
          longest = lengths[permutation[i]] > longest ? lengths[permutation[i]] : longest;
        offsets[slice + 1] = static_cast<offset_t>(longest) * C;
      });
  const auto slots =
      static_cast<std::size_t>(offsets_from_counts<Exec>(offsets, B.slices(), "slots"));
  B.slice_offsets = offset_view;

  detail::require_blocks<T, Space>("to_bsell", slots, block_size * block_size);
  const auto column_view = uninitialized<index_t, Space>("cnc::bsell columns", slots);
  B.columns = column_view;
  B.values = zeroed<T, Space>("cnc::bsell values",
                              slots * static_cast<std::size_t>(block_size * block_size));
  index_t* columns = column_view.data();
  T* values = B.values.data();
  const auto target = B.operand();
  Kokkos::parallel_for(
      "cnc::fill", range<Exec>(0, positions), KOKKOS_LAMBDA(const offset_t i) {
        const auto slice = static_cast<index_t>(i / C);
        const auto lane = detail::lane_of(target, slice, static_cast<int>(i % C));
        detail::fill_lane(source, lane, columns + target.slice_offsets[slice] + i % C,
                          values + lane.first_value);
      });
  return B;
}

template <class Exec, class T, class S, class Space>
void update_values(BsellMatrix<T, Space>& A, const CsrMatrix<S, Space>& given) {
  detail::require_refreshable(A, given);
  const CsrMatrix<S, Space> source = detail::ascending_csr<Exec>(given);
  const auto target = A.operand();
  const auto from = source.operand();
  T* values = A.values.data();
  const offset_t C = A.slice_height;
  const int b = A.block_size;
  const offset_t found = least<Exec>(
      "cnc::refresh", A.slices() * C * b, KOKKOS_LAMBDA(const offset_t i, offset_t& value) {
        const auto slice = static_cast<index_t>(i / C / b);
        const auto r = static_cast<int>(i / C % b);
        const auto lane = detail::lane_of(target, slice, static_cast<int>(i % C));
        const index_t refused = detail::refresh_row(lane, values, from, r);
        if (refused >= 0) lower(value, ranked(detail::row_of(lane, r), refused));
      });
  require_none_refused<T>(found, source);
  A.nonzeros = source.nonzeros;
}

}  // namespace cnc::portable
