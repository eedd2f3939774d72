#ifndef CNC_TESTS_NL_RIGHT_CALLS_H
#define CNC_TESTS_NL_RIGHT_CALLS_H

/* Every call of nl.h, on two variables, and the states in which it is allowed. */

#include <cnc/nl.h>

#include "check.h"

/* States as bits. */
enum {
  none = 1, /* no context is current */
  initial = 2,
  in_system = 4,
  in_pattern = 8,
  in_matrix = 16,
  in_patterned = 32, /* NL_MATRIX with a pattern */
  in_row = 64,
  has_matrix = 128,
  has_system = 256,
  solved = 512,
  states = 10,
  any = 1023,
  has_context = any - none,
  begun = has_context - initial,
  constructed = has_matrix + has_system + solved,
  between = initial + has_system + solved
};

static double buffer[64], values[64];
static NLfunc function;
static void take(const double* x, double* y) {
  y[0] = x[0];
  y[1] = x[1];
}

struct Call {
  int allowed; /* in these states there is no error */
  const char* name;
  void (*call)(void);
};

#define CALL(name, statement) \
  static void name(void) { statement; }
static NLboolean boolean;
static NLint integer;
static NLlong long_integer;
CALL(get_current, nlGetCurrent())
CALL(make_nothing_current, nlMakeCurrent(NULL))
CALL(init_extension, nlInitExtension("SUPERLU"))
CALL(is_initialized, nlExtensionIsInitialized("CUDA"))
CALL(initialize, nlInitialize(0, NULL))
CALL(set_limit, nlSolverParameteri(NL_MAX_ITERATIONS, 20))
CALL(set_solver, nlSolverParameteri(NL_SOLVER, NL_BICGSTAB))
CALL(set_variables, nlSolverParameteri(NL_NB_VARIABLES, 2))
CALL(set_systems, nlSolverParameteri(NL_NB_SYSTEMS, 1))
CALL(set_least_squares, nlSolverParameteri(NL_LEAST_SQUARES, NL_FALSE))
CALL(set_symmetric, nlSolverParameteri(NL_SYMMETRIC, NL_FALSE))
CALL(set_threshold, nlSolverParameterd(NL_THRESHOLD, 1e-8))
CALL(set_omega, nlSolverParameterd(NL_OMEGA, 1.1))
CALL(get_boolean, nlGetBooleanv(NL_SYMMETRIC, &boolean))
CALL(get_double, nlGetDoublev(NL_ERROR, values))
CALL(get_integer, nlGetIntegerv(NL_SOLVER, &integer))
CALL(get_long, nlGetIntegervL(NL_USED_ITERATIONS, &long_integer))
CALL(get_nonzeros, nlGetIntegerv(NL_NNZ, &integer))
CALL(enable_rows, nlEnable(NL_NORMALIZE_ROWS))
CALL(disable_rows, nlDisable(NL_NORMALIZE_ROWS))
CALL(enable_indirection, nlDisable(NL_NO_VARIABLES_INDIRECTION))
CALL(is_enabled, nlIsEnabled(NL_VERBOSE))
CALL(set_function, nlSetFunction(NL_FUNC_PROGRESS, NULL))
CALL(get_function, nlGetFunction(NL_FUNC_SOLVER, &function))
CALL(set_variable, nlSetVariable(1, 2))
CALL(multi_set_variable, nlMultiSetVariable(1, 0, 2))
CALL(get_variable, nlGetVariable(1))
CALL(multi_get_variable, nlMultiGetVariable(1, 0))
CALL(unlock_variable, nlUnlockVariable(1))
CALL(is_locked, nlVariableIsLocked(1))
CALL(bind_buffer, nlEnable(NL_VARIABLES_BUFFER); nlBindBuffer(NL_VARIABLES_BUFFER, 0, buffer, 8))
CALL(begin_system, nlBegin(NL_SYSTEM))
CALL(begin_pattern, nlBegin(NL_MATRIX_PATTERN))
CALL(begin_matrix, nlBegin(NL_MATRIX))
CALL(begin_row, nlBegin(NL_ROW))
CALL(end_system, nlEnd(NL_SYSTEM))
CALL(end_pattern, nlEnd(NL_MATRIX_PATTERN))
CALL(end_matrix, nlEnd(NL_MATRIX))
CALL(end_row, nlEnd(NL_ROW))
CALL(set_row_length, nlSetRowLength(0, 2))
CALL(coefficient, nlCoefficient(0, 3))
CALL(right_hand_side, nlRightHandSide(1))
CALL(multi_right_hand_side, nlMultiRightHandSide(0, 1))
CALL(row_scaling, nlRowScaling(2))
CALL(row_parameterd, nlRowParameterd(NL_ROW_SCALING, 2))
CALL(row_parameteri, nlRowParameteri(NL_RIGHT_HAND_SIDE, 2))
CALL(add_entry, nlAddIJCoefficient(1, 1, 1))
CALL(add_entry_at, nlAddIJCoefficientAt(0, 0, 1, 0))
CALL(set_entry, nlSetIJCoefficientAtRowOffset(0, 1, 0.5, 1))
CALL(add_right_hand_side, nlAddIRightHandSide(1, 1))
CALL(multi_add_right_hand_side, nlMultiAddIRightHandSide(1, 0, 1))
CALL(solve, nlSolve())
CALL(update, nlUpdateRightHandSide(values))
CALL(matrix_mode, nlMatrixMode(NL_STIFFNESS_MATRIX))
CALL(eigen_number, nlEigenSolverParameteri(NL_NB_EIGENS, 1))
CALL(eigen_threshold, nlEigenSolverParameterd(NL_EIGEN_THRESHOLD, 1e-8))
CALL(eigen_solver, nlEigenSolverParameteri(NL_EIGEN_SOLVER, NL_ARPACK_EXT))
CALL(eigen_shift, nlEigenSolverParameterd(NL_EIGEN_SHIFT, 0))
CALL(eigen_solve, nlEigenSolve())
CALL(eigen_value, CHECK(isnan(nlGetEigenValue(0))))
CALL(printf_functions, nlPrintfFuncs(NULL, NULL))
CALL(current_matrix, nlGetCurrentMatrix())
CALL(mult_diagonal, nlMultDiagonal(values, 1.5))
CALL(mult_diagonal_inverse, nlMultDiagonalInverse(values, 1.5))
CALL(mult_lower, nlMultLowerInverse(buffer, values, 1.5))
CALL(mult_upper, nlMultUpperInverse(buffer, values, 1.5))
CALL(get_right_hand_side, nlGetRightHandSideCNC(0))
CALL(get_solution, nlGetSolutionCNC(0))

static const struct Call calls[] = {
    {any, "get_current", get_current},
    {any, "make_nothing_current", make_nothing_current},
    {any, "init_extension", init_extension},
    {any, "is_initialized", is_initialized},
    {any, "initialize", initialize},
    {between, "set_limit", set_limit},
    {between, "set_solver", set_solver},
    {initial, "set_variables", set_variables},
    {initial, "set_systems", set_systems},
    {initial, "set_least_squares", set_least_squares},
    {initial, "set_symmetric", set_symmetric},
    {between, "set_threshold", set_threshold},
    {between, "set_omega", set_omega},
    {has_context, "get_boolean", get_boolean},
    {has_context, "get_double", get_double},
    {has_context, "get_integer", get_integer},
    {has_context, "get_long", get_long},
    {constructed, "get_nonzeros", get_nonzeros},
    {has_context - in_row, "enable_rows", enable_rows},
    {has_context - in_row, "disable_rows", disable_rows},
    {has_context, "enable_indirection", enable_indirection},
    {has_context, "is_enabled", is_enabled},
    {has_context, "set_function", set_function},
    {has_context, "get_function", get_function},
    {in_system, "set_variable", set_variable},
    {in_system, "multi_set_variable", multi_set_variable},
    {begun, "get_variable", get_variable},
    {begun, "multi_get_variable", multi_get_variable},
    {in_system, "unlock_variable", unlock_variable},
    {begun, "is_locked", is_locked},
    {in_system, "bind_buffer", bind_buffer},
    {between, "begin_system", begin_system},
    {in_system, "begin_pattern", begin_pattern},
    {in_system, "begin_matrix", begin_matrix},
    {in_matrix, "begin_row", begin_row},
    {has_matrix, "end_system", end_system},
    {in_pattern, "end_pattern", end_pattern},
    {in_matrix + in_patterned, "end_matrix", end_matrix},
    {in_row, "end_row", end_row},
    {in_pattern, "set_row_length", set_row_length},
    {in_row, "coefficient", coefficient},
    {in_matrix + in_patterned + in_row, "right_hand_side", right_hand_side},
    {in_matrix + in_patterned + in_row, "multi_right_hand_side", multi_right_hand_side},
    {in_matrix + in_patterned, "row_scaling", row_scaling},
    {in_matrix + in_patterned + in_row, "row_parameterd", row_parameterd},
    {in_matrix + in_patterned + in_row, "row_parameteri", row_parameteri},
    {in_matrix + in_patterned, "add_entry", add_entry},
    {in_patterned, "add_entry_at", add_entry_at},
    {in_patterned, "set_entry", set_entry},
    {in_matrix + in_patterned, "add_right_hand_side", add_right_hand_side},
    {in_matrix + in_patterned, "multi_add_right_hand_side", multi_add_right_hand_side},
    {has_system, "solve", solve},
    {has_system + solved, "update", update},
    {in_system + has_matrix, "matrix_mode", matrix_mode},
    {initial, "eigen_number", eigen_number},
    {between, "eigen_threshold", eigen_threshold},
    {0, "eigen_solver", eigen_solver},
    {0, "eigen_shift", eigen_shift},
    {0, "eigen_solve", eigen_solve},
    {0, "eigen_value", eigen_value},
    {any, "printf_functions", printf_functions},
    {constructed, "current_matrix", current_matrix},
    {constructed, "mult_diagonal", mult_diagonal},
    {constructed, "mult_diagonal_inverse", mult_diagonal_inverse},
    {constructed, "mult_lower", mult_lower},
    {constructed, "mult_upper", mult_upper},
    {0, "get_right_hand_side", get_right_hand_side},
    {0, "get_solution", get_solution},
};
enum { call_count = sizeof calls / sizeof calls[0] };

#endif
