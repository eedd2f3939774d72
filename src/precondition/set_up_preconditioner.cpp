#include "precondition/set_up_preconditioner.hpp"

#include "convert/settled.hpp"
#include "convert/spaces.hpp"

namespace cnc {

template <class V, class S, class Space>
PreconditionerSetup set_up_preconditioner(const CsrMatrix<S, Space>& A, PreconditionerKind kind,
                                          int block_size, Preconditioner<V, Space>& M) {
  const detail::SettledIn<Space> settled{};
  return detail::set_up::set_up_preconditioner<detail::SetUpExec<Space>>(A, kind, block_size, M);
}

template <class V, class Space>
PreconditionerSetup set_up_preconditioner(const Matrix<V, Space>& A, PreconditionerKind kind,
                                          int block_size, Preconditioner<V, Space>& M) {
  const detail::SettledIn<Space> settled{};
  return detail::set_up::set_up_preconditioner<detail::SetUpExec<Space>>(A, kind, block_size, M);
}

template <class V, class Space>
PreconditionerSetup set_up_normal_preconditioner(const CsrMatrix<V, Space>& transpose,
                                                 PreconditionerKind kind, int block_size,
                                                 Preconditioner<V, Space>& M) {
  const detail::SettledIn<Space> settled{};
  return detail::set_up::set_up_normal_preconditioner<detail::SetUpExec<Space>>(transpose, kind,
                                                                                block_size, M);
}

#define CNC_INSTANTIATE(S, Space)                                                                 \
  template PreconditionerSetup set_up_preconditioner(                                             \
      const CsrMatrix<S, Space>&, PreconditionerKind, int, Preconditioner<float, Space>&);        \
  template PreconditionerSetup set_up_preconditioner(                                             \
      const CsrMatrix<S, Space>&, PreconditionerKind, int, Preconditioner<double, Space>&);       \
  template PreconditionerSetup set_up_preconditioner(const Matrix<S, Space>&, PreconditionerKind, \
                                                     int, Preconditioner<S, Space>&);             \
  template PreconditionerSetup set_up_normal_preconditioner(                                      \
      const CsrMatrix<S, Space>&, PreconditionerKind, int, Preconditioner<S, Space>&);
CNC_FOR_EACH_SPACE(CNC_INSTANTIATE)
#undef CNC_INSTANTIATE

}  // namespace cnc
