#include "convert/checks.hpp"
#include "convert/narrow.hpp"

#include <cnc/convert.hpp>

namespace cnc {

template <class To, class From, class Space>
BcsrMatrix<To, Space> convert_values(const BcsrMatrix<From, Space>& A) {
  const From* from = A.values.data();
  const auto values = uninitialized<To>("cnc::bcsr values", A.values.extent(0));
  To* to = values.data();
  // By block row, so that memory is first touched by the thread that will work on it.
  const offset_t b2 = static_cast<offset_t>(A.block_size) * A.block_size;
  const auto pattern = A.operand();
  const index_t i = detail::first_fault(A.block_rows(), [=](index_t row) {
    bool overflow = false;
    for (offset_t k = pattern.row_offsets[row] * b2; k < pattern.row_offsets[row + 1] * b2; ++k) {
      const bool too_large = detail::overflows<To>(from[k]);
      to[k] = too_large ? To(0) : static_cast<To>(from[k]);
      overflow |= too_large;
    }
    return overflow;
  });
  detail::require_no_overflow(i);
  BcsrMatrix<To, Space> result{A.rows,    A.cols, A.block_size, A.row_offsets,
                               A.columns, values, A.nonzeros};
  result.checked = A.checked;
  return result;
}

template BcsrMatrix<float> convert_values(const BcsrMatrix<float>&);
template BcsrMatrix<float> convert_values(const BcsrMatrix<double>&);
template BcsrMatrix<double> convert_values(const BcsrMatrix<float>&);
template BcsrMatrix<double> convert_values(const BcsrMatrix<double>&);

}  // namespace cnc
