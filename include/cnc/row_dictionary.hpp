#pragma once

#include <cnc/contract/operands.hpp>
#include <cnc/vector.hpp>

namespace cnc {

/// The different rows of a matrix, beside a layout of it: see RowDictionaryOperand. Made by find_row_dictionary, renewed by
/// update_values of the layout; who writes to the values of a layout in another way has to empty it, and so in other copies of
/// a layout that share its values.
template <class T, class Space = HostSpace>
struct RowDictionary {
  Kokkos::View<std::uint8_t*, Space> codes;   ///< [rows]
  Kokkos::View<index_t*, Space> starts;       ///< [kinds + 1]
  Kokkos::View<RowEntry<T>*, Space> entries;  ///< of all kinds
  /// [runs + 1] on a host, where rows of another kind begin, if 12 rows and more of a kind follow each other in the mean; else
  /// where blocks of other kinds begin, if that is so of 24 rows and more; not beside slices, whose products do not read them
  Kokkos::View<index_t*, Space> runs = {};
  Kokkos::View<index_t*, Space> first_rows = {};  ///< [kinds] the first row of each
  index_t longest = 0;                            ///< entries of the longest row
  int block_size = 1;                             ///< of blocks of rows whose columns are the same
  index_t run_period = 1;                         ///< rows after which those of a run repeat
  Kokkos::View<RowPart<T>*, Space> parts = {};    ///< [kinds] of the stencil
  Kokkos::View<RowStencil<T>*, Space> stencil_there = {};  ///< [1] where it is made
  /// [1] the same on the host, which copies of a dictionary share like everything else
  Kokkos::View<RowStencil<T>*, HostSpace> stencil = {};

  /// For layouts whose products do not read them.
  void forget_runs() {
    runs = {};
    run_period = 1;
  }

  bool empty() const { return codes.extent(0) == 0; }  ///< there is none
  /// Different rows.
  index_t kinds() const { return empty() ? 0 : static_cast<index_t>(starts.extent(0)) - 1; }

  /// What kernels see.
  RowDictionaryOperand<T> operand() const {
    const bool has_stencil = stencil.extent(0) > 0 && stencil(0).size > 0;
    const auto run_count = runs.extent(0) == 0 ? 0 : static_cast<index_t>(runs.extent(0)) - 1;
    return {codes.data(),
            starts.data(),
            entries.data(),
            kinds(),
            static_cast<index_t>(entries.extent(0)),
            longest,
            block_size,
            run_count > 0 ? runs.data() : nullptr,
            run_count,
            run_period,
            has_stencil ? stencil.data() : nullptr};
  }
};

}  // namespace cnc
