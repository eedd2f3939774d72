#pragma once

#include <cnc/bcsr_matrix.hpp>
#include <cnc/bsell_matrix.hpp>
#include <cnc/dia_matrix.hpp>

#include <variant>

namespace cnc {

/// A matrix in any of the formats. One line per format.
template <class T, class Space = HostSpace>
using Matrix = std::variant<BcsrMatrix<T, Space>, BsellMatrix<T, Space>, DiaMatrix<T, Space>>;

/// Scalar rows.
template <class T, class Space>
index_t rows(const Matrix<T, Space>& A) {
  return std::visit([](const auto& a) { return a.rows; }, A);
}
/// Scalar columns.
template <class T, class Space>
index_t cols(const Matrix<T, Space>& A) {
  return std::visit([](const auto& a) { return a.cols; }, A);
}
/// Useful entries.
template <class T, class Space>
offset_t nonzeros(const Matrix<T, Space>& A) {
  return std::visit([](const auto& a) { return a.nonzeros; }, A);
}
/// Stored values, fill included.
template <class T, class Space>
offset_t stored(const Matrix<T, Space>& A) {
  return std::visit([](const auto& a) { return a.stored(); }, A);
}
/// Unknowns per block; 1 for formats without blocks.
template <class T, class Space>
int block_size(const Matrix<T, Space>& A) {
  return std::visit(
      [](const auto& a) {
        if constexpr (requires { a.block_size; })
          return a.block_size;
        else
          return 1;
      },
      A);
}
/// Compulsory bytes and useful flops of one SpMV under vectors of `vector_bytes` a scalar.
template <class T, class Space>
Cost spmv_cost(const Matrix<T, Space>& A, int vector_bytes) {
  return std::visit([=](const auto& a) { return a.spmv_cost(vector_bytes); }, A);
}

}  // namespace cnc
