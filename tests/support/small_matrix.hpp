#pragma once

#include <cnc/bcsr_matrix.hpp>

#include <initializer_list>
#include <vector>

namespace cnc::testing {

/// A square CSR matrix from its dense rows; zeros are not stored.
inline CsrMatrix<double> small_matrix(const std::vector<std::vector<double>>& rows) {
  const auto n = static_cast<index_t>(rows.size());
  std::vector<index_t> columns;
  std::vector<double> values;
  Vector<index_t> offsets("offsets", rows.size() + 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows[i].size(); ++j)
      if (rows[i][j] != 0) {
        columns.push_back(static_cast<index_t>(j));
        values.push_back(rows[i][j]);
      }
    offsets(i + 1) = static_cast<index_t>(columns.size());
  }
  Vector<index_t> own_columns("columns", columns.size());
  Vector<double> own_values("values", values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    own_columns(k) = columns[k];
    own_values(k) = values[k];
  }
  return {n, n, 1, offsets, own_columns, own_values};
}

}  // namespace cnc::testing
