#include "convert/checks.hpp"
#include "convert/dia_checks.hpp"
#include "convert/dia_rows.hpp"
#include "convert/sorted_rows.hpp"
#include "convert/unpack.hpp"

#include <cnc/convert.hpp>

#include <algorithm>
#include <vector>

// Build, check, unpack and refresh matrices stored by diagonals.

namespace cnc {
namespace {

/// Offsets of the occupied diagonals of A, ascending.
template <class T>
std::vector<index_t> occupied_diagonals(const BcsrOperand<T>& A, bool upper_only) {
  std::vector<char> occupied(
      static_cast<std::size_t>(std::max<offset_t>(offset_t(A.rows) + A.cols - 1, 0)), 0);
  for (index_t i = 0; i < A.rows; ++i)
    for (index_t k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k)
      occupied[static_cast<std::size_t>(offset_t(A.columns[k]) - i + A.rows - 1)] = 1;
  std::vector<index_t> offsets;
  for (std::size_t place = 0; place < occupied.size(); ++place) {
    const auto offset = static_cast<index_t>(static_cast<offset_t>(place) - A.rows + 1);
    if (occupied[place] != 0 && (!upper_only || offset >= 0)) offsets.push_back(offset);
  }
  return offsets;
}

/// MirrorFacts of the whole matrix; they do not depend on the order in which threads add theirs.
template <class T, class S>
detail::MirrorFacts mirror_facts(const DiaOperand<T>& A, const BcsrOperand<S>& source) {
  detail::MirrorFacts all;
  const int parts = A.rows > 2048 ? detail::set_up_threads() : 1;
  detail::parallel_ranges(A.rows, parts, [&](index_t begin, index_t end, int) {
    detail::MirrorFacts facts;
    for (index_t i = begin; i < end; ++i) detail::compare_mirrors(A, source, i, facts);
#pragma omp critical(cnc_mirror_facts)
    all += facts;
  });
  return all;
}

}  // namespace

template <class T, class Space>
void DiaMatrix<T, Space>::validate() const {
  detail::check_dia_extents(*this);
  const auto A = operand();
  for (index_t d = 0; d < diagonals(); ++d) {
    detail::check_dia_offset(*this, A.offsets, d);
    const index_t row =
        detail::first_fault(rows, [=](index_t i) { return detail::outside_and_not_zero(A, d, i); });
    if (row >= 0) detail::throw_dia_value(row, d);
  }
}

template <class T, class Space>
DiaMatrix<T, Space> to_dia(const CsrMatrix<T, Space>& given, bool symmetric) {
  const CsrMatrix<T> A = detail::ascending_csr(given);
  DiaMatrix<T, Space> B = detail::sized_dia(A, symmetric);
  const std::vector<index_t> occupied = occupied_diagonals(A.operand(), symmetric);
  detail::require_dia_holds(static_cast<offset_t>(occupied.size()), A.rows, A.blocks());
  const auto offsets = uninitialized<index_t>("cnc::dia offsets", occupied.size());
  std::copy(occupied.begin(), occupied.end(), offsets.data());
  B.offsets = offsets;
  B.values =
      uninitialized<T>("cnc::dia values", occupied.size() * static_cast<std::size_t>(A.rows));
  update_values(B, A);
  return B;
}

template <class T, class Space>
CsrMatrix<T, Space> to_csr(const DiaMatrix<T, Space>& A) {
  A.validate();
  return detail::unpack_rows(A);
}

template <class T, class S, class Space>
void update_values(DiaMatrix<T, Space>& A, const CsrMatrix<S, Space>& given) {
  detail::require_dia_refreshable(A, given);
  const CsrMatrix<S> source = detail::ascending_csr(given);
  const auto target = A.operand();
  const auto from = source.operand();
  T* values = A.values.data();
  detail::require_placed(detail::first_fault(
      A.rows, [=](index_t i) { return !detail::refresh_row(target, values, from, i); }));
  if (A.symmetric) detail::require_mirrored(mirror_facts(target, from));
  A.nonzeros = source.nonzeros;
}

#define CNC_INSTANTIATE(T)                                             \
  template void DiaMatrix<T>::validate() const;                        \
  template DiaMatrix<T> to_dia(const CsrMatrix<T>&, bool);             \
  template CsrMatrix<T> to_csr(const DiaMatrix<T>&);                   \
  template void update_values(DiaMatrix<T>&, const CsrMatrix<float>&); \
  template void update_values(DiaMatrix<T>&, const CsrMatrix<double>&);
CNC_INSTANTIATE(float)
CNC_INSTANTIATE(double)
#undef CNC_INSTANTIATE

}  // namespace cnc
