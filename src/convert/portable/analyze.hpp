#pragma once

#include "convert/portable/dia.hpp"
#include "convert/portable/loops.hpp"
#include "convert/structure_facts.hpp"

#include <cnc/formats.hpp>

namespace cnc::portable {

/// All that one pass over rows and entries learns.
struct MatrixFacts {
  detail::RowFacts rows;
  detail::SymmetryFacts symmetry;

  KOKKOS_INLINE_FUNCTION MatrixFacts& operator+=(const MatrixFacts& other) {
    rows += other.rows;
    symmetry += other.symmetry;
    return *this;
  }
};

/// Blocks per analyzed block size.
struct BlockCounts {
  offset_t blocks[detail::analyzed_sizes] = {};

  KOKKOS_INLINE_FUNCTION BlockCounts& operator+=(const BlockCounts& other) {
    for (int k = 0; k < detail::analyzed_sizes; ++k) blocks[k] += other.blocks[k];
    return *this;
  }
};

}  // namespace cnc::portable

// Tell Kokkos::Sum where to start.
template <>
struct Kokkos::reduction_identity<cnc::portable::MatrixFacts> {
  KOKKOS_FORCEINLINE_FUNCTION static cnc::portable::MatrixFacts sum() { return {}; }
};
template <>
struct Kokkos::reduction_identity<cnc::detail::SymmetryFacts> {
  KOKKOS_FORCEINLINE_FUNCTION static cnc::detail::SymmetryFacts sum() { return {}; }
};
template <>
struct Kokkos::reduction_identity<cnc::portable::BlockCounts> {
  KOKKOS_FORCEINLINE_FUNCTION static cnc::portable::BlockCounts sum() { return {}; }
};

namespace cnc::portable {

/// Calls add(A, row, k, facts) for the entries k of all rows, several threads to a row. Waits.
template <class Exec, class T, class Add>
detail::SymmetryFacts gather_symmetry(const BcsrOperand<T>& A, const Add& add) {
  constexpr int lanes = row_lanes<Exec>;
  detail::SymmetryFacts all;
  Kokkos::parallel_reduce(
      "cnc::symmetry", range<Exec>(0, static_cast<offset_t>(A.rows) * lanes),
      KOKKOS_LAMBDA(const offset_t thread, detail::SymmetryFacts& facts) {
        const auto row = static_cast<index_t>(thread / lanes);
        for (offset_t k = A.row_offsets[row] + thread % lanes; k < A.row_offsets[row + 1];
             k += lanes)
          add(A, row, static_cast<index_t>(k), facts);
      },
      Kokkos::Sum<detail::SymmetryFacts>(all));
  return all;
}

/// add_entry and add_unpaired as objects that a kernel can be given.
struct AddEntry {
  template <class T>
  KOKKOS_INLINE_FUNCTION void operator()(const BcsrOperand<T>& A, index_t row, index_t k,
                                         detail::SymmetryFacts& facts) const {
    detail::add_entry(A, row, k, facts);
  }
};
struct AddUnpaired {
  template <class T>
  KOKKOS_INLINE_FUNCTION void operator()(const BcsrOperand<T>& A, index_t row, index_t k,
                                         detail::SymmetryFacts& facts) const {
    detail::add_unpaired(A, row, k, facts);
  }
};

/// Rows, bandwidths and symmetry, and a mark for every diagonal met, in one pass; a second one only
/// where entries below the diagonal lack their mirror image. Waits.
template <class Exec, class T>
MatrixFacts gather_facts(const BcsrOperand<T>& A, unsigned char* marks) {
  constexpr int lanes = row_lanes<Exec>;
  const auto threads = range<Exec>(0, static_cast<offset_t>(A.rows) * lanes);
  MatrixFacts all;
  Kokkos::parallel_reduce(
      "cnc::analyze", threads,
      KOKKOS_LAMBDA(const offset_t thread, MatrixFacts& facts) {
        const auto row = static_cast<index_t>(thread / lanes);
        const index_t begin = A.row_offsets[row];
        const index_t end = A.row_offsets[row + 1];
        if (thread % lanes == 0) facts.rows.add_row(row, A.columns + begin, A.columns + end);
        for (offset_t k = begin + thread % lanes; k < end; k += lanes) {
          mark(marks, A.rows, row, A.columns[k]);
          if (A.rows == A.cols) detail::add_entry(A, row, static_cast<index_t>(k), facts.symmetry);
        }
      },
      Kokkos::Sum<MatrixFacts>(all));
  if (!all.symmetry.lacks_lower()) return all;
  all.symmetry += gather_symmetry<Exec>(A, AddUnpaired{});
  return all;
}

/// Blocks of `block_size` that hold an entry of A. Waits.
template <class Exec, class T>
offset_t count_blocks(const BcsrOperand<T>& A, int block_size) {
  offset_t blocks = 0;
  Kokkos::parallel_reduce(
      "cnc::blocks", range<Exec>(0, ceil_div(A.rows, block_size)),
      KOKKOS_LAMBDA(const offset_t i, offset_t& sum) {
        sum += detail::blocks_in_row(A, block_size, static_cast<index_t>(i));
      },
      blocks);
  return blocks;
}

/// The same for all analyzed block sizes at once: threads [first, next first) count for one size. Waits.
template <class Exec, class T>
BlockCounts count_blocks(const BcsrOperand<T>& A) {
  Kokkos::Array<offset_t, detail::analyzed_sizes + 1> first;
  Kokkos::Array<int, detail::analyzed_sizes> sizes;
  first[0] = 0;
  for (int k = 0; k < detail::analyzed_sizes; ++k) {
    sizes[k] = detail::analyzed_block_sizes[k];
    first[k + 1] = first[k] + ceil_div(A.rows, sizes[k]);
  }
  BlockCounts all;
  Kokkos::parallel_reduce(
      "cnc::blocks", range<Exec>(0, first[detail::analyzed_sizes]),
      KOKKOS_LAMBDA(const offset_t thread, BlockCounts& counts) {
        int k = 0;
        while (thread >= first[k + 1]) ++k;
        counts.blocks[k] +=
            detail::blocks_in_row(A, sizes[k], static_cast<index_t>(thread - first[k]));
      },
      Kokkos::Sum<BlockCounts>(all));
  return all;
}

template <class Exec, class T, class Space>
BlockOccupancy block_occupancy(const CsrMatrix<T, Space>& given, int block_size) {
  detail::require_block_size(block_size);
  const CsrMatrix<T, Space> A = detail::ascending_csr<Exec>(given);
  return detail::occupancy_of(A.blocks(), count_blocks<Exec>(A.operand(), block_size), block_size);
}

template <class Exec, class T, class Space>
Structure analyze(const CsrMatrix<T, Space>& given) {
  const CsrMatrix<T, Space> A = detail::ascending_csr<Exec>(given);
  const auto source = A.operand();
  Structure structure;
  structure.rows = A.rows;
  structure.cols = A.cols;
  structure.nonzeros = A.blocks();
  const Marks<Space> marks = no_marks<Space>(A.rows, A.cols);
  const MatrixFacts facts = gather_facts<Exec>(source, marks.data());
  facts.rows.enter(structure);
  if (A.rows == A.cols) facts.symmetry.enter(structure);
  structure.diagonals = count_marks<Exec>(marks);
  const BlockCounts counts = count_blocks<Exec>(source);
  for (int k = 0; k < detail::analyzed_sizes; ++k)
    structure.occupancy.push_back(
        detail::occupancy_of(A.blocks(), counts.blocks[k], detail::analyzed_block_sizes[k]));
  return structure;
}

template <class Exec, class T, class Space>
Asymmetry find_asymmetry(const CsrMatrix<T, Space>& given) {
  require(given.rows == given.cols, "find_asymmetry: the matrix must be square");
  const CsrMatrix<T, Space> ascending = detail::ascending_csr<Exec>(given);
  const auto A = ascending.operand();
  detail::SymmetryFacts facts = gather_symmetry<Exec>(A, AddEntry{});
  if (facts.lacks_lower()) facts += gather_symmetry<Exec>(A, AddUnpaired{});
  return facts.least_symmetric;
}

}  // namespace cnc::portable
