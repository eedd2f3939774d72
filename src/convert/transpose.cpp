#include "convert/transpose.hpp"

#include "convert/settled.hpp"
#include "convert/spaces.hpp"

#include <cnc/convert.hpp>

namespace cnc {

template <class T, class Space>
detail::TransposedPattern<Space> detail::transposed_pattern(const CsrMatrix<T, Space>& A) {
  return set_up::transposed_pattern<SetUpExec<Space>>(A);
}

template <class T, class Space>
CsrMatrix<T, Space> transpose(const CsrMatrix<T, Space>& A) {
  const detail::SettledIn<Space> settled{};
  return detail::set_up::transpose<detail::SetUpExec<Space>>(A);
}

#define CNC_INSTANTIATE(T, Space)                                       \
  template detail::TransposedPattern<Space> detail::transposed_pattern( \
      const CsrMatrix<T, Space>&);                                      \
  template CsrMatrix<T, Space> transpose(const CsrMatrix<T, Space>&);
CNC_FOR_EACH_SPACE(CNC_INSTANTIATE)
#undef CNC_INSTANTIATE

}  // namespace cnc
