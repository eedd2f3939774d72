/* Several contexts: interleaved in one thread, one in each of two, and one that is filled by two. */
#define _POSIX_C_SOURCE 200112L
#include <pthread.h>

#include "problem.h"

/* Two systems are said row by row in turns. */
static void interleaved(void) {
  static struct Problem p[2];
  NLContext context[2];
  int i, k;
  make_general(&p[0], 40, 51);
  make_least_squares(&p[1], 30, 70, 52);
  for (k = 0; k < 2; ++k) {
    context[k] = new_context(&p[k]);
    CHECK(nlGetCurrent() == context[k]);
    nlBegin(NL_SYSTEM);
    nlBegin(NL_MATRIX);
  }
  CHECK(context[0] != context[1]);
  for (i = 0; i < 70; ++i)
    for (k = 0; k < 2; ++k) {
      nlMakeCurrent(context[k]);
      if (i < p[k].rows) say_row(&p[k], i);
    }
  for (k = 0; k < 2; ++k) {
    nlMakeCurrent(context[k]);
    nlEnd(NL_MATRIX);
    nlEnd(NL_SYSTEM);
  }
  for (k = 0; k < 2; ++k) {
    nlMakeCurrent(context[k]);
    CHECK(nlSolve() == NL_TRUE);
  }
  for (k = 0; k < 2; ++k) {
    nlMakeCurrent(context[k]);
    check_answer(&p[k], "interleaved contexts");
  }
  nlDeleteContext(context[0]);
  CHECK(nlGetCurrent() == context[1]);
  nlDeleteContext(context[1]);
  CHECK(nlGetCurrent() == NULL);
}

/* Each thread has contexts of its own. */
struct Work {
  struct Problem problem;
  int failures;
};

static double error_of(const struct Problem* p) {
  double x[max_variables], error = 0;
  static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
  int i;
  pthread_mutex_lock(&turn); /* dense_answer has static arrays */
  dense_answer(p, 0, x);
  pthread_mutex_unlock(&turn);
  for (i = 0; i < p->variables; ++i) {
    const double difference = fabs(nlGetVariable((NLuint)i) - x[i]);
    if (!(difference <= error)) error = difference;
  }
  return error;
}

static void* solve_often(void* argument) {
  struct Work* work = (struct Work*)argument;
  struct Problem* p = &work->problem;
  int time, i;
  for (time = 0; time < 30; ++time) {
    const NLContext context = new_context(p);
    int again;
    for (again = 0; again < 3; ++again) {
      for (i = 0; i < p->rows; ++i) p->value[i][0] += 0.01;
      say_system(p);
      if (nlSolve() != NL_TRUE || !(error_of(p) < 1e-11)) ++work->failures;
      if (nlGetCurrent() != context) ++work->failures;
    }
    nlDeleteContext(context);
    if (nlGetCurrent() != NULL || nlGetErrorCNC() != NL_NO_ERROR_CNC) ++work->failures;
  }
  return NULL;
}

static void two_threads(void) {
  static struct Work work[2];
  pthread_t thread[2];
  int k;
  make_general(&work[0].problem, 50, 53);
  make_least_squares(&work[1].problem, 40, 100, 54);
  for (k = 0; k < 2; ++k) CHECK(pthread_create(&thread[k], NULL, solve_often, &work[k]) == 0);
  for (k = 0; k < 2; ++k) {
    pthread_join(thread[k], NULL);
    CHECK(work[k].failures == 0);
  }
}

/* Threads that make no context current work on that of the thread that did, on rows of their own. */
static struct Problem shared;

static void* fill_rows(void* argument) {
  int i, k;
  for (i = *(const int*)argument; i < shared.rows; i += 2) {
    for (k = 0; k < row_length; ++k)
      nlAddIJCoefficient((NLuint)i, (NLuint)shared.index[i][k], shared.value[i][k]);
    nlAddIRightHandSide((NLuint)i, shared.b[i][0]);
  }
  return NULL;
}

static void one_pattern_two_threads(void) {
  static const int first[2] = {0, 1};
  pthread_t thread[2];
  int i;
  make_general(&shared, 60, 55);
  new_context(&shared);
  nlBegin(NL_SYSTEM);
  nlBegin(NL_MATRIX_PATTERN);
  for (i = 0; i < shared.rows; ++i) nlSetRowLength((NLuint)i, row_length);
  nlEnd(NL_MATRIX_PATTERN);
  nlBegin(NL_MATRIX);
  for (i = 0; i < 2; ++i) CHECK(pthread_create(&thread[i], NULL, fill_rows, (void*)&first[i]) == 0);
  for (i = 0; i < 2; ++i) pthread_join(thread[i], NULL);
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
  solve_and_check(&shared, "a pattern that two threads filled");
  nlDeleteContext(nlGetCurrent());
}

/* A context that another thread deletes is no longer this one's. */
static void* delete_it(void* context) {
  nlDeleteContext(*(NLContext*)context);
  return NULL;
}
static void deleted_elsewhere(void) {
  NLContext context = nlNewContext();
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, delete_it, &context) == 0);
  pthread_join(thread, NULL);
  CHECK(nlGetCurrent() == NULL);
  CHECK(nlNewContext() != context);
  nlDeleteContext(nlGetCurrent());
}

int main(void) {
  two_threads();
  interleaved();
  one_pattern_two_threads();
  deleted_elsewhere();
  return failures == 0 ? 0 : 1;
}
