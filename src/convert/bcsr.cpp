#include "convert/bcsr_checks.hpp"
#include "convert/block_row.hpp"
#include "convert/checks.hpp"
#include "convert/sorted_rows.hpp"
#include "convert/unpack.hpp"

#include <cnc/convert.hpp>

#include <atomic>

// Everything about BCSR (and so CSR) that is not arithmetic: check, build, unpack, refresh.

namespace cnc {
namespace {

/// Overwrites block row i with the source's values.
template <class T, class S>
detail::RefusedEntry refresh_block_row(const BcsrOperand<T>& A, T* values,
                                       const BcsrOperand<S>& source, index_t i) {
  for (int r = 0; r < A.block_size; ++r) {
    const index_t refused = detail::refresh_row(A, values, source, i, r);
    if (refused >= 0) return {i * A.block_size + r, refused};
  }
  return {};
}

}  // namespace

template <class T, class Space>
Checked BcsrMatrix<T, Space>::validate() const {
  detail::check_counts(*this);
  const auto A = operand();
  detail::check_offset_bounds(*this, A.row_offsets[0], A.row_offsets[block_rows()]);
  std::atomic<bool> all_ascend{true};
  const index_t i = detail::first_fault(block_rows(), [&](index_t row) {
    bool ascending = true;
    const bool faulty =
        detail::block_row_fault(A, blocks(), row, ascending) != detail::BlockRowFault::none;
    if (!ascending && all_ascend.load(std::memory_order_relaxed)) all_ascend = false;
    return faulty;
  });
  if (i >= 0) {
    bool ignored = true;
    detail::throw_row_fault(*this, i, detail::block_row_fault(A, blocks(), i, ignored));
  }
  if (all_ascend) return Checked::ascending;
  (void)detail::ascending_order<Kokkos::DefaultHostExecutionSpace>(
      *this);  // finds what comes twice
  return Checked::valid;
}

template <class T, class Space>
BcsrMatrix<T, Space> to_bcsr(const CsrMatrix<T, Space>& given, int block_size) {
  detail::require_block_size(block_size);
  if (block_size == 1) {
    detail::require_csr(given);
    return given;
  }
  const CsrMatrix<T> A = detail::ascending_csr(given);

  const auto source = A.operand();
  const index_t block_rows = ceil_div(A.rows, block_size);
  const auto row_offsets =
      uninitialized<index_t>("cnc::bcsr row_offsets", static_cast<std::size_t>(block_rows) + 1);
  index_t* offsets = row_offsets.data();
  detail::parallel_for(block_rows, [=](index_t i) {
    offsets[i + 1] = detail::blocks_in_row(source, block_size, i);
  });
  const auto blocks =
      static_cast<std::size_t>(detail::offsets_from_counts(offsets, block_rows, "blocks"));

  const std::size_t b2 = static_cast<std::size_t>(block_size) * block_size;
  detail::require_blocks<T, Space>("to_bcsr", blocks, b2);
  const auto columns = uninitialized<index_t>("cnc::bcsr columns", blocks);
  const auto values = uninitialized<T>("cnc::bcsr values", blocks * b2);
  index_t* column_data = columns.data();
  T* value_data = values.data();
  detail::parallel_for(block_rows, [=](index_t i) {
    detail::fill_block_row(source, block_size, i, column_data + offsets[i],
                           value_data + static_cast<std::size_t>(offsets[i]) * b2);
  });
  return {A.rows, A.cols, block_size, row_offsets, columns, values, A.nonzeros};
}

template <class T, class Space>
CsrMatrix<T, Space> to_csr(const BcsrMatrix<T, Space>& A) {
  detail::require_valid(A);
  return A.block_size == 1 ? A : detail::unpack_rows(A);
}

template <class T, class S, class Space>
void update_values(BcsrMatrix<T, Space>& A, const CsrMatrix<S, Space>& given) {
  detail::require_refreshable(A, given);
  if (detail::shares_arrays(A, given)) return;
  require(!A.read_only, "update_values: the values of the matrix are const");
  const CsrMatrix<S> source = detail::ascending_csr(given);
  const auto target = A.operand();
  const auto from = source.operand();
  T* values = A.values.data();
  const index_t i = detail::first_fault(A.block_rows(), [=](index_t row) {
    return refresh_block_row(target, values, from, row).position >= 0;
  });
  if (i >= 0) {
    const auto [row, position] = refresh_block_row(target, values, from, i);
    detail::throw_refused(row, from.columns[position], detail::overflows<T>(from.values[position]));
  }
  A.nonzeros = source.nonzeros;
}

#define CNC_INSTANTIATE(T)                                              \
  template Checked BcsrMatrix<T>::validate() const;                     \
  template BcsrMatrix<T> to_bcsr(const CsrMatrix<T>&, int);             \
  template CsrMatrix<T> to_csr(const BcsrMatrix<T>&);                   \
  template void update_values(BcsrMatrix<T>&, const CsrMatrix<float>&); \
  template void update_values(BcsrMatrix<T>&, const CsrMatrix<double>&);
CNC_INSTANTIATE(float)
CNC_INSTANTIATE(double)
#undef CNC_INSTANTIATE

}  // namespace cnc
