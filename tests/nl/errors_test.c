/* What ends without an answer, and what is said of it. */
#include <limits.h>
#include <string.h>

#include "problem.h"

static int print_nothing(FILE* out, const char* format, ...) {
  (void)out;
  (void)format;
  return 0;
}

/* After an error in the assembly there is no solve, and one message. */
static int printed = 0;
static int count(FILE* out, const char* format, ...) {
  (void)out;
  (void)format;
  ++printed;
  return 0;
}
static void spoilt_systems(void) {
  static struct Problem p;
  int time;
  make_general(&p, 20, 91);
  new_context(&p);
  for (time = 0; time < 2; ++time) {
    printed = 0;
    nlPrintfFuncs(NULL, count);
    nlBegin(NL_SYSTEM);
    nlBegin(NL_MATRIX);
    nlBegin(NL_ROW);
    nlCoefficient(20, 1);
    nlCoefficient(21, 1);
    nlCoefficient(3, 1);
    nlEnd(NL_ROW);
    nlEnd(NL_MATRIX);
    nlEnd(NL_SYSTEM);
    CHECK(printed == 1);
    CHECK(nlSolve() == NL_FALSE);
    CHECK(nlGetErrorCNC() == NL_INVALID_VALUE_CNC);
    CHECK(strstr(nlGetMessageCNC(), "variable 20") != NULL);
    nlPrintfFuncs(NULL, NULL);
    say_system(&p);
    solve_and_check(&p, "a system after one that was spoilt");
  }
  nlDeleteContext(nlGetCurrent());
}

static void solve_must_fail(const char* what, NLenum code) {
  CHECK(nlSolve() == NL_FALSE);
  if (nlGetErrorCNC() != code) fprintf(stderr, "%s: %s\n", what, nlGetMessageCNC()), ++failures;
  nlDeleteContext(nlGetCurrent());
}

static void no_answers(void) {
  static const NLint solvers[] = {NL_SUPERLU_EXT, NL_PERM_SUPERLU_EXT, NL_SYMMETRIC_SUPERLU_EXT,
                                  NL_CHOLMOD_EXT, NL_AMGCL_EXT};
  static struct Problem p;
  int i;
  make_general(&p, 20, 92);
  nlPrintfFuncs(NULL, print_nothing);
  for (i = 0; i < 5; ++i) {
    new_context(&p);
    nlSolverParameteri(NL_SOLVER, solvers[i]);
    say_system(&p);
    solve_must_fail("a solver that is not offered", NL_UNSUPPORTED_CNC);
  }
  new_context(&p);
  nlSolverParameteri(NL_PRECONDITIONER, NL_PRECOND_USER);
  say_system(&p);
  solve_must_fail("a preconditioner without a function", NL_INVALID_OPERATION_CNC);
  new_context(&p);
  p.value[3][1] = nan("");
  say_system(&p);
  solve_must_fail("a matrix that is not finite", NL_SOLVE_FAILED_CNC);
  make_least_squares(&p, 20, 50, 93);
  p.b[3][0] = HUGE_VAL;
  new_context(&p);
  say_system(&p);
  solve_must_fail("a right-hand side that is not finite", NL_SOLVE_FAILED_CNC);
  /* Too few rows, and too many. */
  make_general(&p, 20, 94);
  for (i = -1; i < 2; i += 2) {
    p.rows = 20 + i;
    new_context(&p);
    say_system(&p);
    CHECK(nlGetErrorCNC() == NL_INVALID_OPERATION_CNC);
    solve_must_fail("another number of rows", NL_INVALID_OPERATION_CNC);
  }
  /* More variables than there is memory for. */
  new_context(&p);
  nlSolverParameteri(NL_NB_VARIABLES, INT_MAX);
  nlSolverParameteri(NL_NB_SYSTEMS, INT_MAX);
  nlBegin(NL_SYSTEM);
  solve_must_fail("more variables than memory", NL_OUT_OF_MEMORY_CNC);
  nlPrintfFuncs(NULL, NULL);
}

static void extensions(void) {
  static const char* const absent[] = {"SUPERLU", "CHOLMOD", "ARPACK", "MKL", "AMGCL", "", "cuda"};
  static const char* const devices[] = {"CUDA", "HIP"};
  char first[] = "program", second[] = "nl:CNC=true", third[] = "nl:CUDA:matrix_format=fp64",
       fourth[] = "nl:NOTHING=maybe", fifth[] = "other";
  char* arguments[] = {first, second, third, fifth, fourth, NULL};
  int i;
  for (i = 0; i < 7; ++i) {
    CHECK(nlInitExtension(absent[i]) == NL_FALSE);
    CHECK(nlExtensionIsInitialized(absent[i]) == NL_FALSE);
  }
  for (i = 0; i < 2; ++i) {
    CHECK(nlExtensionIsInitialized(devices[i]) == NL_FALSE);
    CHECK(nlInitExtension(devices[i]) == nlExtensionIsInitialized(devices[i]));
  }
  CHECK(nlExtensionIsInitialized("CNC") == NL_TRUE);
  CHECK(nlGetErrorCNC() == NL_NO_ERROR_CNC);
  nlInitialize(4, arguments);
  CHECK(nlGetErrorCNC() == NL_NO_ERROR_CNC);
  nlInitialize(5, arguments);
  CHECK(nlGetErrorCNC() == NL_INVALID_VALUE_CNC);
}

int main(void) {
  extensions();
  spoilt_systems();
  no_answers();
  return failures == 0 ? 0 : 1;
}
