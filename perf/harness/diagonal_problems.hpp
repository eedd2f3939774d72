#pragma once

#include <cnc/bcsr_matrix.hpp>

#include <string>
#include <vector>

namespace cnc::perf {

/// A matrix with what decides whether it can be stored by diagonals.
struct DiagonalProblem {
  std::string name;
  CsrMatrix<double> A;
  offset_t diagonals = 0;  ///< distinct column - row
};

/// The least size of artificial_problem: its diagonals are then apart.
inline constexpr index_t least_artificial = 27;

/// n rows, 7 diagonals at 0, +-1, +-k and +-k^2, k being the cube root of n: not symmetric, and strictly diagonally
/// dominant. Values come from a hash of row and diagonal, so they are the same everywhere, and float holds them exactly.
DiagonalProblem artificial_problem(index_t n);

/// A file or a built-in problem.
/// Errors   as read_matrix and generate_problem.
DiagonalProblem load_problem(const std::string& source);

/// Six matrices of the SuiteSparse collection that are used where diagonals are compared: minsurfo, obstclae, wathen100,
/// ex1, mcca, dw4096. Each is the file of that name, with .mtx or .mtx.gz, in the directory; where there is none, a
/// built-in problem of the same grid, or else a file of the same family, or else the square file that is nearest in rows
/// and entries, of the same symmetry. The name then says what stands for what: "cvxbqp1 (for minsurfo)".
///
/// Errors   IoError. A matrix for which nothing is found is left out.
std::vector<DiagonalProblem> collection_problems(const std::string& directory);

}  // namespace cnc::perf
