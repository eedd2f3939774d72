#pragma once

#include <cnc/linear_operator.hpp>
#include <cnc/preconditioner.hpp>

#include <utility>

namespace cnc::detail {

/// Bytes of the inverted diagonal (blocks).
template <class V>
constexpr double local_bytes(PreconditionerKind kind, int block_size, index_t rows) {
  if (kind == PreconditionerKind::none) return 0;
  const int per_row = kind == PreconditionerKind::jacobi || block_size < 1 ? 1 : block_size;
  return static_cast<double>(rows) * per_row * sizeof(V);
}

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
  std::optional<PreconditionerOperand<V>> local() const override { return data_.operand(); }

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

  FunctionPreconditioner(PreconditionerFunction<V, Space> function, EnqueuesOnly promise)
      : function_(std::move(function)), promise_(promise) {}

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
  bool only_enqueues() const override { return promise_ == EnqueuesOnly::yes; }

 private:
  PreconditionerFunction<V, Space> function_;
  EnqueuesOnly promise_;
};

}  // namespace cnc::detail
