#pragma once

#include <assemble/problem_text.hpp>
#include <cnc/bcsr_matrix.hpp>

namespace cnc::detail {

// One generator per problem family; the list of families is in problems.cpp. Each reads its fields,
// refuses sizes that do not fit, and builds CSR with ascending columns in parallel.

CsrMatrix<double> poisson2d(const ProblemText& text);
CsrMatrix<double> poisson3d(const ProblemText& text);
CsrMatrix<double> stencil27(const ProblemText& text);
CsrMatrix<double> anisotropic2d(const ProblemText& text);
CsrMatrix<double> convection3d(const ProblemText& text);
CsrMatrix<double> elasticity2d(const ProblemText& text);
CsrMatrix<double> elasticity3d(const ProblemText& text);
Vector<double> elasticity2d_coordinates(const ProblemText& text);
Vector<double> elasticity3d_coordinates(const ProblemText& text);
CsrMatrix<double> wathen(const ProblemText& text);
CsrMatrix<double> trefethen(const ProblemText& text);

}  // namespace cnc::detail
