/* A program may end with contexts that are not deleted; with an argument, in the middle of a solve. */
#include "problem.h"

static void leave(NLuint iteration, NLuint max_iterations, double error, double max_error) {
  (void)max_iterations;
  (void)error;
  (void)max_error;
  if (iteration == 2) exit(failures == 0 ? 0 : 1);
}

int main(int argc, char** argv) {
  static struct Problem p;
  (void)argv;
  make_general(&p, 40, 61);
  new_context(&p);
  say_system(&p);
  solve_and_check(&p, "a context that stays");
  make_least_squares(&p, 30, 70, 62);
  new_context(&p);
  say_system(&p);
  nlSetFunction(NL_FUNC_PROGRESS, (NLfunc)leave);
  if (argc > 1) {
    nlSolve();
    return 1;
  }
  nlBegin(NL_SYSTEM);
  nlBegin(NL_MATRIX);
  say_row(&p, 0);
  nlBegin(NL_ROW);
  return failures == 0 ? 0 : 1;
}
