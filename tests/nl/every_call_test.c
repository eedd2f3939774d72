/* Every call in every state, right and wrong: it returns, and leaves an error where it should. */
#include "right_calls.h"
#include "wrong_calls.h"

/* A context of two variables that has come as far. */
static NLContext context_in(int state) {
  NLContext context = NULL;
  nlMakeCurrent(NULL);
  if (state == none) return NULL;
  context = nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, 2);
  if (state == initial) return context;
  nlBegin(NL_SYSTEM);
  if (state == in_system) return context;
  if (state == in_pattern || state == in_patterned) {
    nlBegin(NL_MATRIX_PATTERN);
    nlSetRowLength(0, 2);
    nlSetRowLength(1, 1);
    if (state == in_pattern) return context;
    nlEnd(NL_MATRIX_PATTERN);
  }
  nlBegin(NL_MATRIX);
  nlAddIJCoefficient(0, 0, 2);
  nlAddIJCoefficient(1, 1, 4);
  nlAddIRightHandSide(0, 1);
  if (state == in_matrix || state == in_patterned) return context;
  if (state == in_row) {
    nlBegin(NL_ROW);
    return context;
  }
  nlEnd(NL_MATRIX);
  if (state == has_matrix) return context;
  nlEnd(NL_SYSTEM);
  if (state == has_system) return context;
  nlSolve();
  return context;
}

static int print_nothing(FILE* out, const char* format, ...) {
  (void)out;
  (void)format;
  return 0;
}

/* The context can be used again, whatever was called. */
static void check_recovery(NLContext context, int state, const char* what) {
  if (context == NULL) return;
  nlMakeCurrent(context);
  if (state >= in_system && state <= in_row) {
    nlBegin(NL_ROW);
    nlBegin(NL_ROW); /* out of order in any case: the system is spoilt */
    CHECK(nlGetErrorCNC() == NL_INVALID_OPERATION_CNC);
    nlBegin(NL_SYSTEM);
    if (nlGetErrorCNC() != NL_NO_ERROR_CNC)
      fprintf(stderr, "no recovery from %s\n", what), ++failures;
  }
  nlDeleteContext(context);
  CHECK(nlGetErrorCNC() == NL_NO_ERROR_CNC);
  CHECK(nlGetCurrent() == NULL);
}

static void every_call_in_every_state(void) {
  int state, i;
  for (state = none; state <= solved; state *= 2) {
    for (i = 0; i < call_count; ++i) {
      const NLContext context = context_in(state);
      CHECK(nlGetErrorCNC() == NL_NO_ERROR_CNC);
      nlPrintfFuncs(NULL, print_nothing);
      calls[i].call();
      nlPrintfFuncs(NULL, print_nothing);
      if ((nlGetErrorCNC() == NL_NO_ERROR_CNC) != ((calls[i].allowed & state) != 0)) {
        ++failures;
        fprintf(stderr, "%s in state %d: %s\n", calls[i].name, state, nlGetMessageCNC());
      }
      check_recovery(context, state, calls[i].name);
    }
    for (i = 0; i < bad_call_count; ++i) {
      const NLContext context = context_in(state);
      bad_calls[i]();
      if (nlGetErrorCNC() == NL_NO_ERROR_CNC) {
        ++failures;
        fprintf(stderr, "wrong call %d in state %d leaves no error\n", i, state);
      }
      check_recovery(context, state, "a wrong call");
    }
  }
}

/* Calls in any order, mostly wrong. */
static void random_walks(void) {
  unsigned seed = 77;
  int walk, step;
  for (walk = 0; walk < 200; ++walk) {
    const NLContext context = context_in(initial);
    for (step = 0; step < 200; ++step) {
      const int which = (int)((number(&seed) + 1) * 0.5 * (call_count + 4));
      if (which < call_count)
        calls[which].call();
      else if (number(&seed) > 0.8)
        bad_calls[(int)((number(&seed) + 1) * 0.499 * bad_call_count)]();
      nlPrintfFuncs(NULL, print_nothing);
      if (nlGetCurrent() == NULL) nlMakeCurrent(context);
    }
    nlDeleteContext(context);
    nlGetErrorCNC();
  }
}

int main(void) {
  every_call_in_every_state();
  nlPrintfFuncs(NULL, print_nothing);
  random_walks();
  return failures == 0 ? 0 : 1;
}
