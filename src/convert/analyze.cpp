#include "convert/checks.hpp"
#include "convert/sorted_rows.hpp"
#include "convert/structure_facts.hpp"

#include <cnc/formats.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

namespace cnc {
namespace {

using detail::RowFacts;
using detail::SymmetryFacts;

/// Runs body(row, facts) over all rows, one Facts per thread, and merges them in row order.
template <class Facts, class Body>
Facts gather_rows(index_t rows, const Body& body) {
  const int parts = detail::set_up_threads();
  std::vector<Facts> partial(static_cast<std::size_t>(parts));
  detail::parallel_ranges(rows, parts, [&](index_t begin, index_t end, int part) {
    Facts facts;
    for (index_t row = begin; row < end; ++row) body(row, facts);
    partial[static_cast<std::size_t>(part)] = facts;
  });
  Facts all;
  for (const Facts& facts : partial) all += facts;
  return all;
}

/// The same over the entries k of all rows: body(row, k, facts).
template <class Facts, class T, class Body>
Facts gather_entries(const BcsrOperand<T>& A, const Body& body) {
  return gather_rows<Facts>(A.rows, [&](index_t row, Facts& facts) {
    for (index_t k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) body(row, k, facts);
  });
}

template <class T>
SymmetryFacts find_symmetry(const BcsrOperand<T>& A) {
  auto facts = gather_entries<SymmetryFacts>(
      A, [&](index_t row, index_t k, SymmetryFacts& f) { detail::add_entry(A, row, k, f); });
  if (facts.lacks_lower())
    facts += gather_entries<SymmetryFacts>(
        A, [&](index_t row, index_t k, SymmetryFacts& f) { detail::add_unpaired(A, row, k, f); });
  return facts;
}

/// Distinct values of col - row, by marking each one met.
template <class T>
offset_t count_diagonals(const BcsrOperand<T>& A) {
  const std::size_t n = static_cast<std::size_t>(A.rows) + static_cast<std::size_t>(A.cols);
  const auto marks = std::make_unique<std::atomic<unsigned char>[]>(n);
  detail::parallel_for(A.rows, [&](index_t row) {
    const offset_t zero = static_cast<offset_t>(A.rows) - row;  // mark of col == row is A.rows
    for (index_t k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
      auto& mark = marks[static_cast<std::size_t>(zero + A.columns[k])];
      // Reading first keeps the marks of a structured matrix in every core's cache.
      if (mark.load(std::memory_order_relaxed) == 0) mark.store(1, std::memory_order_relaxed);
    }
  });
  return std::count_if(marks.get(), marks.get() + n,
                       [](const auto& mark) { return mark.load(std::memory_order_relaxed) != 0; });
}

}  // namespace

template <class T, class Space>
Structure analyze(const CsrMatrix<T, Space>& given) {
  const CsrMatrix<T> A = detail::ascending_csr(given);
  const auto source = A.operand();
  Structure structure;
  structure.rows = A.rows;
  structure.cols = A.cols;
  structure.nonzeros = A.blocks();
  const auto row_facts = gather_rows<RowFacts>(A.rows, [&](index_t row, RowFacts& f) {
    f.add_row(row, source.columns + source.row_offsets[row],
              source.columns + source.row_offsets[row + 1]);
  });
  row_facts.enter(structure);
  structure.diagonals = count_diagonals(source);
  if (A.rows == A.cols) find_symmetry(source).enter(structure);
  for (const int block_size : detail::analyzed_block_sizes)
    structure.occupancy.push_back(block_occupancy(A, block_size));
  return structure;
}

template <class T, class Space>
Asymmetry find_asymmetry(const CsrMatrix<T, Space>& given) {
  require(given.rows == given.cols, "find_asymmetry: the matrix must be square");
  const CsrMatrix<T, Space> A = detail::ascending_csr(given);
  return find_symmetry(A.operand()).least_symmetric;
}

template Asymmetry find_asymmetry(const CsrMatrix<float>&);
template Asymmetry find_asymmetry(const CsrMatrix<double>&);
template Structure analyze(const CsrMatrix<float>&);
template Structure analyze(const CsrMatrix<double>&);

}  // namespace cnc
