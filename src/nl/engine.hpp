#pragma once

#include <cnc/nl.h>
#include <cnc/bcsr_matrix.hpp>
#include <cnc/solver.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace cnc::nl {

using MatrixFunction = void (*)(const double*, double*);

/// What a solver is made from; for another one it is made anew.
struct Setup {
  bool least_squares = false;  ///< the matrix is A, else that of the system
  Method method = Method::pcg;
  int restart = 30;
  NLenum preconditioner = NL_PRECOND_NONE;
  double omega = 1;
  MatrixFunction preconditioner_function = nullptr;
  MatrixFunction matrix_function = nullptr;  ///< in the place of the matrix
  index_t unknowns = 0;
  FormatSpec format = {};
  StoragePrecision storage = StoragePrecision::as_vectors;
  bool operator==(const Setup&) const = default;
};

/// A solve of several systems with one matrix.
struct Request {
  Setup setup;
  const CsrMatrix<double>* matrix = nullptr;  ///< null with a matrix function
  std::uint64_t pattern_version = 0, value_version = 0;
  index_t rows = 0;
  NLuint systems = 1;
  const double* b =
      nullptr;  ///< [rows] of a system `b_stride` apart, those of the next `b_next` on
  std::size_t b_stride = 1, b_next = 0;
  double* x = nullptr;  ///< [systems][unknowns]
  double threshold = 0;
  index_t max_iterations = 0;
  std::function<void(const Progress&)> callback = {};
  index_t callback_interval = 0;  ///< of iterations; 0: whenever the solver looks
};

/// How it ended, of all systems together.
struct Outcome {
  bool has_answer = true;  ///< of each: the threshold, the limit of iterations, or no more to gain
  bool converged = false;  ///< all of them
  index_t iterations = 0;  ///< the most
  double error = 0;        ///< the largest
  double flops = 0;
  std::string text;  ///< of those that did not converge: what happened
};

/// What solves for a context; solvers are kept, and refreshed where a matrix has the pattern of the one before.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual Outcome solve(const Request& request) = 0;
};

std::unique_ptr<Engine> make_host_engine();
/// Null where Kokkos reaches no device.
std::unique_ptr<Engine> make_device_engine();

}  // namespace cnc::nl
