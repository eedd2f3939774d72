#pragma once

#include "conformance/guarded_vector.hpp"
#include "support/edge_matrices.hpp"
#include "support/in_blocks.hpp"

#include <cnc/formats.hpp>
#include <cnc/problems.hpp>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace cnc::testing {

/// Block sizes of the conformance tests: every compiled one, and general ones on both sides of a
/// register.
inline constexpr int tested_block_sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 11, 16};

/// A matrix in one layout, and the layout's name.
template <class M>
struct Layout {
  std::string format;  ///< "bcsr"
  std::string name;    ///< "bcsr:3"
  Matrix<M> A;
};

/// A in every format of the library that can hold it, block formats with blocks up to `largest_block`.
template <class M>
std::vector<Layout<M>> layouts(const CsrMatrix<M>& A, int largest_block = max_block_size) {
  std::vector<Layout<M>> list;
  const Structure structure = analyze(A);
  for (const FormatInfo<M>& format : formats<M>()) {
    for (const int block_size : tested_block_sizes) {
      const FormatSpec spec{format.name, block_size};
      if (block_size > (format.has_blocks ? largest_block : 1)) break;
      if (format.predicted_bytes(structure, spec, sizeof(M)) < 0) continue;
      list.push_back({format.name, spec.text(), format.build(A, spec)});
    }
  }
  return list;
}

/// The same, every second one with short columns, two of three with a table of values where these are few, and again with a dictionary of
/// rows where A's repeat, for backends that read those.
template <class M>
std::vector<Layout<M>> product_layouts(const CsrMatrix<M>& A, int largest_block = max_block_size) {
  std::vector<Layout<M>> list = layouts(A, largest_block);
  const std::size_t plain = list.size();
  for (std::size_t k = 0; k < plain; ++k) {
    Matrix<M> with = list[k].A;
    if (block_size(with) <= 3 && find_row_dictionary(with, A))
      list.push_back({list[k].format, list[k].name + " with different rows", with});
    if ((k + static_cast<std::size_t>(A.rows)) % 2 == 0 && find_short_columns(list[k].A))
      list[k].name += " with short columns";
    if ((k + static_cast<std::size_t>(A.rows)) % 3 != 0 && find_value_table(list[k].A))
      list[k].name += " with a table of values";
  }
  return list;
}

/// The transpose in the same layout; a symmetric layout is its own.
template <class SparseMatrix>
SparseMatrix transposed_layout(const SparseMatrix& A) {
  if constexpr (requires { A.symmetric; })
    if (A.symmetric) return A;
  int b = 1;
  if constexpr (requires { A.block_size; }) b = A.block_size;
  return std::get<SparseMatrix>(build_format(transpose(to_csr(A)), {A.format_name(), b}));
}

/// The same matrix with values and column indices that start at odd elements, with short columns and, of an even number of rows,
/// a table of values.
template <class SparseMatrix>
SparseMatrix misaligned(SparseMatrix A) {
  A.values = shifted(A.values);
  if constexpr (requires { A.columns; }) {
    A.columns = shifted(A.columns);
    if (A.short_columns.extent(0) > 0) A.short_columns = shifted(A.short_columns);
    if (!A.value_table.empty()) A.value_table.codes = shifted(A.value_table.codes);
  }
  return A;
}
template <class M>
Matrix<M> misaligned(Matrix<M> A) {
  find_short_columns(A);
  if (rows(A) % 2 == 0) find_value_table(A);
  return std::visit([](const auto& a) { return Matrix<M>(misaligned(a)); }, A);
}

/// The edge shapes of all tests, sizes around the vector widths, and one size that several threads and
/// reduction blocks share.
template <class M>
std::vector<NamedMatrix<M>> conformance_matrices() {
  std::vector<NamedMatrix<M>> list;
  for (auto& edge : edge_matrices<M>())
    if (edge.A.rows < 1000) list.push_back(std::move(edge));
  for (const index_t n : {7, 8, 9, 15, 16, 17, 31, 33, 65})
    list.push_back({"square " + std::to_string(n), random_csr<M>(n, n, 5, 100 + n)});
  // Symmetric ones, for formats that keep one half.
  for (const char* problem :
       {"poisson2d:1x1", "poisson2d:9x7", "wathen:4x3", "poisson2d:45x47", "stencil27:6"})
    list.push_back({problem, convert_values<M>(generate_problem(problem))});
  // Rows that repeat and are no parts of one: values differ in one place, or there are many entries.
  CsrMatrix<double> layers = generate_problem("poisson2d:24x22");
  for (index_t i = 1; i < layers.rows; i += 2)
    for (index_t k = layers.row_offsets(i); k < layers.row_offsets(i + 1); ++k)
      layers.values(k) *= 3;
  list.push_back({"layers", convert_values<M>(layers)});
  for (const char* problem : {"elasticity2d:16", "elasticity3d:5"})
    list.push_back({problem, convert_values<M>(generate_problem(problem))});
  // The same whose blocks of rows follow each other for long, across tiles and shares of threads.
  for (const int b : {2, 3})
    list.push_back({"lines of blocks of " + std::to_string(b),
                    convert_values<M>(testing::in_blocks(generate_problem("poisson2d:220x3"), b))});
  list.push_back({"2100 rows", random_csr<M>(2100, 2089, 6, 11, banded)});
  return list;
}

/// Large blocks fill up a large matrix, which costs time and tests nothing new.
template <class M>
int largest_block(const CsrMatrix<M>& A) {
  return A.rows > 1000 ? 3 : max_block_size;
}

/// Per row: how many entries it has, and the sum of |a x|.
struct RowWeight {
  index_t length = 0;
  double absolute_sum = 0;
};

template <class M, class V>
std::vector<RowWeight> row_weights(const CsrMatrix<M>& A, const GuardedVector<V>& x) {
  std::vector<RowWeight> weights(static_cast<std::size_t>(A.rows));
  for (index_t row = 0; row < A.rows; ++row)
    for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k) {
      RowWeight& weight = weights[static_cast<std::size_t>(row)];
      ++weight.length;
      weight.absolute_sum += std::abs(double(A.values(k)) * x[A.columns(k)]);
    }
  return weights;
}

}  // namespace cnc::testing
