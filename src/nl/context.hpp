#pragma once

#include "nl/assembly.hpp"
#include "nl/buffer.hpp"
#include "nl/engine.hpp"

#include <cnc/nl.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

/// What an NLMatrix points to: a place in a context, compared and never read.
struct NLMatrixStruct {
  char place;
};

namespace cnc::nl {

/// Where a context is in the grammar of nlBegin and nlEnd.
enum class State : unsigned {
  initial,
  system,
  pattern,
  matrix,
  row,
  matrix_constructed,
  system_constructed,
  solved,
};

using SolverFunction = NLboolean (*)(void);
using ProgressFunction = void (*)(NLuint, NLuint, double, double);

/// Calls the solver that is built in, as a function that nlGetFunction can answer.
NLboolean default_solver();

/// What nlSolverParameter, nlEnable and nlSetFunction say. solver and preconditioner are those in use, which
/// nlBegin(NL_MATRIX) settles where the caller has left them open.
struct Parameters {
  NLenum solver = NL_SOLVER_DEFAULT, asked_solver = NL_SOLVER_DEFAULT;
  NLenum preconditioner = NL_PRECOND_NONE;
  bool preconditioner_asked = false;
  NLuint variables = 0, systems = 1;
  bool least_squares = false, symmetric = false;
  NLuint max_iterations = 100;
  bool max_iterations_asked = false;
  NLuint inner_iterations = 5;
  double threshold = 1e-6, omega = 1.5;
  bool normalize_rows = false, verbose = false, no_indirection = false, own_buffers = false;
  SolverFunction solver_function = default_solver;
  MatrixFunction matrix_function = nullptr, preconditioner_function = nullptr;
  ProgressFunction progress = nullptr;
};

/// What an NLContext names.
struct Context {
  Parameters parameters;
  State state = State::initial;
  bool is_solving = false;
  /// The message of the first error since nlBegin(NL_SYSTEM), which makes nlSolve refuse. Written by threads that fill a
  /// pattern together.
  std::atomic<bool> is_spoilt = false;
  std::string fault;

  // Variables.
  std::vector<double> values;         ///< [systems][variables], where they are not the caller's
  std::vector<Buffer> buffers;        ///< [systems]
  std::vector<unsigned char> locked;  ///< [variables]
  std::vector<index_t> unknowns;      ///< [variables]: the unknown of a free one, -1
  index_t free_variables = 0;         ///< of the matrix that has begun
  bool is_numbered = false;           ///< whether the two above hold

  // The system.
  NLenum matrix_mode = NL_STIFFNESS_MATRIX;
  Assembly stiffness, mass;
  index_t current_row = 0;
  std::atomic<bool> entries_were_added = false;
  std::vector<double> b;         ///< [systems][rows]; of appended rows [rows][systems]
  std::vector<double> normal_b;  ///< least squares, where it is wanted: A^T b, [systems][unknowns]
  bool normal_b_is_given = false;
  CsrMatrix<double>
      normal;  ///< least squares, where it is wanted: A^T A of the value version below
  std::uint64_t normal_version = 0;

  // The row that is being built.
  std::vector<Coefficient> row, locked_row;
  std::vector<double> row_b;  ///< [systems]
  double row_scaling = 1;

  // The solve.
  std::vector<double> x;  ///< [systems][unknowns]
  std::unique_ptr<Engine> host_engine, device_engine;
  Outcome outcome;
  double seconds = 0;

  std::array<NLMatrixStruct, 2> handles = {};

  Assembly& assembly() { return matrix_mode == NL_MASS_MATRIX ? mass : stiffness; }
  bool is_assembling() const {
    return state >= State::system && state <= State::matrix_constructed;
  }
  void spoil(const std::string& text);
  /// Lets go of everything that holds memory of Kokkos.
  void release();
};

/// The matrix of a constructed system, of free variables: A, or A^T A of a least-squares problem, which is formed when it is
/// asked for.
const CsrMatrix<double>& system_matrix(Context& c);

/// Its right-hand side of system k: b, or A^T b.
const double* system_right_hand_side(Context& c, NLuint k);

}  // namespace cnc::nl
