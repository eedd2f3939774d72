#include <cnc/preconditioner.hpp>
#include <parallel.hpp>
#include <precondition/invert_block.hpp>

#include <algorithm>
#include <cmath>

namespace cnc {
namespace {

/// Keeps the fault of the lowest row of all that the threads report.
void report(PreconditionerSetup& result, index_t row, bool singular_block) {
#pragma omp critical(cnc_preconditioner_report)
  if (result.ok() || row < result.row) {
    result.row = row;
    result.singular_block = singular_block;
  }
}

/// Position of the first entry of a row at column >= `column`.
template <class S>
index_t find_column(const CsrMatrix<S>& A, index_t row, index_t column) {
  const index_t* const columns = A.columns.data();
  const auto i = static_cast<std::size_t>(row);
  return static_cast<index_t>(
      std::lower_bound(columns + A.row_offsets(i), columns + A.row_offsets(i + 1), column) -
      columns);
}

/// A value that V can hold and that a preconditioner can use.
template <class V>
bool usable(double inverse) {
  return std::isfinite(static_cast<V>(inverse)) && static_cast<V>(inverse) != 0;
}

template <class V, class S>
PreconditionerSetup invert_diagonal(const CsrMatrix<S>& A, V* inverse) {
  PreconditionerSetup result;
  detail::parallel_for(A.rows, [&](index_t row) {
    const auto k = static_cast<std::size_t>(find_column(A, row, row));
    const auto end = static_cast<std::size_t>(A.row_offsets(static_cast<std::size_t>(row) + 1));
    const double diagonal = k < end && A.columns(k) == row ? static_cast<double>(A.values(k)) : 0;
    const bool good = std::isfinite(diagonal) && diagonal != 0 && usable<V>(1 / diagonal);
    inverse[row] = good ? static_cast<V>(1 / diagonal) : V{1};
    if (!good) {
      report(result, row, false);
    }
  });
  return result;
}

/// Copies the diagonal block that starts at row `first` into `block` (row-major), the identity where it
/// sticks out of A. Returns the first row with an entry that is not finite, or -1.
template <class S>
index_t gather_block(const CsrMatrix<S>& A, index_t first, int b, double* block) {
  index_t fault = -1;
  std::fill(block, block + b * b, 0.0);
  for (int r = 0; r < b; ++r) {
    if (r >= A.rows - first) {
      block[r * b + r] = 1;
      continue;
    }
    const index_t row = first + r;
    const index_t end = A.row_offsets(static_cast<std::size_t>(row) + 1);
    for (index_t k = find_column(A, row, first); k < end; ++k) {
      const index_t c = A.columns(static_cast<std::size_t>(k)) - first;
      if (c >= b) {
        break;
      }
      block[r * b + c] = static_cast<double>(A.values(static_cast<std::size_t>(k)));
      if (fault < 0 && !std::isfinite(block[r * b + c])) {
        fault = row;
      }
    }
  }
  return fault;
}

template <class V, class S>
PreconditionerSetup invert_diagonal_blocks(const CsrMatrix<S>& A, int b, V* inverse) {
  PreconditionerSetup result;
  detail::parallel_for(ceil_div(A.rows, b), [&](index_t i) {
    double block[max_block_size * max_block_size];
    double inverted[max_block_size * max_block_size];
    const index_t first = i * b;
    const index_t not_finite_row = gather_block(A, first, b, block);
    bool good = not_finite_row < 0 && detail::invert_block(b, block, inverted);
    V* const target = inverse + static_cast<offset_t>(i) * b * b;
    for (int k = 0; k < b * b && good; ++k) {
      target[k] = static_cast<V>(inverted[k]);
      good = std::isfinite(target[k]);
    }
    if (!good) {
      for (int k = 0; k < b * b; ++k) {
        target[k] = k % (b + 1) == 0 ? V{1} : V{0};
      }
      report(result, not_finite_row < 0 ? first : not_finite_row, not_finite_row < 0);
    }
  });
  return result;
}

template <class V>
void resize(Vector<V>& inverse, std::size_t n) {
  if (inverse.extent(0) != n) {
    inverse = uninitialized<V>("cnc::preconditioner", n);
  }
}

}  // namespace

template <class V, class S>
PreconditionerSetup set_up_preconditioner(const CsrMatrix<S>& A, PreconditionerKind kind,
                                          int block_size, Preconditioner<V>& M) {
  require(A.block_size == 1, "set_up_preconditioner: needs a CSR matrix (block size 1)");
  require(A.rows == A.cols, "set_up_preconditioner: the matrix must be square");
  require(
      kind != PreconditionerKind::block_jacobi || (block_size >= 1 && block_size <= max_block_size),
      "set_up_preconditioner: block size must be 1 to 16");
  M.kind = kind;
  M.block_size = kind == PreconditionerKind::block_jacobi ? block_size : 1;
  if (kind == PreconditionerKind::none) {
    M.inverse = Vector<V>();
    return {};
  }
  const auto b = static_cast<std::size_t>(M.block_size);
  resize(M.inverse, static_cast<std::size_t>(ceil_div(A.rows, M.block_size)) * b * b);
  return M.block_size == 1 ? invert_diagonal(A, M.inverse.data())
                           : invert_diagonal_blocks(A, M.block_size, M.inverse.data());
}

template PreconditionerSetup set_up_preconditioner(const CsrMatrix<float>&, PreconditionerKind, int,
                                                   Preconditioner<float>&);
template PreconditionerSetup set_up_preconditioner(const CsrMatrix<double>&, PreconditionerKind,
                                                   int, Preconditioner<float>&);
template PreconditionerSetup set_up_preconditioner(const CsrMatrix<float>&, PreconditionerKind, int,
                                                   Preconditioner<double>&);
template PreconditionerSetup set_up_preconditioner(const CsrMatrix<double>&, PreconditionerKind,
                                                   int, Preconditioner<double>&);

}  // namespace cnc
