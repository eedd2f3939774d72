/* Functions of the caller's: matrix, preconditioner, progress, solver, messages. */
#include <stdarg.h>
#include <string.h>

#include "problem.h"

static struct Problem p;
static int matrix_calls = 0, preconditioner_calls = 0, progress_calls = 0;

/* y := A x of the rows. */
static void multiply(const double* x, double* y) {
  int i, k;
  ++matrix_calls;
  for (i = 0; i < p.rows; ++i) {
    y[i] = 0;
    for (k = 0; k < row_length; ++k) y[i] += p.value[i][k] * x[p.index[i][k]];
  }
}

/* SSOR from its parts. */
static void precondition(const double* x, double* y) {
  static double between[max_variables];
  int i;
  ++preconditioner_calls;
  nlMultLowerInverse(x, between, 1.3);
  nlMultDiagonal(between, 1.3);
  nlMultUpperInverse(between, y, 1.3);
  for (i = 0; i < p.variables; ++i) y[i] *= 2 - 1.3;
}

static double last_error = 0;
static void progress(NLuint iteration, NLuint max_iterations, double error, double max_error) {
  ++progress_calls;
  CHECK(iteration <= max_iterations);
  CHECK(max_iterations == 2000);
  CHECK(error >= 0);
  CHECK(max_error >= 0 && max_error < 1e-20);
  last_error = error;
}

static void say_right_hand_side(void) {
  int i;
  nlBegin(NL_SYSTEM);
  nlBegin(NL_MATRIX);
  for (i = 0; i < p.rows; ++i) nlAddIRightHandSide((NLuint)i, p.b[i][0]);
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
}

static void own_matrix(void) {
  NLfunc function = NULL;
  NLint nonzeros = 0;
  int symmetric;
  for (symmetric = 0; symmetric < 2; ++symmetric) {
    if (symmetric)
      make_symmetric(&p, 40, 41);
    else
      make_general(&p, 40, 42);
    new_context(&p);
    if (symmetric) nlSolverParameteri(NL_SYMMETRIC, NL_TRUE);
    matrix_calls = 0;
    say_right_hand_side();
    nlSetFunction(NL_FUNC_MATRIX, (NLfunc)multiply);
    nlGetFunction(NL_FUNC_MATRIX, &function);
    CHECK(function == (NLfunc)multiply);
    nlGetIntegerv(NL_NNZ, &nonzeros);
    CHECK(nonzeros == 40 * 40);
    solve_and_check(&p, "a matrix function");
    CHECK(matrix_calls > 3);
    nlDeleteContext(nlGetCurrent());
  }
}

static void own_preconditioner(void) {
  NLfunc function = NULL;
  NLint preconditioner = 0, with = 0, without = 0;
  make_symmetric(&p, 60, 43);
  new_context(&p);
  nlSolverParameteri(NL_SOLVER, NL_CG);
  say_system(&p);
  solve_and_check(&p, "no preconditioner");
  nlGetIntegerv(NL_USED_ITERATIONS, &without);
  nlSetFunction(NL_FUNC_PRECONDITIONER, (NLfunc)precondition);
  nlGetFunction(NL_FUNC_PRECONDITIONER, &function);
  nlGetIntegerv(NL_PRECONDITIONER, &preconditioner);
  CHECK(function == (NLfunc)precondition);
  CHECK(preconditioner == NL_PRECOND_USER);
  say_system(&p);
  solve_and_check(&p, "a preconditioner");
  nlGetIntegerv(NL_USED_ITERATIONS, &with);
  CHECK(with < without);
  CHECK(preconditioner_calls >= with);
  nlDeleteContext(nlGetCurrent());

  preconditioner_calls = 0;
  make_least_squares(&p, 40, 90, 44);
  new_context(&p);
  nlSetFunction(NL_FUNC_PRECONDITIONER, (NLfunc)precondition);
  say_system(&p);
  solve_and_check(&p, "a preconditioner of least squares");
  CHECK(preconditioner_calls > 3);
  nlDeleteContext(nlGetCurrent());
}

static void own_progress(void) {
  NLint iterations = 0;
  make_symmetric(&p, 50, 45);
  new_context(&p);
  nlSolverParameteri(NL_SOLVER, NL_CG);
  nlSetFunction(NL_FUNC_PROGRESS, (NLfunc)progress);
  say_system(&p);
  solve_and_check(&p, "a progress function");
  nlGetIntegerv(NL_USED_ITERATIONS, &iterations);
  CHECK(progress_calls >= iterations - 1 && progress_calls <= iterations + 2);
  CHECK(last_error < 1e-20);
  nlDeleteContext(nlGetCurrent());
}

/* Jacobi's iteration, on what nlSolve has to offer; then what is built in. */
static NLfunc built_in = NULL;
static NLboolean jacobi(void) {
  const double* b = nlGetRightHandSideCNC(0);
  double* x = nlGetSolutionCNC(0);
  double r[max_variables];
  NLint n = 0, k;
  int i;
  nlGetIntegerv(NL_NB_FREE_VARIABLES_CNC, &n);
  for (k = 0; k < 200; ++k) {
    nlMultMatrixVector(nlGetCurrentMatrix(), x, r);
    for (i = 0; i < n; ++i) r[i] = b[i] - r[i];
    nlMultDiagonalInverse(r, 1);
    for (i = 0; i < n; ++i) x[i] += r[i];
  }
  return NL_TRUE;
}
static NLboolean refuse(void) { return NL_FALSE; }
static NLboolean wrap(void) { return ((NLboolean(*)(void))built_in)(); }

static void own_solver(void) {
  NLint solver = 0;
  make_general(&p, 40, 46);
  new_context(&p);
  nlGetFunction(NL_FUNC_SOLVER, &built_in);
  CHECK(built_in != NULL);
  nlSetFunction(NL_FUNC_SOLVER, (NLfunc)jacobi);
  nlGetIntegerv(NL_SOLVER, &solver);
  CHECK(solver == NL_SOLVER_USER);
  say_system(&p);
  solve_and_check(&p, "a solver function");
  nlSetFunction(NL_FUNC_SOLVER, (NLfunc)refuse);
  say_system(&p);
  CHECK(nlSolve() == NL_FALSE);
  nlSetFunction(NL_FUNC_SOLVER, (NLfunc)wrap);
  say_system(&p);
  solve_and_check(&p, "a solver function around what is built in");
  nlSetFunction(NL_FUNC_SOLVER, NULL);
  say_system(&p);
  solve_and_check(&p, "the solver that is built in");
  CHECK(nlGetSolutionCNC(0) == NULL);
  CHECK(nlGetErrorCNC() == NL_INVALID_OPERATION_CNC);
  nlDeleteContext(nlGetCurrent());

  make_least_squares(&p, 20, 50, 47);
  lock(&p, 3, 1);
  new_context(&p);
  nlSetFunction(NL_FUNC_SOLVER, (NLfunc)wrap);
  say_system(&p);
  solve_and_check(&p, "a solver function of least squares");
  nlDeleteContext(nlGetCurrent());
}

/* A function that calls what has no place in a solve. */
static int calls_refused = 0;
static void meddle(NLuint iteration, NLuint max_iterations, double error, double max_error) {
  NLboolean found = NL_TRUE;
  (void)iteration;
  (void)max_iterations;
  (void)error;
  (void)max_error;
  nlDeleteContext(nlGetCurrent());
  found = (NLboolean)(found && nlGetErrorCNC() == NL_INVALID_OPERATION_CNC);
  nlBegin(NL_SYSTEM);
  found = (NLboolean)(found && nlGetErrorCNC() == NL_INVALID_OPERATION_CNC);
  found =
      (NLboolean)(found && nlSolve() == NL_FALSE && nlGetErrorCNC() == NL_INVALID_OPERATION_CNC);
  nlSetFunction(NL_FUNC_PROGRESS, NULL);
  found = (NLboolean)(found && nlGetErrorCNC() == NL_INVALID_OPERATION_CNC);
  if (found) ++calls_refused;
}

static char told[4096];
static int to_string(FILE* out, const char* format, ...) {
  va_list arguments;
  int length;
  (void)out;
  va_start(arguments, format);
  length = vsnprintf(told, sizeof told, format, arguments);
  va_end(arguments);
  return length;
}
static char said[4096];
static int to_other_string(const char* format, ...) {
  va_list arguments;
  int length;
  va_start(arguments, format);
  length = vsnprintf(said, sizeof said, format, arguments);
  va_end(arguments);
  return length;
}

static void meddling(void) {
  make_general(&p, 40, 48);
  new_context(&p);
  nlSetFunction(NL_FUNC_PROGRESS, (NLfunc)meddle);
  say_system(&p);
  nlPrintfFuncs(NULL, to_string);
  solve_and_check(&p, "a progress function that meddles");
  nlPrintfFuncs(NULL, NULL);
  CHECK(calls_refused > 3);
  nlDeleteContext(nlGetCurrent());
}

static void messages(void) {
  NLint value = 0;
  make_general(&p, 20, 49);
  new_context(&p);
  nlPrintfFuncs(to_other_string, to_string);
  nlGetIntegerv(0x12345, &value);
  CHECK(strcmp(told, "nlGetIntegerv: it does not take the name 0x12345\n") == 0);
  CHECK(strncmp(told, nlGetMessageCNC(), strlen(nlGetMessageCNC())) == 0);
  CHECK(nlGetErrorCNC() == NL_INVALID_ENUM_CNC);
  nlEnable(NL_VERBOSE);
  say_system(&p);
  solve_and_check(&p, "a solve that talks");
  CHECK(strstr(said, "iterations") != NULL);
  nlPrintfFuncs(NULL, NULL);
  nlDeleteContext(nlGetCurrent());
}

int main(void) {
  own_matrix();
  own_preconditioner();
  own_progress();
  own_solver();
  meddling();
  messages();
  return failures == 0 ? 0 : 1;
}
