#include <assemble/families.hpp>
#include <mixed.hpp>

#include <array>
#include <cstdint>

namespace cnc::detail {
namespace {

constexpr int element_nodes = 8;

// 45 times the consistent mass matrix of the 8-node serendipity element, nodes as in node_of.
constexpr double element_mass[element_nodes][element_nodes] = {
    {6, -6, 2, -8, 3, -8, 2, -6}, {-6, 32, -6, 20, -8, 16, -8, 20},
    {2, -6, 6, -6, 2, -8, 3, -8}, {-8, 20, -6, 32, -6, 20, -8, 16},
    {3, -8, 2, -6, 6, -6, 2, -8}, {-8, 16, -8, 20, -6, 32, -6, 20},
    {2, -8, 3, -8, 2, -6, 6, -6}, {-6, 20, -8, 16, -8, 20, -6, 32}};

/// The mesh: nx x ny elements with nodes at corners and edge middles. Nodes are numbered line by line:
/// 2 nx + 1 on a line of corners, then nx + 1 on the line of middles above it.
struct Mesh {
  index_t nx;
  index_t ny;

  index_t line_pair() const { return 3 * nx + 2; }
  index_t nodes() const { return ny * line_pair() + 2 * nx + 1; }

  /// Node k of element (i, j): counterclockwise from the upper right corner, middles between corners.
  index_t node_of(index_t i, index_t j, int k) const {
    const index_t below = j * line_pair();
    const index_t middle = below + 2 * nx + 1;
    const index_t above = below + line_pair();
    const std::array<index_t, element_nodes> nodes = {
        above + 2 * i + 2, above + 2 * i + 1, above + 2 * i,     middle + i,
        below + 2 * i,     below + 2 * i + 1, below + 2 * i + 2, middle + i + 1};
    return nodes[static_cast<std::size_t>(k)];
  }

  /// Calls visit(i, j) for the one to four elements that hold the node, in the order of numbering.
  template <class Visit>
  void elements_of(index_t node, const Visit& visit) const {
    const index_t j = node / line_pair();
    const index_t x = node % line_pair();
    const bool on_corner_line = x < 2 * nx + 1;
    const index_t i_last = on_corner_line ? x / 2 : x - (2 * nx + 1);
    const index_t i_first = on_corner_line ? (x - 1) / 2 : i_last - 1;
    const index_t j_first = on_corner_line ? j - 1 : j;
    for (index_t e = j_first; e <= j; ++e) {
      for (index_t i = i_first; i <= i_last; ++i) {
        if (e >= 0 && e < ny && i >= 0 && i < nx) {
          visit(i, e);
        }
      }
    }
  }
};

/// A density in (0, 100) that depends on the element's number alone.
double density(std::uint64_t element) {
  return 100 * (static_cast<double>(mixed(element * golden) >> 11) + 0.5) * 0x1p-53;
}

/// One row of the mass matrix, columns ascending.
struct Row {
  int length = 0;
  std::array<index_t, 4 * element_nodes> columns;
  std::array<double, 4 * element_nodes> values;

  void add(index_t column, double value) {
    int at = length;
    while (at > 0 && columns[static_cast<std::size_t>(at - 1)] >= column) {
      --at;
    }
    const auto place = static_cast<std::size_t>(at);
    if (at < length && columns[place] == column) {
      values[place] += value;
      return;
    }
    for (auto k = static_cast<std::size_t>(length); k > place; --k) {
      columns[k] = columns[k - 1];
      values[k] = values[k - 1];
    }
    columns[place] = column;
    values[place] = value;
    ++length;
  }
};

Row assemble_row(const Mesh& mesh, index_t node) {
  Row row;
  mesh.elements_of(node, [&](index_t i, index_t j) {
    int self = 0;
    while (mesh.node_of(i, j, self) != node) {
      ++self;
    }
    const double scale =
        density(static_cast<std::uint64_t>(j) * static_cast<std::uint64_t>(mesh.nx) +
                static_cast<std::uint64_t>(i)) /
        45;
    for (int k = 0; k < element_nodes; ++k) {
      row.add(mesh.node_of(i, j, k), scale * element_mass[self][k]);
    }
  });
  return row;
}

}  // namespace

// A. J. Wathen, "Realistic eigenvalue bounds for the Galerkin mass matrix", IMA J. Numer. Anal. 7,
// 1987; numbering and formula as in N. J. Higham's gallery('wathen', nx, ny).
ProblemRows wathen(const ProblemText& text) {
  const std::vector<index_t> n = text.extents(0);
  if (n.size() != 2) {
    text.fail("a rectangle has two sizes");
  }
  const double nx = n[0];
  const double ny = n[1];
  // Ordered pairs within elements (64 each), less those counted twice along the edges that two
  // elements share (9 each); the corners shared by four elements then lack one each.
  const double shared_edges = nx * (ny - 1) + ny * (nx - 1);
  text.check_size(3 * nx * ny + 2 * nx + 2 * ny + 1,
                  64 * nx * ny - 9 * shared_edges + (nx - 1) * (ny - 1));

  const Mesh mesh = {n[0], n[1]};
  // Elements that share an edge have three nodes in common, four around a corner that one.
  const auto count = [=](index_t row) {
    constexpr std::array<index_t, 5> nodes_of = {0, 8, 13, 0, 21};
    std::size_t elements = 0;
    mesh.elements_of(row, [&](index_t, index_t) { ++elements; });
    return nodes_of[elements];
  };
  const auto fill = [=](index_t node, index_t* columns, double* values) {
    const Row row = assemble_row(mesh, node);
    const auto length = static_cast<std::size_t>(row.length);
    for (std::size_t k = 0; k < length; ++k) {
      columns[k] = row.columns[k];
      values[k] = row.values[k];
    }
  };
  return rows_by(mesh.nodes(), "wathen", count, fill);
}

}  // namespace cnc::detail
