#pragma once

#include <cnc/bcsr_matrix.hpp>
#include <cnc/solver.hpp>

#include <string>

namespace cnc::geometry {

/// What is solved: the least ||b - A x||, or A x = b with a symmetric positive definite A.
enum class SystemKind { least_squares, positive_definite };

/// What solves the systems of surfaces, in whatever memory and precision: matrices and vectors come and go in the memory of
/// the host and in double.
class SystemSolver {
 public:
  virtual ~SystemSolver() = default;
  /// Takes the matrix of the solves that follow, which has to live until the next prepare.
  virtual void prepare(const CsrMatrix<double>& A, SystemKind kind) = 0;
  /// Solves from the x given.
  virtual SolveReport solve(const Vector<const double>& b, const Vector<double>& x) = 0;
  /// How the last system is solved: "normal-equations", "lsqr", "cgnr" or, of a definite one, "pcg".
  virtual std::string method() const = 0;
};

/// Seconds that parts of the work took.
struct WorkTimes {
  double assembly = 0;
  double set_up = 0;
  double solving = 0;
};

}  // namespace cnc::geometry
