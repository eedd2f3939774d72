#include <cnc/block_jacobi.hpp>

#include "convert/spaces.hpp"
#include "huge_pages.hpp"
#include "precondition/set_up_preconditioner.hpp"

namespace cnc {
namespace {

/// Inverts block i; work: [2 b^2] for each block.
template <class V, class Blocks>
struct InvertInMemory {
  Blocks blocks;
  int b;
  double* work;
  V* inverse;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, detail::Least& fault) const {
    const index_t first = static_cast<index_t>(i) * b;
    double* const block = work + 2 * i * b * b;
    double* const inverted = block + b * b;
    const index_t not_finite = detail::gather_block(blocks, first, b, block);
    bool good = not_finite < 0 && detail::invert_block(b, block, inverted);
    const int height = blocks.A.rows - first < b ? static_cast<int>(blocks.A.rows - first) : b;
    V* const to = inverse + i * b * b;
    for (int k = 0; k < height * b && good; ++k) {
      to[k] = static_cast<V>(inverted[k]);
      good = std::isfinite(to[k]);
    }
    if (!good) detail::report({not_finite < 0 ? first : not_finite, not_finite < 0}, fault);
  }
};

/// A row of z := M^-1 r or M^-T r.
template <class V, bool transposed>
struct ApplyBlockRow {
  index_t rows;
  int b;
  const V* inverse;
  const V* r;
  V* z;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    const offset_t first = i / b * b;
    const int height = rows - first < b ? static_cast<int>(rows - first) : b;
    const V* const entries = transposed ? inverse + first * b + (i - first) : inverse + i * b;
    V sum = 0;
    for (int k = 0; k < height; ++k) sum += entries[transposed ? k * b : k] * r[first + k];
    z[i] = sum;
  }
};

template <bool transposed, class V, class Exec, class Space>
void apply_blocks(const Context<Exec>& ctx, int b, const Vector<V, Space>& inverse,
                  const Vector<const V, Space>& r, const Vector<V, Space>& z) {
  const index_t rows = detail::checked_extent(r.extent(0));
  require(inverse.extent(0) == r.extent(0) * static_cast<std::size_t>(b),
          "BlockJacobi: apply without a set_up for a matrix of so many rows");
  detail::on_each(ctx, rows,
                  ApplyBlockRow<V, transposed>{rows, b, inverse.data(), r.data(), z.data()});
}

}  // namespace

template <class V, class Exec>
BlockJacobi<V, Exec>::BlockJacobi(const BlockJacobiOptions& options)
    : block_size_(options.block_size) {
  require(block_size_ >= 1 && block_size_ <= largest_dense_block,
          "BlockJacobi: the block size must be 1 to 32");
}

template <class V, class Exec>
std::string BlockJacobi<V, Exec>::name() const {
  return "block-jacobi:" + std::to_string(block_size_);
}
template <class V, class Exec>
double BlockJacobi<V, Exec>::bytes(index_t rows, offset_t) const {
  return double(rows) * block_size_ * (sizeof(V) + 2 * sizeof(double));
}

template <class V, class Exec>
PreconditionerSetup BlockJacobi<V, Exec>::set_up(Context<Exec>&, const CsrMatrix<V, Space>& A,
                                                 const Matrix<V, Space>&) {
  using SetUp = detail::SetUpExec<Space>;
  require(A.rows == A.cols, "BlockJacobi: the matrix must be square");
  const int b = block_size_;
  const index_t blocks = ceil_div(A.rows, b);
  const auto of_blocks = static_cast<std::size_t>(blocks) * static_cast<std::size_t>(b * b);
  const auto n = static_cast<std::size_t>(A.rows) * static_cast<std::size_t>(b);
  inverse_ = {};
  const auto inverse = uninitialized<V, Space>("cnc::block_jacobi", n);
  const auto work = detail::in_large_pages<double, Space>("cnc::block_jacobi", 2 * of_blocks);
  const detail::BlocksInCsr<V> of_A{A.operand(), A.checked == Checked::ascending};
  const detail::Least fault = detail::sum_over<detail::Least>(
      detail::instance<SetUp>(), blocks,
      InvertInMemory<V, detail::BlocksInCsr<V>>{of_A, b, work.data(), inverse.data()}, A.rows);
  if (fault.found()) return {static_cast<index_t>(fault.first()), fault.second() == 1};
  inverse_ = inverse;
  return {};
}

template <class V, class Exec>
void BlockJacobi<V, Exec>::apply(const Context<Exec>& ctx, const Vector<const V, Space>& r,
                                 const Vector<V, Space>& z) const {
  apply_blocks<false>(ctx, block_size_, inverse_, r, z);
}
template <class V, class Exec>
void BlockJacobi<V, Exec>::apply_transposed(const Context<Exec>& ctx,
                                            const Vector<const V, Space>& r,
                                            const Vector<V, Space>& z) const {
  apply_blocks<true>(ctx, block_size_, inverse_, r, z);
}

template class BlockJacobi<float>;
template class BlockJacobi<double>;
#ifdef CNC_KOKKOS_HAS_DEVICE
template class BlockJacobi<float, Kokkos::DefaultExecutionSpace>;
template class BlockJacobi<double, Kokkos::DefaultExecutionSpace>;
#endif

}  // namespace cnc
