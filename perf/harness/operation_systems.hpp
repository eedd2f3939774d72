#pragma once

#include "harness/krylov_solves.hpp"

namespace cnc::perf {

/// A system, symmetric and positive definite, and how long it took to make.
struct MeasuredSystem {
  std::string name;
  CsrMatrix<double> A;
  Vector<double> b;
  Structure structure;
  double assembly = 0;  ///< seconds; 0: the matrix was given
  /// Residual norm of the reference after the short solve that every timed solver is checked with.
  double short_residual = 0;
  Lengths lengths;  ///< of the solves whose difference is the time of an iteration
};

/// What becomes of a mesh.
struct MeshOptions {
  std::vector<std::string> systems = {"smooth", "lscm"};
  int unknowns = 1;  ///< to a vertex, of smoothing
  double fit = 0.1;  ///< weight of a vertex' own place beside its row of smoothing
};

/// The systems of a matrix file or a built-in problem, one, or of a mesh, "terrain:N" or a file: those asked for. The
/// right-hand side of a file A.mtx is read from A.b.mtx where there is one, and else random.
///
/// Errors   as load_matrix and the makers of systems; InvalidArgument (a matrix that is not symmetric).
std::vector<MeasuredSystem> load_systems(const std::string& source, const MeshOptions& options);

/// Writes matrix and right-hand side into a directory, as load_systems reads them: NAME.SUFFIX and NAME.b.SUFFIX. The suffix is
/// mtx, mtx.gz or cnc. Returns the first of the paths.
std::string write_system(const std::string& directory, const std::string& suffix,
                         const MeasuredSystem& system);

}  // namespace cnc::perf
