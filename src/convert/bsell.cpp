#include "convert/bsell.hpp"

#include "convert/settled.hpp"
#include "convert/spaces.hpp"

namespace cnc {

using detail::SettledIn;
using detail::SetUpExec;
namespace set_up = detail::set_up;

template <class T, class Space>
void BsellMatrix<T, Space>::validate() const {
  const SettledIn<Space> settled{};
  set_up::validate<SetUpExec<Space>>(*this);
}

template <class T, class Space>
BsellMatrix<T, Space> to_bsell(const CsrMatrix<T, Space>& A, int block_size, int slice_height,
                               index_t sort_window) {
  const SettledIn<Space> settled{};
  return set_up::to_bsell<SetUpExec<Space>>(A, block_size, slice_height, sort_window);
}

template <class T, class Space>
CsrMatrix<T, Space> to_csr(const BsellMatrix<T, Space>& A) {
  const SettledIn<Space> settled{};
  return set_up::to_csr<SetUpExec<Space>>(A);
}

template <class T, class S, class Space>
void update_values(BsellMatrix<T, Space>& A, const CsrMatrix<S, Space>& source) {
  const SettledIn<Space> settled{};
  set_up::update_values<SetUpExec<Space>>(A, source);
}

#define CNC_INSTANTIATE(T, Space)                                                         \
  template void BsellMatrix<T, Space>::validate() const;                                  \
  template BsellMatrix<T, Space> to_bsell(const CsrMatrix<T, Space>&, int, int, index_t); \
  template CsrMatrix<T, Space> to_csr(const BsellMatrix<T, Space>&);                      \
  template void update_values(BsellMatrix<T, Space>&, const CsrMatrix<float, Space>&);    \
  template void update_values(BsellMatrix<T, Space>&, const CsrMatrix<double, Space>&);
CNC_FOR_EACH_SPACE(CNC_INSTANTIATE)
#undef CNC_INSTANTIATE

}  // namespace cnc
