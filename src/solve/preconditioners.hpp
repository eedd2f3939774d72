#pragma once

#include <cnc/linear_operator.hpp>
#include <cnc/preconditioner.hpp>

#include "on_each.hpp"

#include <utility>

namespace cnc::detail {

/// Bytes of the inverted diagonal (blocks).
template <class V>
constexpr double local_bytes(PreconditionerKind kind, int block_size, index_t rows) {
  if (kind == PreconditionerKind::none) return 0;
  const int per_row = kind == PreconditionerKind::jacobi || block_size < 1 ? 1 : block_size;
  return static_cast<double>(rows) * per_row * sizeof(V);
}

/// to := blocks of b x b, each transposed
template <class V>
struct TransposeBlocks {
  const V* from;
  int b;
  V* to;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t k) const {
    const int within = static_cast<int>(k % (b * b));
    to[k] = from[k - within + within % b * b + within / b];
  }
};

/// The built-in ones.
template <class V, class Exec>
class LocalPreconditioner final : public PreconditionerBase<V, Exec> {
 public:
  using typename PreconditionerBase<V, Exec>::Space;

  LocalPreconditioner() = default;
  LocalPreconditioner(PreconditionerKind kind, int block_size,
                      DiagonalRule rule = DiagonalRule::as_it_is)
      : kind_(kind), block_size_(block_size) {
    data_.diagonal = rule;
  }

  int block_size() const { return block_size_; }

  std::string name() const override {
    if (kind_ == PreconditionerKind::none) return "none";
    if (kind_ == PreconditionerKind::jacobi) return "jacobi";
    return "block-jacobi:" + std::to_string(block_size_);
  }
  double bytes(index_t rows, offset_t) const override {
    return local_bytes<V>(kind_, block_size_, rows);
  }
  PreconditionerSetup set_up(Context<Exec>&, const CsrMatrix<V, Space>& A,
                             const Matrix<V, Space>&) override {
    return set_up_preconditioner(A, kind_, block_size_, data_);
  }
  /// The same where there is no CSR matrix.
  PreconditionerSetup set_up_from(const Matrix<V, Space>& layout) {
    return set_up_preconditioner(layout, kind_, block_size_, data_);
  }
  /// That of A^T A, for methods with the normal equations.
  PreconditionerSetup set_up_normal(const CsrMatrix<V, Space>& transpose) {
    data_.diagonal = DiagonalRule::one_for_zero;
    return set_up_normal_preconditioner(transpose, kind_, block_size_, data_);
  }
  /// M^-T besides, for methods that need it.
  void add_transpose(const Exec& exec) {
    if (kind_ != PreconditionerKind::block_jacobi) return;
    const std::size_t n = data_.inverse.extent(0);
    if (data_.transposed_inverse.extent(0) != n)
      data_.transposed_inverse = uninitialized<V, Space>("cnc::preconditioner", n);
    on_each(exec, static_cast<offset_t>(n),
            TransposeBlocks<V>{data_.inverse.data(), data_.block_size,
                               data_.transposed_inverse.data()});
    exec.fence();
  }
  std::optional<PreconditionerOperand<V>> local() const override { return data_.operand(); }
  bool has_transpose() const override {
    return kind_ != PreconditionerKind::block_jacobi ||
           data_.transposed_inverse.extent(0) == data_.inverse.extent(0);
  }

 private:
  PreconditionerKind kind_ = PreconditionerKind::none;
  int block_size_ = 1;
  Preconditioner<V, Space> data_;
};

/// A function of the caller's.
template <class V, class Exec>
class FunctionPreconditioner final : public PreconditionerBase<V, Exec> {
 public:
  using typename PreconditionerBase<V, Exec>::Space;

  FunctionPreconditioner(PreconditionerFunction<V, Space> function, EnqueuesOnly promise,
                         PreconditionerFunction<V, Space> transposed)
      : function_(std::move(function)), transposed_(std::move(transposed)), promise_(promise) {}

  std::string name() const override { return "function"; }
  double bytes(index_t, offset_t) const override { return 0; }
  PreconditionerSetup set_up(Context<Exec>&, const CsrMatrix<V, Space>&,
                             const Matrix<V, Space>&) override {
    return {};
  }
  void apply(const Context<Exec>&, const Vector<const V, Space>& r,
             const Vector<V, Space>& z) const override {
    function_(r, z);
  }
  void apply_transposed(const Context<Exec>&, const Vector<const V, Space>& r,
                        const Vector<V, Space>& z) const override {
    transposed_(r, z);
  }
  bool has_transpose() const override { return bool(transposed_); }
  bool only_enqueues() const override { return promise_ == EnqueuesOnly::yes; }

 private:
  PreconditionerFunction<V, Space> function_, transposed_;
  EnqueuesOnly promise_;
};

}  // namespace cnc::detail
