#pragma once

#include "convert/bcsr.hpp"
#include "convert/bsell_checks.hpp"
#include "convert/bsell_rows.hpp"
#include "convert/row_dictionary.hpp"
#include "convert/sort_rows.hpp"
#include "convert/unpack.hpp"
#include "convert/value_table.hpp"
#include "huge_pages.hpp"

#include <cnc/convert.hpp>

#include <optional>
#include <utility>
#include <vector>

// Check, build, unpack and refresh BSELL. On a device a thread works on one lane of a slice, or on one row of a
// lane, and its neighbours on the neighbouring lanes; on the host a thread works on the whole slice.

namespace cnc::detail {

/// Writes down at which position it meets each block row that is in range.
template <class T>
struct PlaceBlockRow {
  BsellOperand<T> A;
  index_t* places;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    if (permutation_fault(A, i) == PermutationFault::none)
      store_shared(places[A.row_permutation[i]], static_cast<index_t>(i));
  }
};

/// Counts the positions that are at fault, or not those that PlaceBlockRow wrote down.
template <class T>
struct CountMisplaced {
  BsellOperand<T> A;
  const index_t* places;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, offset_t& misplaced) const {
    misplaced += permutation_fault(A, i) != PermutationFault::none ||
                 (i < A.block_rows() && places[A.row_permutation[i]] != i);
  }
};

/// Throws the first fault of a permutation, given in host memory.
template <class T>
void throw_first_fault(BsellOperand<T> A, const index_t* permutation) {
  A.row_permutation = permutation;
  std::vector<char> seen(static_cast<std::size_t>(A.block_rows()), 0);
  for (offset_t i = 0;; ++i) {
    PermutationFault fault = permutation_fault(A, i);
    if (fault == PermutationFault::none && i < A.block_rows()) {
      char& mark = seen[static_cast<std::size_t>(permutation[i])];
      if (mark != 0) fault = PermutationFault::repeats;
      mark = 1;
    }
    if (fault != PermutationFault::none) throw_permutation_fault(fault, i);
  }
}

/// Refuses a permutation in which a block row is missing or repeats, or a padding lane has one.
template <class Exec, class T, class Space>
void check_permutation(const BsellMatrix<T, Space>& matrix) {
  const Exec exec = instance<Exec>();
  const auto A = matrix.operand();
  const auto places =
      uninitialized<index_t, Space>("cnc::places", static_cast<std::size_t>(A.block_rows()));
  on_each(exec, A.block_rows(), PlaceBlockRow<T>{A, places.data()});
  if (sum_over(exec, static_cast<offset_t>(A.slices()) * A.slice_height,
               CountMisplaced<T>{A, places.data()}) > 0)
    throw_first_fault(A, copy_to<HostSpace>(matrix.row_permutation).data());
}

/// Looks for what is wrong with slices: reports the first lane at fault, or the slice's first where its slots are.
/// Reads nothing out of bounds whatever slice_offsets hold.
template <class Exec, class T>
struct FindSliceFault {
  BsellOperand<T> A;
  offset_t slots;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, Least& found) const {
    const int threads = sharing<Exec>(A.slice_height);
    const auto slice = static_cast<index_t>(i / threads);
    SliceFault fault = slots_fault(A, slots, slice);
    for (auto lane = static_cast<int>(i % threads); lane < A.slice_height; lane += threads) {
      if (fault == SliceFault::none) fault = lane_fault(A, lane_of(A, slice, lane));
      if (fault == SliceFault::none) continue;
      found.report(static_cast<offset_t>(slice) * A.slice_height + lane, static_cast<int>(fault));
      return;
    }
  }
};

/// Slots of each slice: the longest of its block rows for every lane.
struct CountSlots {
  const index_t* lengths;
  const index_t* permutation;
  offset_t block_rows;
  int slice_height;
  offset_t* counts;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t slice) const {
    const offset_t begin = slice * slice_height;
    const offset_t end = begin + slice_height < block_rows ? begin + slice_height : block_rows;
    index_t longest = 0;
    for (offset_t i = begin; i < end; ++i)
      if (lengths[permutation[i]] > longest) longest = lengths[permutation[i]];
    counts[slice] = static_cast<offset_t>(longest) * slice_height;
  }
};

template <class Exec, class T>
struct FillSlice {
  BsellOperand<T> A;
  BcsrOperand<T> source;
  index_t* columns;
  T* values;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    const int threads = sharing<Exec>(A.slice_height);
    const auto slice = static_cast<index_t>(i / threads);
    const auto first_lane = static_cast<int>(i % threads);
    const offset_t begin = A.slice_offsets[slice], end = A.slice_offsets[slice + 1];
    const offset_t b2 = static_cast<offset_t>(A.block_size) * A.block_size;
    // With a thread for each lane these are the lane's own.
    for (offset_t k = begin * b2 + first_lane; k < end * b2; k += threads) values[k] = T(0);
    for (int lane = first_lane; lane < A.slice_height; lane += threads) {
      const Lane<T> place = lane_of(A, slice, lane);
      fill_lane(source, place, columns + begin + lane, values + place.first_value);
    }
  }
};

/// Threads of for_lane_rows.
template <class Exec, class T>
offset_t lane_row_threads(const BsellOperand<T>& A) {
  return static_cast<offset_t>(A.slices()) * sharing<Exec>(A.slice_height * A.block_size);
}

/// Calls use(lane, r) for the rows of lanes that are this thread's, those outside the matrix too.
template <class Exec, class T, class Use>
KOKKOS_INLINE_FUNCTION void for_lane_rows(const BsellOperand<T>& A, offset_t thread,
                                          const Use& use) {
  const offset_t C = A.slice_height;
  if constexpr (on_threads<Exec>) {
    for (int i = 0; i < C; ++i) {
      const Lane<T> lane = lane_of(A, static_cast<index_t>(thread), i);
      for (int r = 0; r < A.block_size; ++r) use(lane, r);
    }
  } else {
    use(lane_of(A, static_cast<index_t>(thread / C / A.block_size), static_cast<int>(thread % C)),
        static_cast<int>(thread / C % A.block_size));
  }
}

template <class Exec, class T>
struct Rows<Exec, BsellOperand<T>> {
  BsellOperand<T> A;
  offset_t threads() const { return lane_row_threads<Exec>(A); }
  template <class Use>
  KOKKOS_INLINE_FUNCTION void for_each(offset_t thread, const Use& use) const {
    for_lane_rows<Exec>(A, thread, [&](const Lane<T>& lane, int r) {
      const index_t row = row_of(lane, r);
      if (row >= 0) use(row, [&](const auto& take) { walk_entries(A, lane, r, take); });
    });
  }
};

/// Overwrites rows with the source's values; reports the first entry refused by row and position.
template <class Exec, class T, class S>
struct RefreshLaneRows {
  BsellOperand<T> A;
  T* values;
  BcsrOperand<S> source;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t thread, Least& refused) const {
    for_lane_rows<Exec>(A, thread, [&](const Lane<T>& lane, int r) {
      const index_t position = refresh_row(lane, values, source, r);
      if (position >= 0) refused.report(row_of(lane, r), position);
    });
  }
};

namespace set_up {

/// As BsellMatrix::validate.
template <class Exec, class T, class Space>
void validate(const BsellMatrix<T, Space>& A) {
  check_bsell_extents(A);
  require_slice_bounds(fetch(A.slice_offsets, 0), fetch(A.slice_offsets, A.slices()), A.slots());
  check_permutation<Exec>(A);
  const auto found =
      sum_over<Least>(instance<Exec>(), A.slices() * offset_t(sharing<Exec>(A.slice_height)),
                      FindSliceFault<Exec, T>{A.operand(), A.slots()}, A.block_rows());
  if (found.found())
    throw_slice_fault(static_cast<SliceFault>(found.second()),
                      static_cast<index_t>(found.first() / A.slice_height));
}

/// The places of rows in slices, which have room in no array yet. Rows ascend. The slots.
template <class Exec, class T, class Space>
std::size_t place_rows(const Exec& exec, const CsrMatrix<T, Space>& A, BsellMatrix<T, Space>& B) {
  const index_t n = B.block_rows();
  const auto lengths = uninitialized<index_t, Space>("cnc::lengths", static_cast<std::size_t>(n));
  on_each(exec, n, CountBlocks<T>{A.operand(), B.block_size, lengths.data()});

  const offset_t positions = static_cast<offset_t>(B.slices()) * B.slice_height;
  const auto permutation = uninitialized<index_t, Space>("cnc::bsell row_permutation",
                                                         static_cast<std::size_t>(positions));
  sort_rows(exec, lengths.data(), n, B.sort_window, permutation.data(), positions);
  B.row_permutation = permutation;

  const auto offsets = uninitialized<offset_t, Space>("cnc::bsell slice_offsets",
                                                      static_cast<std::size_t>(B.slices()) + 1);
  on_each(exec, B.slices(),
          CountSlots{lengths.data(), permutation.data(), n, B.slice_height, offsets.data() + 1}, n);
  B.slice_offsets = offsets;
  return offsets_from_counts(exec, offsets.data(), B.slices(), "slots");
}

/// Columns and values of rows that have their places.
template <class Exec, class T, class Space>
void fill_slices(const Exec& exec, const CsrMatrix<T, Space>& A, std::size_t slots,
                 BsellMatrix<T, Space>& B) {
  const std::size_t b2 = static_cast<std::size_t>(B.block_size) * B.block_size;
  require_blocks<T, Space>("to_bsell", slots, b2);
  const auto columns = in_large_pages<index_t, Space>("cnc::bsell columns", slots);
  B.values = in_large_pages<T, Space>("cnc::bsell values", slots * b2);
  B.columns = columns;
  on_each(exec, B.slices() * offset_t(sharing<Exec>(B.slice_height)),
          FillSlice<Exec, T>{B.operand(), A.operand(), columns.data(), B.values.data()},
          B.block_rows());
}

template <class Exec, class T, class Space>
BsellMatrix<T, Space> to_bsell(const CsrMatrix<T, Space>& given, int block_size = 1,
                               int slice_height = 0, index_t sort_window = 0) {
  BsellMatrix<T, Space> B = sized_bsell(given, block_size, slice_height, sort_window);
  const CsrMatrix<T, Space> A = ascending_csr<Exec>(given);
  const Exec exec = instance<Exec>();
  const std::size_t slots = place_rows(exec, A, B);
  fill_slices(exec, A, slots, B);
  return B;
}

/// Slices of scalars, unless they would have more than so many slots for each entry. Rows ascend.
template <class Exec, class T, class Space>
std::optional<BsellMatrix<T, Space>> to_bsell_within(const CsrMatrix<T, Space>& A,
                                                     double slots_per_entry) {
  BsellMatrix<T, Space> B = sized_bsell(A, 1, 0, 0);
  const Exec exec = instance<Exec>();
  const std::size_t slots = place_rows(exec, A, B);
  if (static_cast<double>(slots) > slots_per_entry * static_cast<double>(A.blocks())) return {};
  fill_slices(exec, A, slots, B);
  return B;
}

template <class Exec, class T, class Space>
CsrMatrix<T, Space> to_csr(const BsellMatrix<T, Space>& A) {
  validate<Exec>(A);
  return unpack<Exec, T>(A, Rows<Exec, BsellOperand<T>>{A.operand()});
}

template <class Exec, class T, class S, class Space>
void update_values(BsellMatrix<T, Space>& A, const CsrMatrix<S, Space>& given) {
  require_refreshable(A, given);
  const CsrMatrix<S, Space> source = ascending_csr<Exec>(given);
  const auto before = std::exchange(A.dictionary, {});  // none, should this fail half way
  const auto table = std::exchange(A.value_table, {});
  const auto target = A.operand();
  require_none_refused<T>(
      sum_over<Least>(instance<Exec>(), lane_row_threads<Exec>(target),
                      RefreshLaneRows<Exec, T, S>{target, A.values.data(), source.operand()},
                      A.block_rows()),
      source);
  A.nonzeros = source.nonzeros;
  if (!before.empty()) A.dictionary = row_dictionary<Exec, T>(source, before);
  A.dictionary.forget_runs();
  A.value_table = renewed_value_table<Exec>(A.values, table);
}

}  // namespace set_up
}  // namespace cnc::detail
