#include "convert/bcsr.hpp"

#include "convert/settled.hpp"
#include "convert/spaces.hpp"

namespace cnc {

using detail::SettledIn;
using detail::SetUpExec;
namespace set_up = detail::set_up;

template <class T, class Space>
Checked BcsrMatrix<T, Space>::validate() const {
  const SettledIn<Space> settled{};
  return set_up::validate<SetUpExec<Space>>(*this);
}

template <class T, class Space>
BcsrMatrix<T, Space> to_bcsr(const CsrMatrix<T, Space>& A, int block_size) {
  const SettledIn<Space> settled{};
  return set_up::to_bcsr<SetUpExec<Space>>(A, block_size);
}

template <class T, class Space>
CsrMatrix<T, Space> to_csr(const BcsrMatrix<T, Space>& A) {
  const SettledIn<Space> settled{};
  return set_up::to_csr<SetUpExec<Space>>(A);
}

template <class T, class S, class Space>
void update_values(BcsrMatrix<T, Space>& A, const CsrMatrix<S, Space>& source) {
  const SettledIn<Space> settled{};
  set_up::update_values<SetUpExec<Space>>(A, source);
}

template <class To, class From, class Space>
BcsrMatrix<To, Space> convert_values(const BcsrMatrix<From, Space>& A) {
  const SettledIn<Space> settled{};
  return set_up::convert_values<To, SetUpExec<Space>>(A);
}

#define CNC_INSTANTIATE(T, Space)                                                      \
  template Checked BcsrMatrix<T, Space>::validate() const;                             \
  template BcsrMatrix<T, Space> to_bcsr(const CsrMatrix<T, Space>&, int);              \
  template CsrMatrix<T, Space> to_csr(const BcsrMatrix<T, Space>&);                    \
  template void update_values(BcsrMatrix<T, Space>&, const CsrMatrix<float, Space>&);  \
  template void update_values(BcsrMatrix<T, Space>&, const CsrMatrix<double, Space>&); \
  template BcsrMatrix<float, Space> convert_values(const BcsrMatrix<T, Space>&);       \
  template BcsrMatrix<double, Space> convert_values(const BcsrMatrix<T, Space>&);
CNC_FOR_EACH_SPACE(CNC_INSTANTIATE)
#undef CNC_INSTANTIATE

}  // namespace cnc
