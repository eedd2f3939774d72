#include "convert/settled.hpp"
#include "convert/spaces.hpp"
#include "huge_pages.hpp"
#include "on_each.hpp"

#include <cnc/convert.hpp>

namespace cnc {
namespace detail {
namespace {

/// Writes a column less where it is; whether it does not fit.
KOKKOS_INLINE_FUNCTION bool lacks_room(index_t column, index_t place, ShortColumn& to) {
  const index_t offset = column - place;
  to = static_cast<ShortColumn>(offset);
  return to != offset;
}

/// Columns of a block row, of which `lanes` threads have some each; whether one does not fit.
template <int lanes>
struct ShortenRow {
  const index_t *row_offsets, *columns;
  ShortColumn* to;
  KOKKOS_INLINE_FUNCTION bool operator()(offset_t i) const {
    const auto row = static_cast<index_t>(i / lanes);
    for (offset_t k = row_offsets[row] + i % lanes; k < row_offsets[row + 1]; k += lanes)
      if (lacks_room(columns[k], row, to[k])) return true;
    return false;
  }
};

/// The same for those lanes of a slice that are this thread's.
template <class Exec>
struct ShortenSlice {
  const offset_t* slice_offsets;
  const index_t *permutation, *columns;
  int slice_height;
  index_t block_cols;
  ShortColumn* to;
  KOKKOS_INLINE_FUNCTION bool operator()(offset_t i) const {
    const int threads = sharing<Exec>(slice_height);
    const offset_t slice = i / threads;
    const auto place = static_cast<index_t>(slice * slice_height);
    const index_t* const rows = permutation + place;
    for (offset_t k = slice_offsets[slice]; k < slice_offsets[slice + 1]; k += slice_height)
      for (auto lane = static_cast<int>(i % threads); lane < slice_height; lane += threads) {
        // Padding lanes are read too: where the slice is, there may be no column.
        const index_t column = rows[lane] >= 0 || place >= block_cols ? columns[k + lane] : place;
        if (lacks_room(column, place, to[k + lane])) return true;
      }
    return false;
  }
};

}  // namespace
}  // namespace detail

template <class T, class Space>
bool find_short_columns(Matrix<T, Space>& A) {
  using namespace detail;
  using Exec = SetUpExec<Space>;
  const SettledIn<Space> settled{};
  const auto find = [](auto& layout) {
    if constexpr (requires { layout.short_columns; }) {
      layout.short_columns = {};
      if (sizeof(T) * layout.block_size * layout.block_size > largest_short_column_block)
        return false;
      const index_t* const columns = layout.columns.data();
      const auto shortened =
          in_large_pages<ShortColumn, Space>("cnc::short_columns", layout.columns.extent(0));
      Least first_lacking;
      if constexpr (requires { layout.slice_height; }) {
        const ShortenSlice<Exec> shorten{layout.slice_offsets.data(),
                                         layout.row_permutation.data(),
                                         columns,
                                         layout.slice_height,
                                         ceil_div(layout.cols, layout.block_size),
                                         shortened.data()};
        first_lacking = sum_over<Least>(
            instance<Exec>(), layout.slices() * offset_t(sharing<Exec>(layout.slice_height)),
            ReportFaulty<ShortenSlice<Exec>>{shorten}, layout.block_rows());
      } else {
        constexpr int lanes = row_lanes<Exec>;
        const ShortenRow<lanes> shorten{layout.row_offsets.data(), columns, shortened.data()};
        first_lacking = sum_over<Least>(instance<Exec>(), layout.block_rows() * offset_t(lanes),
                                        ReportFaulty<ShortenRow<lanes>>{shorten});
      }
      if (!first_lacking.found()) layout.short_columns = shortened;
      return !first_lacking.found();
    } else {
      return false;
    }
  };
  return std::visit(find, A);
}

#define CNC_INSTANTIATE(T, Space) template bool find_short_columns(Matrix<T, Space>&);
CNC_FOR_EACH_SPACE(CNC_INSTANTIATE)
#undef CNC_INSTANTIATE

}  // namespace cnc
