#pragma once

#include "support/random_matrix.hpp"

namespace cnc::testing {

/// A matrix and how it came about, for INFO.
template <class T>
struct NamedMatrix {
  std::string name;
  CsrMatrix<T> A;
};

/// Shapes and patterns at which layouts go wrong: nothing at all, no rows, no columns, one entry, sizes
/// around a block and a vector width, odd tails, rectangles, empty rows, a dense row.
template <class T>
std::vector<NamedMatrix<T>> edge_matrices() {
  std::vector<NamedMatrix<T>> list;
  const auto add = [&](index_t rows, index_t cols, int mean, const Pattern& pattern) {
    list.push_back({std::to_string(rows) + " x " + std::to_string(cols) + ", " + to_string(pattern),
                    random_csr<T>(rows, cols, mean, 7 + list.size(), pattern)});
  };
  add(0, 0, 0, uniform);
  add(0, 5, 0, uniform);
  add(5, 0, 0, uniform);
  add(5, 5, 0, uniform);
  add(1, 1, 4, one_dense_row);
  add(1, 37, 4, one_dense_row);
  add(37, 1, 2, uniform);
  add(17, 17, 3, uniform);
  add(33, 65, 4, uniform);
  add(100, 7, 3, uniform);
  add(31, 31, 5, one_dense_row);
  add(70, 70, 4, empty_rows);
  add(129, 129, 6, banded);
  add(48, 48, 9, block(3));
  add(50, 47, 12, block(4));
  add(2500, 2500, 7, uniform);
  add(2603, 2601, 15, block(3));
  return list;
}

}  // namespace cnc::testing
