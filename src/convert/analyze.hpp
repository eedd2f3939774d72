#pragma once

#include "convert/block_row.hpp"
#include "convert/dia.hpp"
#include "convert/structure_facts.hpp"

#include <cnc/formats.hpp>

#include <algorithm>
#include <memory>
#include <new>
#include <type_traits>

namespace cnc::detail {

/// All that one pass over rows and entries learns.
struct MatrixFacts : Facts {
  RowFacts rows;
  SymmetryFacts symmetry;

  KOKKOS_INLINE_FUNCTION MatrixFacts& operator+=(const MatrixFacts& other) {
    rows += other.rows;
    symmetry += other.symmetry;
    return *this;
  }
};

/// find_entry.
struct FindByHalves {
  template <class T>
  KOKKOS_INLINE_FUNCTION index_t operator()(const BcsrOperand<T>& A, index_t row,
                                            index_t column) const {
    return find_entry(A, row, column);
  }
};

/// The same for a thread of the host that asks for columns which ascend: it goes on in each row from where it was there before. Only rows
/// [first, first + rows) are kept in mind, where mirror images lie if entries are near the diagonal; others are searched, all of them where
/// there is no memory.
class FindOnwards {
 public:
  FindOnwards() = default;
  FindOnwards(offset_t first, offset_t rows)
      : first_(static_cast<index_t>(first)), rows_(static_cast<index_t>(rows)) {
    try {
      places_ = std::shared_ptr<index_t[]>(new index_t[static_cast<std::size_t>(rows)]);
      std::fill_n(places_.get(), rows, -1);
    } catch (const std::bad_alloc&) {
      rows_ = 0;
    }
  }

  template <class T>
  index_t operator()(const BcsrOperand<T>& A, index_t row, index_t column) const {
    if (row < first_ || row - first_ >= rows_) return find_entry(A, row, column);
    const index_t end = A.row_offsets[row + 1];
    index_t& place = places_[row - first_];
    if (place < 0)
      place = static_cast<index_t>(
          first_not_less(A.columns + A.row_offsets[row], A.columns + end, column) - A.columns);
    while (place < end && A.columns[place] < column) ++place;
    return place < end && A.columns[place] == column ? place : -1;
  }

 private:
  index_t first_ = 0, rows_ = 0;
  std::shared_ptr<index_t[]> places_;
};

/// How a thread finds mirror images.
template <class Exec>
using FindMirror = std::conditional_t<on_threads<Exec>, FindOnwards, FindByHalves>;

/// For rows [begin, end) of n.
inline FindOnwards find_for_range(offset_t begin, offset_t end, offset_t n) {
  return {begin, std::min(2 * (end - begin), n - begin)};
}

/// Rows, bandwidths and symmetry, and a mark for every diagonal met.
template <class Exec, class T>
struct GatherFacts {
  BcsrOperand<T> A;
  unsigned char* marks;
  FindMirror<Exec> find = {};
  GatherFacts for_range(offset_t begin, offset_t end) const requires on_threads<Exec> {
    if (A.rows != A.cols) return *this;
    return {A, marks, find_for_range(begin, end, A.rows)};
  }
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, MatrixFacts& facts) const {
    constexpr int lanes = row_lanes<Exec>;
    const auto row = static_cast<index_t>(i / lanes);
    const index_t begin = A.row_offsets[row];
    const index_t end = A.row_offsets[row + 1];
    if (i % lanes == 0) facts.rows.add_row(row, A.columns + begin, A.columns + end);
    for (offset_t k = begin + i % lanes; k < end; k += lanes) {
      mark(marks, A.rows, row, A.columns[k]);
      if (A.rows == A.cols) add_entry(A, row, static_cast<index_t>(k), find, facts.symmetry);
    }
  }
};

/// add_entry, or add_unpaired, for the entries of rows.
template <class Exec, class T, bool unpaired>
struct GatherSymmetry {
  BcsrOperand<T> A;
  FindMirror<Exec> find = {};
  GatherSymmetry for_range(offset_t begin, offset_t end) const
      requires(on_threads<Exec> && !unpaired) {
    return {A, find_for_range(begin, end, A.rows)};
  }
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, SymmetryFacts& facts) const {
    constexpr int lanes = row_lanes<Exec>;
    const auto row = static_cast<index_t>(i / lanes);
    const index_t end = A.row_offsets[row + 1];
    for (offset_t k = A.row_offsets[row] + i % lanes; k < end; k += lanes) {
      if constexpr (unpaired)
        add_unpaired(A, row, static_cast<index_t>(k), facts);
      else
        add_entry(A, row, static_cast<index_t>(k), find, facts);
    }
  }
};

/// Blocks per analyzed block size.
struct BlockCounts : Facts {
  offset_t blocks[analyzed_sizes] = {};

  KOKKOS_INLINE_FUNCTION BlockCounts& operator+=(const BlockCounts& other) {
    for (int k = 0; k < analyzed_sizes; ++k) blocks[k] += other.blocks[k];
    return *this;
  }
};

/// Counts the blocks of all analyzed sizes in a group of rows that all of them divide, so that the columns are
/// read from cache for all sizes but one.
template <class Exec, class T>
struct CountAnalyzedBlocks {
  static constexpr index_t group = 120;
  static constexpr int block_rows =
      group / 2 + group / 3 + group / 4 + group / 5 + group / 6 + group / 8;

  BcsrOperand<T> A;
  offset_t threads() const {
    return static_cast<offset_t>(ceil_div(A.rows, group)) * sharing<Exec>(block_rows);
  }
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, BlockCounts& counts) const {
    constexpr BlockSizes sizes = analyzed_block_sizes;
    const int sharing_threads = sharing<Exec>(block_rows);
    const auto first_row = static_cast<index_t>(i / sharing_threads) * group;
    auto row = static_cast<int>(i % sharing_threads);
    for (int k = 0; k < analyzed_sizes; ++k) {
      const int in_group = group / sizes.at[k];
      for (; row < in_group; row += sharing_threads) {
        const index_t block_row = first_row / sizes.at[k] + row;
        if (block_row < ceil_div(A.rows, sizes.at[k]))
          counts.blocks[k] += blocks_in_row(A, sizes.at[k], block_row);
      }
      row -= in_group;
    }
  }
};

/// Adds the blocks of block rows.
template <class T>
struct SumBlocks {
  BcsrOperand<T> A;
  int block_size;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, offset_t& sum) const {
    sum += blocks_in_row(A, block_size, static_cast<index_t>(i));
  }
};

namespace set_up {

/// The second part of a search for asymmetry, where entries below the diagonal lack their mirror image. Waits.
template <class Exec, class T>
void add_lower(const Exec& exec, const BcsrOperand<T>& A, SymmetryFacts& facts) {
  if (facts.lacks_lower())
    facts += sum_over<SymmetryFacts>(exec, static_cast<offset_t>(A.rows) * row_lanes<Exec>,
                                     GatherSymmetry<Exec, T, true>{A});
}

template <class Exec, class T, class Space>
BlockOccupancy block_occupancy(const CsrMatrix<T, Space>& given, int block_size) {
  require_block_size(block_size);
  const CsrMatrix<T, Space> A = ascending_csr<Exec>(given);
  const offset_t blocks = sum_over(instance<Exec>(), ceil_div(A.rows, block_size),
                                   SumBlocks<T>{A.operand(), block_size});
  return occupancy_of(A.blocks(), blocks, block_size);
}

template <class Exec, class T, class Space>
Structure analyze(const CsrMatrix<T, Space>& given) {
  const CsrMatrix<T, Space> A = ascending_csr<Exec>(given);
  const Exec exec = instance<Exec>();
  const auto source = A.operand();
  Structure structure;
  structure.rows = A.rows;
  structure.cols = A.cols;
  structure.nonzeros = A.blocks();
  const auto marks = no_marks<Space>(A.rows, A.cols);
  auto facts = sum_over<MatrixFacts>(exec, static_cast<offset_t>(A.rows) * row_lanes<Exec>,
                                     GatherFacts<Exec, T>{source, marks.data()});
  add_lower(exec, source, facts.symmetry);
  facts.rows.enter(structure);
  if (A.rows == A.cols) facts.symmetry.enter(structure);
  structure.diagonals =
      sum_over(exec, static_cast<offset_t>(marks.extent(0)), CountMarks{marks.data()});
  const CountAnalyzedBlocks<Exec, T> count{source};
  const auto counts = sum_over<BlockCounts>(exec, count.threads(), count, A.rows);
  for (int k = 0; k < analyzed_sizes; ++k)
    structure.occupancy.push_back(
        occupancy_of(A.blocks(), counts.blocks[k], analyzed_block_sizes.at[k]));
  return structure;
}

template <class Exec, class T, class Space>
Asymmetry find_asymmetry(const CsrMatrix<T, Space>& given) {
  require(given.rows == given.cols, "find_asymmetry: the matrix must be square");
  const CsrMatrix<T, Space> ascending = ascending_csr<Exec>(given);
  const Exec exec = instance<Exec>();
  const auto A = ascending.operand();
  auto facts = sum_over<SymmetryFacts>(exec, static_cast<offset_t>(A.rows) * row_lanes<Exec>,
                                       GatherSymmetry<Exec, T, false>{A});
  add_lower(exec, A, facts);
  return facts.least_symmetric;
}

}  // namespace set_up
}  // namespace cnc::detail
