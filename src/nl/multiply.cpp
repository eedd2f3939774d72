// Products with the matrix of the current system and with its parts.
#include "nl/call.hpp"

namespace cnc::nl {
namespace {

/// The part of a row in a range of columns, times a vector.
double part_times(const CsrMatrix<double>& A, index_t row, index_t begin, index_t end,
                  const double* x) {
  double sum = 0;
  for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k)
    if (A.columns(k) >= begin && A.columns(k) < end) sum += A.values(k) * x[A.columns(k)];
  return sum;
}

double diagonal(const CsrMatrix<double>& A, index_t row) {
  double value = 0;
  for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k)
    if (A.columns(k) == row) value += A.values(k);
  return value == 0 ? 1 : value;
}

void require_factor(double omega) {
  if (omega == 0) fail(NL_INVALID_VALUE_CNC, "omega is zero");
}

/// Whose matrix a handle is, and which; a context is null where it is none.
struct Owner {
  Context* context = nullptr;
  bool is_mass = false;
};
Owner owner_of(NLMatrix M) {
  Owner owner;
  for_each_context([&](Context& c) {
    if (M == &c.handles[0]) owner = {&c, false};
    if (M == &c.handles[1]) owner = {&c, true};
  });
  return owner;
}

void multiply(Context& c, bool by_mass, const double* x, double* y) {
  if (!by_mass && c.parameters.matrix_function != nullptr)
    return c.parameters.matrix_function(x, y);
  if (by_mass && !c.mass.is_constructed())
    fail(NL_INVALID_OPERATION_CNC, "the matrix is not constructed yet");
  const CsrMatrix<double>& A = by_mass ? c.mass.matrix() : system_matrix(c);
  for (index_t row = 0; row < A.rows; ++row) y[row] = part_times(A, row, 0, A.cols, x);
}

}  // namespace
}  // namespace cnc::nl

using namespace cnc::nl;
using cnc::CsrMatrix;
using cnc::index_t;

NLMatrix nlGetCurrentMatrix(void) {
  return on_current("nlGetCurrentMatrix", NLMatrix{nullptr}, [](Context& c) {
    if (!c.assembly().is_constructed() && c.parameters.matrix_function == nullptr)
      fail(NL_INVALID_OPERATION_CNC, "the matrix is not constructed yet");
    return &c.handles[c.matrix_mode == NL_MASS_MATRIX ? 1 : 0];
  });
}

void nlMultMatrixVector(NLMatrix M, const double* x, double* y) {
  guarded("nlMultMatrixVector", [&] {
    require_pointer(x);
    require_pointer(y);
    const Owner owner = owner_of(M);
    if (owner.context == nullptr) fail(NL_INVALID_VALUE_CNC, "this is not a matrix");
    if (x == y) fail(NL_INVALID_VALUE_CNC, "x and y are the same");
    multiply(*owner.context, owner.is_mass, x, y);
  });
}

void nlMultDiagonal(NLdouble* x, NLdouble omega) {
  on_current("nlMultDiagonal", [&](Context& c) {
    require_pointer(x);
    require_factor(omega);
    const CsrMatrix<double>& A = system_matrix(c);
    for (index_t i = 0; i < A.rows; ++i) x[i] *= diagonal(A, i) / omega;
  });
}

void nlMultDiagonalInverse(NLdouble* x, NLdouble omega) {
  on_current("nlMultDiagonalInverse", [&](Context& c) {
    require_pointer(x);
    const CsrMatrix<double>& A = system_matrix(c);
    for (index_t i = 0; i < A.rows; ++i) x[i] *= omega / diagonal(A, i);
  });
}

void nlMultLowerInverse(const NLdouble* x, NLdouble* y, NLdouble omega) {
  on_current("nlMultLowerInverse", [&](Context& c) {
    require_pointer(x);
    require_pointer(y);
    const CsrMatrix<double>& A = system_matrix(c);
    for (index_t i = 0; i < A.rows; ++i)
      y[i] = (x[i] - part_times(A, i, 0, i, y)) * omega / diagonal(A, i);
  });
}

void nlMultUpperInverse(const NLdouble* x, NLdouble* y, NLdouble omega) {
  on_current("nlMultUpperInverse", [&](Context& c) {
    require_pointer(x);
    require_pointer(y);
    const CsrMatrix<double>& A = system_matrix(c);
    for (index_t i = A.rows - 1; i >= 0; --i)
      y[i] = (x[i] - part_times(A, i, i + 1, A.cols, y)) * omega / diagonal(A, i);
  });
}
