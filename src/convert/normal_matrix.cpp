#include "convert/normal_matrix.hpp"

#include "convert/settled.hpp"
#include "convert/spaces.hpp"
#include "convert/transpose.hpp"

#include <cnc/least_squares.hpp>

namespace cnc {

template <class T, class Space>
CsrMatrix<T, Space> normal_matrix(const CsrMatrix<T, Space>& given) {
  using Exec = detail::SetUpExec<Space>;
  const detail::SettledIn<Space> settled{};
  const auto exec = detail::instance<Exec>();
  const auto A = detail::ascending_csr<Exec>(given);
  const auto transposed = detail::set_up::transpose<Exec>(A);
  return detail::normal_product(exec, A, transposed);
}

#define CNC_INSTANTIATE(T, Space) \
  template CsrMatrix<T, Space> normal_matrix(const CsrMatrix<T, Space>&);
CNC_FOR_EACH_SPACE(CNC_INSTANTIATE)
#undef CNC_INSTANTIATE

}  // namespace cnc
