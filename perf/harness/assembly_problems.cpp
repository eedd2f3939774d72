#include "harness/assembly_problems.hpp"

#include <cnc/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

namespace cnc::perf {
namespace {

/// The corners of the elements of an N^Dim grid, x fastest in both numberings.
std::vector<int> corners(int n, int dimensions) {
  const auto nodes = static_cast<std::size_t>(1) << dimensions;
  std::vector<int> result;
  const int layers = dimensions == 3 ? n : 1;
  for (int z = 0; z < layers; ++z)
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x)
        for (std::size_t k = 0; k < nodes; ++k) {
          const int dx = k & 1, dy = k >> 1 & 1, dz = k >> 2 & 1;
          result.push_back(((z + dz) * (n + 1) + y + dy) * (n + 1) + x + dx);
        }
  return result;
}

Pieces elements(int n, int block_size) {
  Pieces P;
  P.rows = P.cols = 8;
  P.block_size = block_size;
  P.matrix_rows = P.matrix_cols = (n + 1) * (n + 1) * (n + 1) * block_size;
  P.row = P.col = corners(n, 3);
  return P;
}

/// Elements in random order, nodes with random numbers.
void shuffle(Pieces& P) {
  std::mt19937 random(1);
  std::vector<int> number(static_cast<std::size_t>(P.matrix_rows));
  std::iota(number.begin(), number.end(), 0);
  std::shuffle(number.begin(), number.end(), random);
  std::vector<std::size_t> order(P.row.size() / 8);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<int> shuffled;
  for (const std::size_t p : order)
    for (std::size_t k = 0; k < 8; ++k)
      shuffled.push_back(number[static_cast<std::size_t>(P.row[8 * p + k])]);
  P.row = P.col = shuffled;
}

/// Two triangles of each square of an n x n grid.
std::vector<int> triangles(int n) {
  const std::vector<int> squares = corners(n, 2);
  std::vector<int> result;
  for (std::size_t s = 0; s < squares.size(); s += 4)
    for (const std::size_t k : {0, 1, 3, 0, 3, 2}) result.push_back(squares[s + k]);
  return result;
}

Pieces laplacian(int n) {
  Pieces P;
  P.rows = P.cols = 3;
  P.matrix_rows = P.matrix_cols = (n + 1) * (n + 1);
  P.row = P.col = triangles(n);
  return P;
}

/// Unknowns 2 v and 2 v + 1 of vertex v, two equations per triangle.
Pieces conformal(int n) {
  Pieces P;
  P.rows = 2;
  P.cols = 6;
  P.equations = true;
  P.matrix_cols = 2 * (n + 1) * (n + 1);
  for (const int vertex : triangles(n)) {
    P.col.push_back(2 * vertex);
    P.col.push_back(2 * vertex + 1);
  }
  P.matrix_rows = static_cast<int>(P.col.size() / 3);
  P.row.resize(static_cast<std::size_t>(P.matrix_rows));
  std::iota(P.row.begin(), P.row.end(), 0);
  return P;
}

}  // namespace

Pieces assembly_problem(const std::string& text) {
  const auto colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const int n = colon == std::string::npos ? 0 : std::atoi(text.c_str() + colon + 1);
  require(n >= 1 && n <= 10000, [&] { return "problem '" + text + "': expected NAME:N"; });
  Pieces P;
  if (name == "hexahedra")
    P = elements(n, 1);
  else if (name == "shuffled")
    shuffle(P = elements(n, 1));
  else if (name == "elasticity")
    P = elements(n, 3);
  else if (name == "triangles")
    P = laplacian(n);
  else if (name == "conformal")
    P = conformal(n);
  else
    throw InvalidArgument("problem '" + text + "' is not known");
  const auto size = static_cast<std::size_t>(P.rows * P.cols * P.block_size * P.block_size);
  for (std::size_t k = 0; k < size; ++k) P.common.push_back(1 + 0.25 * static_cast<double>(k % 7));
  P.weight.assign(P.col.size() / static_cast<std::size_t>(P.cols), 1);
  change_weights(P);
  return P;
}

void change_weights(Pieces& P) {
  for (std::size_t p = 0; p < P.weight.size(); ++p)
    P.weight[p] = 0.5 * P.weight[p] + 0.125 * static_cast<double>(p % 5);
}

}  // namespace cnc::perf
