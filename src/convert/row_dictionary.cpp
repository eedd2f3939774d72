#include "convert/row_dictionary.hpp"

#include "convert/settled.hpp"
#include "convert/sorted_rows.hpp"
#include "convert/spaces.hpp"

#include <cnc/convert.hpp>

namespace cnc {

template <class T, class S, class Space>
bool find_row_dictionary(Matrix<T, Space>& A, const CsrMatrix<S, Space>& source) {
  require(source.block_size == 1 && source.rows == rows(A) && source.cols == cols(A),
          "find_row_dictionary: the source must be the CSR matrix of the layout");
  const detail::SettledIn<Space> settled{};
  return std::visit(
      [&](auto& layout) {
        if constexpr (requires { layout.read_only; })
          if (layout.block_size == 1) return false;
        using Exec = detail::SetUpExec<Space>;
        layout.dictionary =
            detail::set_up::row_dictionary<Exec, T>(detail::ascending_csr<Exec>(source));
        if constexpr (requires { layout.slice_height; }) layout.dictionary.forget_runs();
        return !layout.dictionary.empty();
      },
      A);
}

#define CNC_INSTANTIATE(T, Space)                                                       \
  template bool find_row_dictionary(Matrix<T, Space>&, const CsrMatrix<float, Space>&); \
  template bool find_row_dictionary(Matrix<T, Space>&, const CsrMatrix<double, Space>&);
CNC_FOR_EACH_SPACE(CNC_INSTANTIATE)
#undef CNC_INSTANTIATE

}  // namespace cnc
