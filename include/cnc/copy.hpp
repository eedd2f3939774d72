#pragma once

#include <cnc/matrix.hpp>

#include <variant>

namespace cnc {

// Data moves between host and device when it is asked to, by these functions, and at no other time.
// What is in Space already is returned as it is, sharing its memory. They wait for all that was enqueued
// before, and have ended on return. Errors: OutOfMemory.

namespace detail {
#ifdef CNC_KOKKOS_HAS_DEVICE
/// A long array of HostSpace into the memory of the default execution space's device, as fast as the threads of the host read it.
/// False where that takes several threads or pinned memory that are not there; then nothing is copied.
bool copy_in_pieces(void* to, const void* from, std::size_t bytes);
/// From how many bytes on it is used: pinned memory takes milliseconds to make.
inline constexpr std::size_t long_copy = std::size_t(128) << 20;
#endif
}  // namespace detail

/// The entries of a vector or index array in another memory space.
template <class Space, class T, class... Properties>
auto copy_to(const Kokkos::View<T*, Properties...>& view) {
  using View = Kokkos::View<T*, Properties...>;
  using Value = typename View::non_const_value_type;
  if constexpr (std::is_same_v<typename View::memory_space, Space>) {
    return view;
  } else {
    const auto copy = uninitialized<Value, Space>(view.label(), view.extent(0));
#ifdef CNC_KOKKOS_HAS_DEVICE
    const std::size_t bytes = view.extent(0) * sizeof(Value);
    if constexpr (std::is_same_v<typename View::memory_space, HostSpace> &&
                  std::is_same_v<Space, Kokkos::DefaultExecutionSpace::memory_space>)
      if (bytes >= detail::long_copy && view.span_is_contiguous() &&
          detail::copy_in_pieces(copy.data(), view.data(), bytes))
        return copy;
#endif
    Kokkos::deep_copy(copy, view);
    return copy;
  }
}

/// @{
/// A matrix in another memory space, in the same layout.
template <class Space, class T, class From>
BcsrMatrix<T, Space> copy_to(const BcsrMatrix<T, From>& A) {
  BcsrMatrix<T, Space> copy(A.rows, A.cols, A.block_size, copy_to<Space>(A.row_offsets),
                            copy_to<Space>(A.columns), copy_to<Space>(A.values), A.nonzeros);
  copy.checked = A.checked;
  copy.read_only = A.read_only && std::is_same_v<Space, From>;
  return copy;
}
template <class Space, class T, class From>
BsellMatrix<T, Space> copy_to(const BsellMatrix<T, From>& A) {
  return {A.rows,
          A.cols,
          A.block_size,
          A.slice_height,
          A.sort_window,
          copy_to<Space>(A.slice_offsets),
          copy_to<Space>(A.columns),
          copy_to<Space>(A.row_permutation),
          copy_to<Space>(A.values),
          A.nonzeros};
}
template <class Space, class T, class From>
DiaMatrix<T, Space> copy_to(const DiaMatrix<T, From>& A) {
  return {A.rows,    A.cols, A.symmetric, copy_to<Space>(A.offsets), copy_to<Space>(A.values),
          A.nonzeros};
}
template <class Space, class T, class From>
Matrix<T, Space> copy_to(const Matrix<T, From>& A) {
  return std::visit([](const auto& a) { return Matrix<T, Space>(copy_to<Space>(a)); }, A);
}
/// @}

}  // namespace cnc
