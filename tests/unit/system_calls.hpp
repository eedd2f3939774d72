#pragma once

#include "support/random_matrix.hpp"
#include "support/same_matrix.hpp"

#include <cnc/system_builder.hpp>

#include <cmath>
#include <map>
#include <optional>
#include <variant>

namespace cnc::testing {

// Calls of an assembly as data: made on a chunk, and summed into dense arrays by loops that know nothing of streams.

struct AddCall {
  index_t row, column;
  double value;
};
struct BlockCall {
  index_t row, column;
  int size;
  std::vector<double> values;
};
struct ElementCall {
  std::vector<index_t> rows, columns;
  std::vector<double> values;
};
struct RhsCall {
  index_t row;
  double value;
  int k = 0;
};
struct RowCall {
  std::optional<index_t> row;  ///< appended without
  std::vector<std::pair<index_t, double>> coefficients;
  std::vector<std::pair<int, double>> right_hand_sides = {};
  double scale = 1;
};
using Call = std::variant<AddCall, BlockCall, ElementCall, RhsCall, RowCall>;
using Calls = std::vector<std::vector<Call>>;  ///< of each chunk

template <class T>
void make(const AddCall& call, SystemChunk<T>& chunk) {
  chunk.add(call.row, call.column, static_cast<T>(call.value));
}
template <class T>
void make(const BlockCall& call, SystemChunk<T>& chunk) {
  const std::vector<T> values(call.values.begin(), call.values.end());
  chunk.add_block(call.row, call.column, call.size, values.data());
}
template <class T>
void make(const ElementCall& call, SystemChunk<T>& chunk) {
  const std::vector<T> values(call.values.begin(), call.values.end());
  chunk.add_block(call.rows, call.columns, values.data());
}
template <class T>
void make(const RhsCall& call, SystemChunk<T>& chunk) {
  chunk.add_right_hand_side(call.row, static_cast<T>(call.value), call.k);
}
template <class T>
void make(const RowCall& call, SystemChunk<T>& chunk) {
  if (call.row)
    chunk.begin_row(*call.row);
  else
    chunk.begin_row();
  for (const auto& [variable, value] : call.coefficients)
    chunk.coefficient(variable, static_cast<T>(value));
  for (const auto& [k, value] : call.right_hand_sides)
    chunk.right_hand_side(static_cast<T>(value), k);
  if (call.scale != 1) chunk.scale(static_cast<T>(call.scale));
  chunk.end_row();
}

template <class T>
void make_all(const Calls& calls, SystemBuilder<T>& builder) {
  builder.begin(static_cast<int>(calls.size()));
  for (std::size_t k = 0; k < calls.size(); ++k)
    for (const Call& call : calls[k])
      std::visit([&](const auto& c) { make(c, builder.chunk(static_cast<int>(k))); }, call);
  builder.finish();
}

using Locked = std::map<index_t, std::vector<double>>;  ///< variable: its values

/// What the builder should make of calls, with sums in double: exact for values that are.
struct ExpectedSystem {
  std::vector<std::map<index_t, double>> rows;  ///< by column of the matrix
  std::vector<std::vector<double>> b;           ///< [row][right-hand side]
  index_t cols = 0;

  ExpectedSystem(index_t variables, const SystemOptions& options, const Locked& locked,
                 const Calls& calls)
      : options_(options), locked_(locked) {
    column_.resize(static_cast<std::size_t>(variables));
    for (index_t v = 0; v < variables; ++v)
      column_[static_cast<std::size_t>(v)] = locked.count(v) != 0 ? -1 : cols++;
    const bool of_variables = options.rows == RowKind::variables;
    resize(static_cast<std::size_t>(of_variables ? cols : options.equations));
    for (const auto& chunk : calls)
      for (const Call& call : chunk) std::visit([&](const auto& c) { sum(c); }, call);
  }

 private:
  index_t column(index_t variable) const { return column_[static_cast<std::size_t>(variable)]; }
  void resize(std::size_t n) {
    rows.resize(n);
    b.resize(n, std::vector<double>(static_cast<std::size_t>(options_.right_hand_sides), 0));
  }
  /// Of a row with a number, or -1.
  index_t row_of(index_t row) const {
    return options_.rows == RowKind::variables ? column(row) : row;
  }
  void entry(index_t row, index_t variable, double value) {
    if (row < 0) return;
    const auto r = static_cast<std::size_t>(row);
    if (column(variable) >= 0) {
      rows[r][column(variable)] += value;
      return;
    }
    for (std::size_t k = 0; k < b[r].size(); ++k) b[r][k] -= value * locked_.at(variable)[k];
  }
  void sum(const AddCall& call) { entry(row_of(call.row), call.column, call.value); }
  void sum(const BlockCall& call) {
    auto value = call.values.begin();
    for (index_t i = 0; i < call.size; ++i)
      for (index_t j = 0; j < call.size; ++j)
        entry(row_of(call.row * call.size + i), call.column * call.size + j, *value++);
  }
  void sum(const ElementCall& call) {
    auto value = call.values.begin();
    for (const index_t row : call.rows)
      for (const index_t variable : call.columns) entry(row_of(row), variable, *value++);
  }
  void sum(const RhsCall& call) {
    if (row_of(call.row) < 0) return;
    b[static_cast<std::size_t>(row_of(call.row))][static_cast<std::size_t>(call.k)] += call.value;
  }
  void sum(const RowCall& call) {
    index_t row = 0;
    if (call.row) {
      row = row_of(*call.row);
    } else {
      row = static_cast<index_t>(rows.size());
      resize(rows.size() + 1);
    }
    double factor = call.scale, squares = 0;
    for (const auto& [variable, value] : call.coefficients)
      if (column(variable) >= 0) squares += value * value;
    if (options_.normalize_rows && squares > 0) factor /= std::sqrt(squares);
    for (const auto& [variable, value] : call.coefficients) entry(row, variable, value * factor);
    std::map<int, double> last;
    for (const auto& [k, value] : call.right_hand_sides) last[k] = value;
    if (row < 0) return;
    for (const auto& [k, value] : last)
      b[static_cast<std::size_t>(row)][static_cast<std::size_t>(k)] += value * factor;
  }

  SystemOptions options_;
  Locked locked_;
  std::vector<index_t> column_;
};

/// Whether a system is the expected one: the pattern, and values up to rounding of so much.
template <class T>
bool is_expected(const SystemBuilder<T>& builder, const ExpectedSystem& expected,
                 double rounding = 0) {
  const CsrMatrix<T>& A = builder.matrix();
  const auto b = builder.right_hand_sides();
  if (A.rows != static_cast<index_t>(expected.rows.size()) || A.cols != expected.cols ||
      b.extent(0) != expected.rows.size() || A.validate() != Checked::ascending)
    return false;
  const auto near = [&](T value, double exact) {
    return std::abs(static_cast<double>(value) - exact) <= rounding * std::abs(exact);
  };
  for (std::size_t i = 0; i < expected.rows.size(); ++i) {
    auto k = static_cast<std::size_t>(A.row_offsets(i));
    if (static_cast<std::size_t>(A.row_offsets(i + 1)) - k != expected.rows[i].size()) return false;
    for (const auto& [column, value] : expected.rows[i]) {
      if (A.columns(k) != column || !near(A.values(k), value)) return false;
      ++k;
    }
    for (std::size_t r = 0; r < b.extent(1); ++r)
      if (!near(b(i, r), expected.b[i][r])) return false;
  }
  return true;
}

/// Calls of all kinds that options allow, at random places; their values are exact in float.
inline Calls random_calls(index_t variables, const SystemOptions& options, int chunks, int calls,
                          std::uint64_t seed) {
  Random random(seed);
  Calls result(static_cast<std::size_t>(chunks));
  const bool of_variables = options.rows == RowKind::variables;
  const index_t rows = of_variables ? variables : options.equations;
  const auto value = [&] { return std::round(random.value() * 16) / 16; };
  for (auto& chunk : result) {
    for (int i = 0; i < calls; ++i) {
      const int kind = random.below(9);
      if (rows > 0 && kind < 3) {
        chunk.emplace_back(AddCall{random.below(rows), random.below(variables), value()});
      } else if (rows > 0 && kind == 3) {
        chunk.emplace_back(
            RhsCall{random.below(rows), value(), random.below(options.right_hand_sides)});
      } else if (kind == 4 && std::min(rows, variables) >= 4) {
        const int size = 1 + random.below(4);
        BlockCall block{random.below(rows / size), random.below(variables / size), size, {}};
        for (int k = 0; k < size * size; ++k) block.values.push_back(value());
        chunk.emplace_back(std::move(block));
      } else if (rows > 0 && kind == 8) {
        ElementCall element;
        for (int k = random.below(5); k > 0; --k) element.rows.push_back(random.below(rows));
        for (int k = random.below(5); k > 0; --k)
          element.columns.push_back(random.below(variables));
        for (std::size_t k = element.rows.size() * element.columns.size(); k > 0; --k)
          element.values.push_back(value());
        chunk.emplace_back(std::move(element));
      } else if (rows > 0 || !of_variables) {
        RowCall row;
        if (of_variables || (rows > 0 && kind == 5)) row.row = random.below(rows);
        for (int k = random.below(7); k > 0; --k)
          row.coefficients.emplace_back(random.below(variables), value());
        for (int k = random.below(3); k > 0; --k)
          row.right_hand_sides.emplace_back(random.below(options.right_hand_sides), value());
        if (kind == 6) row.scale = 0.5;
        chunk.emplace_back(std::move(row));
      }
    }
  }
  return result;
}

/// The same calls with other values.
inline Calls with_other_values(Calls calls) {
  const auto change = [](double& value) { value = 0.5 - 2 * value; };
  for (auto& chunk : calls) {
    for (Call& call : chunk) {
      if (auto* add = std::get_if<AddCall>(&call)) change(add->value);
      if (auto* rhs = std::get_if<RhsCall>(&call)) change(rhs->value);
      if (auto* element = std::get_if<ElementCall>(&call))
        for (double& value : element->values) change(value);
      if (auto* block = std::get_if<BlockCall>(&call))
        for (double& value : block->values) change(value);
      if (auto* row = std::get_if<RowCall>(&call)) {
        for (auto& [variable, value] : row->coefficients) change(value);
        for (auto& [k, value] : row->right_hand_sides) change(value);
      }
    }
  }
  return calls;
}

}  // namespace cnc::testing
