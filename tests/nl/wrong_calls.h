#ifndef CNC_TESTS_NL_WRONG_CALLS_H
#define CNC_TESTS_NL_WRONG_CALLS_H

#include <limits.h>

#include "right_calls.h"

/* Never right: NULL, names that are not known, what is out of range. */
CALL(bad_context, nlMakeCurrent((NLContext)&integer))
CALL(bad_deletion, nlDeleteContext((NLContext)&integer))
CALL(no_deletion, nlDeleteContext(NULL))
CALL(no_extension, nlInitExtension(NULL))
CALL(no_initialized, nlExtensionIsInitialized(NULL))
CALL(bad_parameter, nlSolverParameteri(0x999, 1))
CALL(bad_real_parameter, nlSolverParameterd(NL_SOLVER, 1))
CALL(bad_solver, nlSolverParameteri(NL_SOLVER, 0x7fffffff))
CALL(bad_preconditioner, nlSolverParameteri(NL_PRECONDITIONER, 0x302))
CALL(no_variables, nlSolverParameteri(NL_NB_VARIABLES, 0))
CALL(negative_variables, nlSolverParameteri(NL_NB_VARIABLES, INT_MIN))
CALL(no_systems, nlSolverParameteri(NL_NB_SYSTEMS, 0))
CALL(no_limit, nlSolverParameteri(NL_MAX_ITERATIONS, -1))
CALL(no_cycle, nlSolverParameteri(NL_INNER_ITERATIONS, 0))
CALL(bad_threshold, nlSolverParameterd(NL_THRESHOLD, -1))
CALL(nan_threshold, nlSolverParameterd(NL_THRESHOLD, nan("")))
CALL(bad_omega, nlSolverParameterd(NL_OMEGA, 2))
CALL(nan_omega, nlSolverParameterd(NL_OMEGA, nan("")))
CALL(bad_boolean, nlGetBooleanv(NL_ERROR, &boolean))
CALL(no_boolean, nlGetBooleanv(NL_SYMMETRIC, NULL))
CALL(bad_double, nlGetDoublev(NL_SOLVER, values))
CALL(no_double, nlGetDoublev(NL_ERROR, NULL))
CALL(no_integer, nlGetIntegerv(NL_SOLVER, NULL))
CALL(no_long, nlGetIntegervL(NL_SOLVER, NULL))
CALL(bad_enable, nlEnable(NL_SOLVER))
CALL(bad_disable, nlDisable(0))
CALL(bad_is_enabled, nlIsEnabled(77))
CALL(bad_function, nlSetFunction(NL_FUNC_PROGRESS + 1, (NLfunc)take))
CALL(bad_get_function, nlGetFunction(0, &function))
CALL(no_function, nlGetFunction(NL_FUNC_SOLVER, NULL))
CALL(bad_variable, nlSetVariable(2, 1))
CALL(bad_system, nlMultiSetVariable(0, 1, 1))
CALL(bad_get, nlGetVariable(UINT_MAX))
CALL(bad_multi_get, nlMultiGetVariable(0, UINT_MAX))
CALL(bad_lock, nlLockVariable(2))
CALL(bad_is_locked, nlVariableIsLocked(2))
CALL(bad_buffer, nlBindBuffer(NL_SYSTEM, 0, buffer, 8))
CALL(no_buffer, nlEnable(NL_VARIABLES_BUFFER); nlBindBuffer(NL_VARIABLES_BUFFER, 0, NULL, 8))
CALL(bad_buffer_system, nlEnable(NL_VARIABLES_BUFFER);
     nlBindBuffer(NL_VARIABLES_BUFFER, 1, buffer, 8))
CALL(bad_begin, nlBegin(4))
CALL(bad_end, nlEnd(UINT_MAX))
CALL(bad_row_length, nlSetRowLength(2, 1))
CALL(bad_coefficient, nlCoefficient(2, 1))
CALL(bad_right_hand_side, nlMultiRightHandSide(1, 1))
CALL(bad_row_parameter, nlRowParameterd(NL_SOLVER, 1))
CALL(bad_entry_row, nlAddIJCoefficient(2, 0, 1))
CALL(bad_entry_column, nlAddIJCoefficient(0, UINT_MAX, 1))
CALL(bad_entry_index, nlAddIJCoefficientAt(0, 0, 1, 3))
CALL(other_entry_index, nlAddIJCoefficientAt(1, 1, 1, 0))
CALL(no_entry_index, nlAddIJCoefficientAt(1, 1, 1, (NLulong)-1))
CALL(bad_row_offset, nlSetIJCoefficientAtRowOffset(0, 0, 1, UINT_MAX))
CALL(taken_row_offset, nlSetIJCoefficientAtRowOffset(0, 0, 1, 0))
CALL(bad_add_right_hand_side, nlAddIRightHandSide(2, 1))
CALL(bad_multi_add, nlMultiAddIRightHandSide(0, 1, 1))
CALL(no_update, nlUpdateRightHandSide(NULL))
CALL(bad_matrix_mode, nlMatrixMode(NL_MATRIX))
CALL(bad_eigen_parameter, nlEigenSolverParameteri(NL_SOLVER, NL_CG))
CALL(bad_eigen_real, nlEigenSolverParameterd(NL_OMEGA, 1))
CALL(no_matrix, nlMultMatrixVector(NULL, buffer, values))
CALL(bad_matrix, nlMultMatrixVector((NLMatrix)buffer, buffer, values))
CALL(no_vectors, nlMultMatrixVector(nlGetCurrentMatrix(), NULL, NULL))
CALL(same_vectors, nlMultMatrixVector(nlGetCurrentMatrix(), values, values))
CALL(no_diagonal, nlMultDiagonal(NULL, 1))
CALL(zero_omega, nlMultDiagonal(values, 0))
CALL(no_diagonal_inverse, nlMultDiagonalInverse(NULL, 1))
CALL(no_lower, nlMultLowerInverse(NULL, values, 1))
CALL(no_upper, nlMultUpperInverse(buffer, NULL, 1))
CALL(bad_solution, nlGetSolutionCNC(5))

static void (*const bad_calls[])(void) = {bad_context,
                                          bad_deletion,
                                          no_deletion,
                                          no_extension,
                                          no_initialized,
                                          bad_parameter,
                                          bad_real_parameter,
                                          bad_solver,
                                          bad_preconditioner,
                                          no_variables,
                                          negative_variables,
                                          no_systems,
                                          no_limit,
                                          no_cycle,
                                          bad_threshold,
                                          nan_threshold,
                                          bad_omega,
                                          nan_omega,
                                          bad_boolean,
                                          no_boolean,
                                          bad_double,
                                          no_double,
                                          no_integer,
                                          no_long,
                                          bad_enable,
                                          bad_disable,
                                          bad_is_enabled,
                                          bad_function,
                                          bad_get_function,
                                          no_function,
                                          bad_variable,
                                          bad_system,
                                          bad_get,
                                          bad_multi_get,
                                          bad_lock,
                                          bad_is_locked,
                                          bad_buffer,
                                          no_buffer,
                                          bad_buffer_system,
                                          bad_begin,
                                          bad_end,
                                          bad_row_length,
                                          bad_coefficient,
                                          bad_right_hand_side,
                                          bad_row_parameter,
                                          bad_entry_row,
                                          bad_entry_column,
                                          bad_entry_index,
                                          other_entry_index,
                                          no_entry_index,
                                          bad_row_offset,
                                          taken_row_offset,
                                          bad_add_right_hand_side,
                                          bad_multi_add,
                                          no_update,
                                          bad_matrix_mode,
                                          bad_eigen_parameter,
                                          bad_eigen_real,
                                          no_matrix,
                                          bad_matrix,
                                          no_vectors,
                                          same_vectors,
                                          no_diagonal,
                                          zero_omega,
                                          no_diagonal_inverse,
                                          no_lower,
                                          no_upper,
                                          bad_solution};
enum { bad_call_count = sizeof bad_calls / sizeof bad_calls[0] };

#endif
