#include "convert/value_table.hpp"

#include "convert/settled.hpp"
#include "convert/spaces.hpp"

#include <cnc/convert.hpp>

namespace cnc {

template <class T, class Space>
bool find_value_table(Matrix<T, Space>& A) {
  const detail::SettledIn<Space> settled{};
  const auto find = [](auto& layout) {
    if constexpr (requires { layout.value_table; }) {
      layout.value_table = {};
      if (layout.block_size == 1)
        layout.value_table =
            detail::set_up::make_value_table<detail::SetUpExec<Space>>(layout.values);
      return !layout.value_table.empty();
    } else {
      return false;
    }
  };
  return std::visit(find, A);
}

#define CNC_INSTANTIATE(T, Space) template bool find_value_table(Matrix<T, Space>&);
CNC_FOR_EACH_SPACE(CNC_INSTANTIATE)
#undef CNC_INSTANTIATE

}  // namespace cnc
