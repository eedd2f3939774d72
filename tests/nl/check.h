#ifndef CNC_TESTS_NL_CHECK_H
#define CNC_TESTS_NL_CHECK_H

/* What the C programs of these tests share: checks, numbers that look random, and a dense solve to compare with. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int failures = 0;

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      ++failures;                                                     \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                 \
  } while (0)

#define CHECK_NEAR(a, b, tolerance)                                                            \
  do {                                                                                         \
    const double a_ = (a), b_ = (b);                                                           \
    if (!(fabs(a_ - b_) <= (tolerance) * (1.0 + fabs(b_)))) {                                  \
      ++failures;                                                                              \
      fprintf(stderr, "%s:%d: %s is %.17g, and should be %.17g\n", __FILE__, __LINE__, #a, a_, \
              b_);                                                                             \
    }                                                                                          \
  } while (0)

/* In [-1, 1]. */
static inline double number(unsigned* seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

/* Gaussian elimination with partial pivoting: a, row by row, is used up, and b becomes x. */
static inline void dense_solve(int n, double* a, double* b) {
  int i, j, k;
  for (k = 0; k < n; ++k) {
    int pivot = k;
    for (i = k + 1; i < n; ++i)
      if (fabs(a[i * n + k]) > fabs(a[pivot * n + k])) pivot = i;
    for (j = 0; j < n; ++j) {
      const double swapped = a[k * n + j];
      a[k * n + j] = a[pivot * n + j];
      a[pivot * n + j] = swapped;
    }
    {
      const double swapped = b[k];
      b[k] = b[pivot];
      b[pivot] = swapped;
    }
    for (i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
      b[i] -= factor * b[k];
    }
  }
  for (k = n - 1; k >= 0; --k) {
    for (j = k + 1; j < n; ++j) b[k] -= a[k * n + j] * b[j];
    b[k] /= a[k * n + k];
  }
}

#endif
