#include <assemble/element_stiffness.hpp>
#include <assemble/families.hpp>

#include <algorithm>

namespace cnc::detail {
namespace {

constexpr double poisson_ratio = 0.3;

/// The nodes of N elements per axis that are free to move: x in 1..N, as the face x = 0 is clamped,
/// the other coordinates in 0..N. x runs fastest in the numbering.
template <int Dim>
struct Grid {
  using Position = std::array<index_t, Dim>;
  index_t elements;

  index_t first(std::size_t axis) const { return axis == 0 ? 1 : 0; }
  index_t points(std::size_t axis) const { return axis == 0 ? elements : elements + 1; }

  index_t rows() const {
    index_t nodes = 1;
    for (std::size_t axis = 0; axis < Dim; ++axis) {
      nodes *= points(axis);
    }
    return Dim * nodes;
  }
  Position position(index_t node) const {
    Position at;
    for (std::size_t axis = 0; axis < Dim; ++axis) {
      at[axis] = node % points(axis) + first(axis);
      node /= points(axis);
    }
    return at;
  }
  /// The node at a distance of -1, 0 or 1 per axis from `at`, or -1 where there is no free node.
  index_t neighbour(const Position& at, int box_index) const {
    index_t node = 0;
    index_t stride = 1;
    for (std::size_t axis = 0; axis < Dim; ++axis) {
      const index_t x = at[axis] + box_index % 3 - 1;
      if (x < first(axis) || x > elements) {
        return -1;
      }
      node += stride * (x - first(axis));
      stride *= points(axis);
      box_index /= 3;
    }
    return node;
  }
  index_t neighbours_and_self(const Position& at) const {
    index_t count = 1;
    for (std::size_t axis = 0; axis < Dim; ++axis) {
      count *= 1 + (at[axis] > first(axis)) + (at[axis] < elements);
    }
    return count;
  }
};

constexpr int power_of_three(int exponent) {
  return exponent == 0 ? 1 : 3 * power_of_three(exponent - 1);
}

/// Couplings of one unknown with the 3^Dim nodes around its node, axis 0 fastest.
template <int Dim>
using Neighbourhood = std::array<std::array<double, Dim>, power_of_three(Dim)>;

/// Sums the row of `component` at the node over the elements around it, which are all alike. Elements
/// come in the same order for both unknowns of a pair, which keeps the matrix exactly symmetric.
template <int Dim>
Neighbourhood<Dim> assemble_row(const Grid<Dim>& grid, const typename Q1<Dim>::Stiffness& K,
                                const typename Grid<Dim>::Position& at, std::size_t component) {
  Neighbourhood<Dim> row{};
  for (int element = 0; element < Q1<Dim>::nodes; ++element) {
    // Bit d of `element`: the element lies after the node along axis d, so the node is its first corner.
    bool inside = true;
    int self = 0;
    for (int axis = 0; axis < Dim; ++axis) {
      const bool after = (element >> axis & 1) != 0;
      const index_t x = at[static_cast<std::size_t>(axis)];
      inside = inside && (after ? x < grid.elements : x > 0);
      self |= after ? 0 : 1 << axis;
    }
    if (!inside) {
      continue;
    }
    const auto& stiffness = K[static_cast<std::size_t>(self) * Dim + component];
    for (int other = 0; other < Q1<Dim>::nodes; ++other) {
      int box_index = 0;
      for (int axis = Dim; axis-- > 0;) {
        box_index = 3 * box_index + (element >> axis & 1) + (other >> axis & 1);
      }
      auto& coupling = row[static_cast<std::size_t>(box_index)];
      for (std::size_t c = 0; c < Dim; ++c) {
        coupling[c] += stiffness[static_cast<std::size_t>(other) * Dim + c];
      }
    }
  }
  return row;
}

/// Unknown Dim * node + component; every block between nodes of a common element is stored whole.
template <int Dim>
ProblemRows elasticity(const ProblemText& text) {
  const Grid<Dim> grid = {text.extent(0)};
  const double n = grid.elements;
  double nodes = n;
  double pairs = 3 * n - 2;
  for (int axis = 1; axis < Dim; ++axis) {
    nodes *= n + 1;
    pairs *= 3 * n + 1;
  }
  text.check_size(Dim * nodes, Dim * Dim * pairs);

  const auto K = element_stiffness<Dim>(poisson_ratio);
  const auto count = [=](index_t row) {
    return Dim * grid.neighbours_and_self(grid.position(row / Dim));
  };
  const auto fill = [=](index_t row, index_t* columns, double* values) {
    const auto at = grid.position(row / Dim);
    const auto couplings = assemble_row<Dim>(grid, K, at, static_cast<std::size_t>(row % Dim));
    for (int box_index = 0; box_index < power_of_three(Dim); ++box_index) {
      const index_t node = grid.neighbour(at, box_index);
      if (node < 0) {
        continue;
      }
      const auto& coupling = couplings[static_cast<std::size_t>(box_index)];
      for (index_t c = 0; c < Dim; ++c) {
        columns[c] = Dim * node + c;
      }
      std::copy(coupling.begin(), coupling.end(), values);
      columns += Dim;
      values += Dim;
    }
  };
  return rows_by(grid.rows(), "elasticity", count, fill);
}

template <int Dim>
Vector<double> coordinates(const ProblemText& text) {
  const Grid<Dim> grid = {text.extent(0)};
  const auto points =
      uninitialized<double>("cnc::coordinates", static_cast<std::size_t>(grid.rows()));
  for (index_t row = 0; row < grid.rows(); ++row)
    points(row) = grid.position(row / Dim)[static_cast<std::size_t>(row % Dim)];
  return points;
}

}  // namespace

Vector<double> elasticity2d_coordinates(const ProblemText& text) { return coordinates<2>(text); }
Vector<double> elasticity3d_coordinates(const ProblemText& text) { return coordinates<3>(text); }
ProblemRows elasticity2d(const ProblemText& text) { return elasticity<2>(text); }
ProblemRows elasticity3d(const ProblemText& text) { return elasticity<3>(text); }

}  // namespace cnc::detail
