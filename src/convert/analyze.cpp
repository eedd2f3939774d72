#include "convert/analyze.hpp"

#include "convert/settled.hpp"
#include "convert/spaces.hpp"

namespace cnc {

using detail::SettledIn;
using detail::SetUpExec;
namespace set_up = detail::set_up;

template <class T, class Space>
Structure analyze(const CsrMatrix<T, Space>& A) {
  const SettledIn<Space> settled{};
  return set_up::analyze<SetUpExec<Space>>(A);
}

template <class T, class Space>
Asymmetry find_asymmetry(const CsrMatrix<T, Space>& A) {
  const SettledIn<Space> settled{};
  return set_up::find_asymmetry<SetUpExec<Space>>(A);
}

template <class T, class Space>
BlockOccupancy block_occupancy(const CsrMatrix<T, Space>& A, int block_size) {
  const SettledIn<Space> settled{};
  return set_up::block_occupancy<SetUpExec<Space>>(A, block_size);
}

#define CNC_INSTANTIATE(T, Space)                                \
  template Structure analyze(const CsrMatrix<T, Space>&);        \
  template Asymmetry find_asymmetry(const CsrMatrix<T, Space>&); \
  template BlockOccupancy block_occupancy(const CsrMatrix<T, Space>&, int);
CNC_FOR_EACH_SPACE(CNC_INSTANTIATE)
#undef CNC_INSTANTIATE

}  // namespace cnc
