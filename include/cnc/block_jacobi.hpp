#pragma once

#include <cnc/preconditioner.hpp>

namespace cnc {

/// Rows of a dense block of BlockJacobi at most.
inline constexpr int largest_dense_block = 32;

/// Of BlockJacobi.
struct BlockJacobiOptions {
  int block_size = largest_dense_block;  ///< rows of a block
};

/// Block Jacobi with dense inverses of diagonal blocks of up to 32 rows, in a pass of its own. Blocks of up to 16 are built in
/// (PreconditionerKind::block_jacobi): passes of methods apply those on the way.
///
/// Values   a block at fault is singular, or has an entry that is not finite: its first row is named.
/// Errors   InvalidArgument (block size outside 1..32; apply without a set_up), OutOfMemory.
/// Cost     set_up O(rows b^2), where the matrix is; apply reads rows b numbers.
template <class V, class Exec = Kokkos::DefaultHostExecutionSpace>
class BlockJacobi final : public PreconditionerBase<V, Exec> {
 public:
  using typename PreconditionerBase<V, Exec>::Space;

  /// Nothing is set up yet.
  explicit BlockJacobi(const BlockJacobiOptions& options = {});

  std::string name() const override;  ///< "block-jacobi:32"
  double bytes(index_t rows, offset_t nonzeros) const override;
  /// @{
  /// What PreconditionerBase says of them.
  PreconditionerSetup set_up(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                             const Matrix<V, Space>& layout) override;
  void apply(const Context<Exec>& ctx, const Vector<const V, Space>& r,
             const Vector<V, Space>& z) const override;
  void apply_transposed(const Context<Exec>& ctx, const Vector<const V, Space>& r,
                        const Vector<V, Space>& z) const override;
  bool has_transpose() const override { return true; }
  /// On a device: loops of the host are no part of what is enqueued.
  bool only_enqueues() const override { return !detail::is_host_space<Space>; }
  /// @}

 private:
  int block_size_;
  Vector<V, Space>
      inverse_;  ///< [rows block_size]: row-major blocks, the last one cut off after the rows
};

}  // namespace cnc
