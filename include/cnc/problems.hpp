#pragma once

#include <cnc/bcsr_matrix.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace cnc {

/// One built-in problem family, for --help and for loops over all of them.
struct ProblemInfo {
  std::string name;                         ///< "poisson3d"
  std::string syntax;                       ///< "poisson3d:N or poisson3d:NXxNYxNZ"
  std::string description;                  ///< one line
  std::string example;                      ///< a small instance, "poisson3d:8"
  bool symmetric_positive_definite = true;  ///< for all its parameters
  int natural_block_size = 1;               ///< unknowns per node
};

/// All families.
const std::vector<ProblemInfo>& problem_families();

/// Whether the text names a built-in problem (rather than a file): a known family, then ':'.
bool is_problem(std::string_view text);

/// Assembles a built-in problem as CSR, rows in parallel. The same text gives the same bits anywhere.
///
/// poisson2d:NXxNY (or N)      5-point Laplacian times h^2: 4 and -1; Dirichlet; x runs fastest
/// poisson3d:N (or NXxNYxNZ)   7-point Laplacian times h^2: 6 and -1
/// stencil27:N                 26 on the diagonal, -1 for each of up to 26 neighbours
/// anisotropic2d:N:EPS         -u_xx - EPS u_yy, times h^2; EPS > 0
/// diffusion3d:N:CONTRAST      finite volumes of -div(k grad u) in N^3 cells, u = 0 around them; k is CONTRAST^s with an s of each cell's own
///                             that is scattered over [0, 1), harmonic means between cells; CONTRAST >= 1
/// convection3d:N:PECLET       poisson3d plus convection along (1, 1, 1), upwind differences; PECLET >= 0
///                             is the cell Peclet number v h / diffusion: 6 + 3 PECLET on the diagonal,
///                             -1 - PECLET upstream, -1 downstream. Nonsymmetric for PECLET > 0
/// elasticity2d:N              plane strain, E = 1, nu = 0.3, N x N Q1 elements of unit size, 2 x 2
///                             Gauss points, the nodes of the side x = 0 clamped and eliminated:
///                             2 N (N + 1) unknowns, node by node, blocks of coupled nodes stored whole
/// elasticity3d:N              the same on N x N x N elements: 3 N (N + 1)^2 unknowns
/// wathen:NXxNY                mass matrix of NX x NY serendipity elements with random densities from a
///                             fixed generator (Wathen 1987; Higham's gallery('wathen')); the eigenvalues
///                             of D^-1 A lie in [1/4, 9/2]
/// trefethen:N                 the first N primes on the diagonal, ones where |i - j| is a power of two
///
/// Errors   InvalidArgument (unknown family, malformed text, more than 2^31 - 1 rows or nonzeros),
///          naming the expected syntax.
/// Cost     O(nonzeros), nothing allocated but the result (trefethen: the primes too).
CsrMatrix<double> generate_problem(std::string_view text);

/// Where the nodes of an elasticity problem are, in element sizes; empty for the other families.
///
/// Shapes   [rows]: the coordinates of each node one after the other, natural_block_size of them
/// Errors   those of generate_problem.
Vector<double> problem_coordinates(std::string_view text);

}  // namespace cnc
