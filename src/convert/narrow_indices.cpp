#include "convert/narrow_indices.hpp"

namespace cnc::detail {

template <class Space, class Index>
Vector<index_t, Space> narrowed(const char* name, const Index* indices, std::size_t n, int base) {
  return narrowed_by<Kokkos::DefaultHostExecutionSpace>(name, indices, n, base);
}

#define CNC_INSTANTIATE(Index) \
  template Vector<index_t> narrowed<HostSpace>(const char*, const Index*, std::size_t, int);
CNC_FOR_EACH_INDEX_TYPE(CNC_INSTANTIATE)
#undef CNC_INSTANTIATE

}  // namespace cnc::detail
