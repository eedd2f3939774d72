#include "convert/dia.hpp"

#include "convert/settled.hpp"
#include "convert/spaces.hpp"

namespace cnc {

using detail::SettledIn;
using detail::SetUpExec;
namespace set_up = detail::set_up;

template <class T, class Space>
void DiaMatrix<T, Space>::validate() const {
  const SettledIn<Space> settled{};
  set_up::validate<SetUpExec<Space>>(*this);
}

template <class T, class Space>
DiaMatrix<T, Space> to_dia(const CsrMatrix<T, Space>& A, bool symmetric) {
  const SettledIn<Space> settled{};
  return set_up::to_dia<SetUpExec<Space>>(A, symmetric);
}

template <class T, class Space>
CsrMatrix<T, Space> to_csr(const DiaMatrix<T, Space>& A) {
  const SettledIn<Space> settled{};
  return set_up::to_csr<SetUpExec<Space>>(A);
}

template <class T, class S, class Space>
void update_values(DiaMatrix<T, Space>& A, const CsrMatrix<S, Space>& source) {
  const SettledIn<Space> settled{};
  set_up::update_values<SetUpExec<Space>>(A, source);
}

#define CNC_INSTANTIATE(T, Space)                                                    \
  template void DiaMatrix<T, Space>::validate() const;                               \
  template DiaMatrix<T, Space> to_dia(const CsrMatrix<T, Space>&, bool);             \
  template CsrMatrix<T, Space> to_csr(const DiaMatrix<T, Space>&);                   \
  template void update_values(DiaMatrix<T, Space>&, const CsrMatrix<float, Space>&); \
  template void update_values(DiaMatrix<T, Space>&, const CsrMatrix<double, Space>&);
CNC_FOR_EACH_SPACE(CNC_INSTANTIATE)
#undef CNC_INSTANTIATE

}  // namespace cnc
