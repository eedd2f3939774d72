/* The header is C89, and its numbers are OpenNL 4's. */
#include <cnc/nl.h>

static const NLenum numbers[][2] = {
    {NL_FALSE, 0},
    {NL_TRUE, 1},
    {NL_SYSTEM, 0},
    {NL_MATRIX, 1},
    {NL_ROW, 2},
    {NL_MATRIX_PATTERN, 3},
    {NL_SOLVER, 0x100},
    {NL_NB_VARIABLES, 0x101},
    {NL_LEAST_SQUARES, 0x102},
    {NL_MAX_ITERATIONS, 0x103},
    {NL_THRESHOLD, 0x104},
    {NL_OMEGA, 0x105},
    {NL_SYMMETRIC, 0x106},
    {NL_USED_ITERATIONS, 0x107},
    {NL_ERROR, 0x108},
    {NL_INNER_ITERATIONS, 0x109},
    {NL_ELAPSED_TIME, 0x10a},
    {NL_PRECONDITIONER, 0x10b},
    {NL_GFLOPS, 0x10c},
    {NL_NNZ, 0x10d},
    {NL_NB_SYSTEMS, 0x10e},
    {NL_SOLVER_DEFAULT, 0},
    {NL_CG, 0x200},
    {NL_BICGSTAB, 0x201},
    {NL_GMRES, 0x202},
    {NL_SUPERLU_EXT, 0x210},
    {NL_PERM_SUPERLU_EXT, 0x211},
    {NL_SYMMETRIC_SUPERLU_EXT, 0x212},
    {NL_SOLVER_USER, 0x213},
    {NL_CHOLMOD_EXT, 0x214},
    {NL_ARPACK_EXT, 0x215},
    {NL_AMGCL_EXT, 0x216},
    {NL_CUDA_PRECOND_ILU_EXT, 0x220},
    {NL_PRECOND_NONE, 0},
    {NL_PRECOND_JACOBI, 0x300},
    {NL_PRECOND_SSOR, 0x301},
    {NL_PRECOND_USER, 0x303},
    {NL_NORMALIZE_ROWS, 0x400},
    {NL_VERBOSE, 0x401},
    {NL_NO_VARIABLES_INDIRECTION, 0x402},
    {NL_FUNC_SOLVER, 0x600},
    {NL_FUNC_MATRIX, 0x601},
    {NL_FUNC_PRECONDITIONER, 0x602},
    {NL_FUNC_PROGRESS, 0x603},
    {NL_VARIABLES_BUFFER, 0x1000},
    {NL_EIGEN_SOLVER, 0x2000},
    {NL_EIGEN_SHIFT, 0x2001},
    {NL_EIGEN_SHIFT_INVERT, 0x2002},
    {NL_STIFFNESS_MATRIX, 0x3001},
    {NL_MASS_MATRIX, 0x3002},
    {NL_NB_EIGENS, 0x10e},
    {NL_EIGEN_MAX_ITERATIONS, 0x103},
    {NL_EIGEN_THRESHOLD, 0x104},
};

/* The defaults. */
static int defaults(void) {
  NLint solver = -1, preconditioner = -1, systems = -1, limit = -1, inner = -1;
  NLdouble threshold = 0, omega = 0;
  NLboolean least_squares = 2, symmetric = 2;
  nlNewContext();
  nlGetIntegerv(NL_SOLVER, &solver);
  nlGetIntegerv(NL_PRECONDITIONER, &preconditioner);
  nlGetIntegerv(NL_NB_SYSTEMS, &systems);
  nlGetIntegerv(NL_MAX_ITERATIONS, &limit);
  nlGetIntegerv(NL_INNER_ITERATIONS, &inner);
  nlGetDoublev(NL_THRESHOLD, &threshold);
  nlGetDoublev(NL_OMEGA, &omega);
  nlGetBooleanv(NL_LEAST_SQUARES, &least_squares);
  nlGetBooleanv(NL_SYMMETRIC, &symmetric);
  nlDeleteContext(nlGetCurrent());
  return solver == NL_SOLVER_DEFAULT && preconditioner == NL_PRECOND_NONE && systems == 1 &&
         limit == 100 && inner == 5 && threshold == 1e-6 && omega == 1.5 && least_squares == 0 &&
         symmetric == 0;
}

int main(void) {
  unsigned i;
  for (i = 0; i < sizeof numbers / sizeof numbers[0]; ++i)
    if (numbers[i][0] != numbers[i][1]) {
      fprintf(stderr, "number %u is 0x%x, and should be 0x%x\n", i, numbers[i][0], numbers[i][1]);
      return 1;
    }
  if (!defaults()) {
    fprintf(stderr, "a default is another\n");
    return 1;
  }
  return 0;
}
