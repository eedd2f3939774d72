/* A noisy curve is smoothed by least squares, with its ends held fast: a program as it was written for OpenNL. */
#include <NL/nl.h>
#include <stdio.h>

#define POINTS 200

/* A parabola and noise of +-0.1. */
static double measured(int i) {
  const double t = (double)i / (POINTS - 1);
  return 4 * t * (1 - t) + (i * 7919 % 201 - 100) / 1000.0;
}

int main(void) {
  NLint iterations;
  double largest = 0;
  int i;

  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, POINTS);
  nlSolverParameteri(NL_LEAST_SQUARES, NL_TRUE);

  nlBegin(NL_SYSTEM);
  nlSetVariable(0, 0);
  nlLockVariable(0);
  nlSetVariable(POINTS - 1, 0);
  nlLockVariable(POINTS - 1);
  nlBegin(NL_MATRIX);
  for (i = 1; i < POINTS - 1; ++i) {
    nlBegin(NL_ROW); /* near what was measured */
    nlCoefficient((NLuint)i, 1);
    nlRightHandSide(measured(i));
    nlEnd(NL_ROW);
    nlRowScaling(20); /* and above all smooth */
    nlBegin(NL_ROW);
    nlCoefficient((NLuint)(i - 1), 1);
    nlCoefficient((NLuint)i, -2);
    nlCoefficient((NLuint)(i + 1), 1);
    nlEnd(NL_ROW);
  }
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);

  if (!nlSolve()) return 1;
  nlGetIntegerv(NL_USED_ITERATIONS, &iterations);
  for (i = 0; i < POINTS; ++i) {
    const double t = (double)i / (POINTS - 1), error = nlGetVariable((NLuint)i) - 4 * t * (1 - t);
    if (error > largest) largest = error;
    if (-error > largest) largest = -error;
  }
  printf("%d iterations; noise of 0.1 has become %.3f\n", (int)iterations, largest);
  nlDeleteContext(nlGetCurrent());
  return largest < 0.05 ? 0 : 1;
}
