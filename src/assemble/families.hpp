#pragma once

#include <assemble/problem_rows.hpp>
#include <assemble/problem_text.hpp>

namespace cnc::detail {

// One generator per problem family; the list of families is in problems.cpp. Each reads its fields,
// refuses sizes that do not fit, and says how a row is made, its columns ascending.

ProblemRows poisson2d(const ProblemText& text);
ProblemRows poisson3d(const ProblemText& text);
ProblemRows stencil27(const ProblemText& text);
ProblemRows anisotropic2d(const ProblemText& text);
ProblemRows convection3d(const ProblemText& text);
ProblemRows diffusion3d(const ProblemText& text);
ProblemRows elasticity2d(const ProblemText& text);
ProblemRows elasticity3d(const ProblemText& text);
Vector<double> elasticity2d_coordinates(const ProblemText& text);
Vector<double> elasticity3d_coordinates(const ProblemText& text);
ProblemRows wathen(const ProblemText& text);
ProblemRows trefethen(const ProblemText& text);

}  // namespace cnc::detail
