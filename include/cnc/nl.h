#ifndef CNC_NL_H
#define CNC_NL_H

/*
 * OpenNL's C interface, carried out by CNC: a program written for OpenNL 4 is compiled with this header, linked with
 * cnc::nl, and runs unchanged. Plain C (C89 with <stdint.h>) and C++. docs/opennl.md says what differs.
 *
 *   nlNewContext();
 *   nlSolverParameteri(NL_NB_VARIABLES, 2);
 *   nlBegin(NL_SYSTEM);
 *   nlBegin(NL_MATRIX);
 *   nlBegin(NL_ROW);                     ... a row for each equation
 *   nlCoefficient(0, 3.0);
 *   nlCoefficient(1, -1.0);
 *   nlRightHandSide(2.0);
 *   nlEnd(NL_ROW);
 *   nlEnd(NL_MATRIX);
 *   nlEnd(NL_SYSTEM);
 *   nlSolve();
 *   x = nlGetVariable(0);
 *   nlDeleteContext(nlGetCurrent());
 *
 * A call that is out of order or out of range does nothing, says why in one line on stderr, and leaves an error
 * (nlGetErrorCNC). After an error between nlBegin(NL_SYSTEM) and nlEnd(NL_SYSTEM) nlSolve answers NL_FALSE. No call ends
 * the process or lets an exception through.
 */

/* NOLINTBEGIN(modernize-*): this is C. */
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NL_VERSION_4_0 1
#define NLAPI
#define NLAPIENTRY

typedef unsigned int NLenum;
typedef unsigned char NLboolean;
typedef unsigned int NLbitfield;
typedef void NLvoid;
typedef signed char NLbyte;
typedef short NLshort;
typedef int32_t NLint;
typedef unsigned char NLubyte;
typedef unsigned short NLushort;
typedef uint32_t NLuint;
typedef int64_t NLlong;
typedef uint64_t NLulong;
typedef int NLsizei;
typedef float NLfloat;
typedef double NLdouble;
typedef void (*NLfunc)(void); /* cast to what nlSetFunction says */
typedef void* NLContext;      /* a number that names a context; never dereferenced */

#define NL_FALSE 0x0
#define NL_TRUE 0x1

/* --- Contexts. nlNewContext makes the new context the calling thread's current one, which all other calls work on. A
 * thread that has made none current works on the one that any thread made current last. Contexts in several threads
 * work side by side; a context belongs to one thread at a time, but for what nlAddIJCoefficient says. */
NLAPI NLContext NLAPIENTRY nlNewContext(void); /* NULL: see nlGetErrorCNC */
NLAPI void NLAPIENTRY nlDeleteContext(NLContext context);
NLAPI void NLAPIENTRY nlMakeCurrent(NLContext context);
NLAPI NLContext NLAPIENTRY nlGetCurrent(void);

/* "CUDA" and "HIP": NL_TRUE where this build has the backend and the machine the device; solves then run there, but for
 * those with functions of the caller's. "CNC": NL_TRUE. All others ("SUPERLU", "CHOLMOD", "ARPACK", ...): NL_FALSE. */
NLAPI NLboolean NLAPIENTRY nlInitExtension(const char* extension);
NLAPI NLboolean NLAPIENTRY nlExtensionIsInitialized(const char* extension);
/* Reads arguments nl:EXTENSION=true and nl:CUDA:matrix_format=fp64|fp32|fp32_precond; may be left out. */
NLAPI void NLAPIENTRY nlInitialize(int argc, char** argv);

/* --- Parameters: set before nlBegin(NL_SYSTEM). */
#define NL_SOLVER 0x100
#define NL_NB_VARIABLES 0x101
#define NL_LEAST_SQUARES 0x102   /* minimises ||A x - b||: rows in any number */
#define NL_MAX_ITERATIONS 0x103  /* 100; of NL_SOLVER_DEFAULT 5 times the free variables */
#define NL_THRESHOLD 0x104       /* 1e-6, of ||b - A x|| / ||b||, least squares: of A^T (b - A x) */
#define NL_OMEGA 0x105           /* 1.5; above 0, below 2 */
#define NL_SYMMETRIC 0x106       /* the matrix will be; a pattern then keeps j <= i alone */
#define NL_USED_ITERATIONS 0x107 /* read: of the last solve; of several systems the most */
#define NL_ERROR 0x108           /* read: ||b - A x|| / ||b||; of several systems the largest */
#define NL_INNER_ITERATIONS 0x109 /* 5: steps of a cycle of NL_GMRES */
#define NL_ELAPSED_TIME 0x10a     /* read: seconds of the last solve */
#define NL_PRECONDITIONER 0x10b
#define NL_GFLOPS 0x10c     /* read */
#define NL_NNZ 0x10d        /* read: entries of the matrix, least squares: of A^T A */
#define NL_NB_SYSTEMS 0x10e /* 1: right-hand sides of one matrix */

/* NL_SOLVER_DEFAULT: NL_CG with NL_PRECOND_JACOBI if least squares or symmetric, else NL_BICGSTAB. Where a named method breaks
 * down, one for any matrix goes on. */
#define NL_SOLVER_DEFAULT 0x000
#define NL_CG 0x200
#define NL_BICGSTAB 0x201
#define NL_GMRES 0x202
/* Not offered: nlSolve answers NL_FALSE. */
#define NL_SUPERLU_EXT 0x210
#define NL_PERM_SUPERLU_EXT 0x211
#define NL_SYMMETRIC_SUPERLU_EXT 0x212
#define NL_SOLVER_USER 0x213 /* what NL_SOLVER is after nlSetFunction(NL_FUNC_SOLVER, f) */
#define NL_CHOLMOD_EXT 0x214
#define NL_ARPACK_EXT 0x215
#define NL_AMGCL_EXT 0x216
#define NL_CUDA_PRECOND_ILU_EXT 0x220
/* Of OpenNL 2 and 3: CG with NL_PRECOND_JACOBI on a matrix in that layout (ELL: slices), FLOAT in single precision
 * under vectors in double precision; HYB leaves the layout to CNC. */
#define NL_CNC_FLOAT_CRS_EXT 0x220
#define NL_CNC_FLOAT_BCRS2_EXT 0x221
#define NL_CNC_DOUBLE_CRS_EXT 0x222
#define NL_CNC_DOUBLE_BCRS2_EXT 0x223
#define NL_CNC_FLOAT_ELL_EXT 0x224
#define NL_CNC_DOUBLE_ELL_EXT 0x225
#define NL_CNC_FLOAT_HYB_EXT 0x229
#define NL_CNC_DOUBLE_HYB_EXT 0x22a
#define NL_CNC_FLOAT_CRS NL_CNC_FLOAT_CRS_EXT
#define NL_CNC_FLOAT_BCRS2 NL_CNC_FLOAT_BCRS2_EXT
#define NL_CNC_DOUBLE_CRS NL_CNC_DOUBLE_CRS_EXT
#define NL_CNC_DOUBLE_BCRS2 NL_CNC_DOUBLE_BCRS2_EXT
#define NL_CNC_FLOAT_ELL NL_CNC_FLOAT_ELL_EXT
#define NL_CNC_DOUBLE_ELL NL_CNC_DOUBLE_ELL_EXT
#define NL_CNC_FLOAT_HYB NL_CNC_FLOAT_HYB_EXT
#define NL_CNC_DOUBLE_HYB NL_CNC_DOUBLE_HYB_EXT

#define NL_PRECOND_NONE 0x000 /* unless the solver is NL_SOLVER_DEFAULT */
#define NL_PRECOND_JACOBI 0x300
#define NL_PRECOND_SSOR 0x301
#define NL_PRECOND_USER 0x303

NLAPI void NLAPIENTRY nlSolverParameterd(NLenum pname, NLdouble param);
NLAPI void NLAPIENTRY nlSolverParameteri(NLenum pname, NLint param);
NLAPI void NLAPIENTRY nlGetBooleanv(NLenum pname, NLboolean* params);
NLAPI void NLAPIENTRY nlGetDoublev(NLenum pname, NLdouble* params);
NLAPI void NLAPIENTRY nlGetIntegerv(NLenum pname, NLint* params);
NLAPI void NLAPIENTRY nlGetIntegervL(NLenum pname, NLlong* params);

#define NL_NORMALIZE_ROWS 0x400 /* rows are divided by the norm of all their coefficients */
#define NL_VERBOSE 0x401
#define NL_NO_VARIABLES_INDIRECTION 0x402 /* no variable will be locked */
#define NL_VARIABLES_BUFFER 0x1000        /* variables are the caller's: nlBindBuffer */
NLAPI void NLAPIENTRY nlEnable(NLenum pname);
NLAPI void NLAPIENTRY nlDisable(NLenum pname);
NLAPI NLboolean NLAPIENTRY nlIsEnabled(NLenum pname);

/* --- Functions of the caller's. NULL brings back what was built in. */
#define NL_FUNC_SOLVER 0x600         /* NLboolean f(void): nlSolve calls it; see nlGetSolutionCNC */
#define NL_FUNC_MATRIX 0x601         /* void f(const double* x, double* y): y := A x */
#define NL_FUNC_PRECONDITIONER 0x602 /* void f(const double* x, double* y): y := M^-1 x */
/* void f(NLuint iteration, NLuint max_iterations, double error, double max_error), both ||b - A x||^2 */
#define NL_FUNC_PROGRESS 0x603
NLAPI void NLAPIENTRY nlSetFunction(NLenum pname, NLfunc param);
NLAPI void NLAPIENTRY nlGetFunction(NLenum pname, NLfunc* param);

/* --- Variables, 0 to NL_NB_VARIABLES - 1: set and lock between nlBegin(NL_SYSTEM) and the matrix. Values of free ones are
 * where the solve starts; locked ones are no unknowns, they go to the right-hand side. */
NLAPI void NLAPIENTRY nlSetVariable(NLuint i, NLdouble value);
NLAPI NLdouble NLAPIENTRY nlGetVariable(NLuint i);
NLAPI void NLAPIENTRY nlMultiSetVariable(NLuint i, NLuint k, NLdouble value); /* of system k */
NLAPI NLdouble NLAPIENTRY nlMultiGetVariable(NLuint i, NLuint k);
NLAPI void NLAPIENTRY nlLockVariable(NLuint index);
NLAPI void NLAPIENTRY nlUnlockVariable(NLuint index);
NLAPI NLboolean NLAPIENTRY nlVariableIsLocked(NLuint index);
/* Variables of system k are doubles at addr, stride bytes apart (0: sizeof(double)). */
NLAPI void NLAPIENTRY nlBindBuffer(NLenum buffer, NLuint k, void* addr, NLuint stride);

/* --- The system: NL_SYSTEM holds an optional NL_MATRIX_PATTERN, then NL_MATRIX, which holds rows, or entries. A second
 * NL_SYSTEM in a context keeps variables and locks; with the same calls it refreshes values alone. */
#define NL_SYSTEM 0x0
#define NL_MATRIX 0x1
#define NL_ROW 0x2
#define NL_MATRIX_PATTERN 0x3
NLAPI void NLAPIENTRY nlBegin(NLenum primitive);
NLAPI void NLAPIENTRY nlEnd(NLenum primitive);

/* In a row. */
NLAPI void NLAPIENTRY nlCoefficient(NLuint i, NLdouble value);
NLAPI void NLAPIENTRY nlRightHandSide(NLdouble value);
NLAPI void NLAPIENTRY nlMultiRightHandSide(NLuint k, NLdouble value);
/* Before a row: all of it times value. */
NLAPI void NLAPIENTRY nlRowScaling(NLdouble value);
/* The same of OpenNL 1 and 2. */
#define NL_RIGHT_HAND_SIDE 0x500
#define NL_ROW_SCALING 0x501
NLAPI void NLAPIENTRY nlRowParameterd(NLenum pname, NLdouble param);
NLAPI void NLAPIENTRY nlRowParameteri(NLenum pname, NLint param);

/* In NL_MATRIX, where nothing is locked and it is no least-squares problem. With a pattern an entry has an index, which
 * nlAddIJCoefficientAt takes; without, it is (NLulong)(-1). With a pattern threads may fill different rows at once. */
NLAPI NLulong NLAPIENTRY nlAddIJCoefficient(NLuint i, NLuint j, NLdouble value);
NLAPI void NLAPIENTRY nlAddIJCoefficientAt(NLuint i, NLuint j, NLdouble value, NLulong index);
NLAPI void NLAPIENTRY nlSetIJCoefficientAtRowOffset(NLuint i, NLuint j, NLdouble value,
                                                    NLuint row_offset);
NLAPI void NLAPIENTRY nlAddIRightHandSide(NLuint i, NLdouble value);
NLAPI void NLAPIENTRY nlMultiAddIRightHandSide(NLuint i, NLuint k, NLdouble value);
/* In NL_MATRIX_PATTERN: room for n entries in row i. */
NLAPI void NLAPIENTRY nlSetRowLength(NLuint i, NLuint n);

/* --- Solve. NL_TRUE: a method ran to its end, which is the threshold or the limit of iterations (NL_CONVERGED_CNC
 * tells); NL_FALSE: no answer, see nlGetErrorCNC. */
NLAPI NLboolean NLAPIENTRY nlSolve(void);
/* The right-hand side of another solve: a value for each row, least squares: A^T b. */
NLAPI void NLAPIENTRY nlUpdateRightHandSide(NLdouble* values);

/* --- Eigenvalues: the names are there; nlEigenSolve leaves NL_UNSUPPORTED_CNC, nlGetEigenValue answers NaN. */
#define NL_STIFFNESS_MATRIX 0x3001
#define NL_MASS_MATRIX 0x3002
#define NL_NB_EIGENS NL_NB_SYSTEMS
#define NL_EIGEN_MAX_ITERATIONS NL_MAX_ITERATIONS
#define NL_EIGEN_THRESHOLD NL_THRESHOLD
#define NL_EIGEN_SOLVER 0x2000
#define NL_EIGEN_SHIFT 0x2001
#define NL_EIGEN_SHIFT_INVERT 0x2002
NLAPI void NLAPIENTRY nlMatrixMode(NLenum matrix); /* which matrix NL_MATRIX is */
NLAPI void NLAPIENTRY nlEigenSolverParameterd(NLenum pname, NLdouble val);
NLAPI void NLAPIENTRY nlEigenSolverParameteri(NLenum pname, NLint val);
NLAPI void NLAPIENTRY nlEigenSolve(void);
NLAPI double NLAPIENTRY nlGetEigenValue(NLuint i);

/* --- Messages go through these functions, of the whole process; NULL: printf, fprintf. */
typedef int (*NLprintfFunc)(const char* format, ...);
typedef int (*NLfprintfFunc)(FILE* out, const char* format, ...);
NLAPI void NLAPIENTRY nlPrintfFuncs(NLprintfFunc f1, NLfprintfFunc f2);

/* --- The matrix of the system once it is constructed: of free variables, least squares: A^T A. */
struct NLMatrixStruct;
typedef struct NLMatrixStruct* NLMatrix;
NLAPI NLMatrix NLAPIENTRY nlGetCurrentMatrix(void);
NLAPI void NLAPIENTRY nlMultMatrixVector(NLMatrix M, const double* x, double* y); /* y := M x */
/* With A = L + D + U, for preconditioners of the caller's: x := D x / omega, x := omega D^-1 x, y := (D / omega + L)^-1 x,
 * y := (D / omega + U)^-1 x. A zero on the diagonal counts as one. */
NLAPI void NLAPIENTRY nlMultDiagonal(NLdouble* x, NLdouble omega);
NLAPI void NLAPIENTRY nlMultDiagonalInverse(NLdouble* x, NLdouble omega);
NLAPI void NLAPIENTRY nlMultLowerInverse(const NLdouble* x, NLdouble* y, NLdouble omega);
NLAPI void NLAPIENTRY nlMultUpperInverse(const NLdouble* x, NLdouble* y, NLdouble omega);

/* --- What OpenNL does not have. */
/* The first error of the calling thread since it was asked last. */
#define NL_NO_ERROR_CNC 0x0
#define NL_INVALID_ENUM_CNC 0x7001      /* a name that the call does not take */
#define NL_INVALID_VALUE_CNC 0x7002     /* out of range, NULL, or not a context */
#define NL_INVALID_OPERATION_CNC 0x7003 /* out of order, or no context is current */
#define NL_UNSUPPORTED_CNC 0x7004       /* known, and not offered */
#define NL_OUT_OF_MEMORY_CNC 0x7005
#define NL_SOLVE_FAILED_CNC 0x7006 /* no method gave an answer */
NLAPI NLenum NLAPIENTRY nlGetErrorCNC(void);
/* The last message, "" without; valid until the next error. */
NLAPI const char* NLAPIENTRY nlGetMessageCNC(void);

/* To read: whether the last solve met the threshold; the unknowns of the system, once its matrix has begun; whether the
 * last matrix had the pattern of the one before. */
#define NL_CONVERGED_CNC 0x7101
#define NL_NB_FREE_VARIABLES_CNC 0x7102
#define NL_VALUES_REFRESHED_CNC 0x7103
/* In a NL_FUNC_SOLVER: the right-hand side (least squares: A^T b) and the unknowns of system k, which hold where to start and
 * take the answer. [NL_NB_FREE_VARIABLES_CNC] */
NLAPI const double* NLAPIENTRY nlGetRightHandSideCNC(NLuint k);
NLAPI double* NLAPIENTRY nlGetSolutionCNC(NLuint k);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-*) */

#if defined(__cplusplus) && defined(GARGANTUA)
#include <cnc/nl_64.h>
#endif

#endif
