#pragma once

#include <assemble/problem_rows.hpp>
#include <assemble/problem_text.hpp>

#include <array>

namespace cnc::detail {

/// Grid points per axis; x runs fastest in the numbering. 2-D grids have nz = 1.
using GridExtents = std::array<index_t, 3>;

/// A row of a difference operator that couples a point with its neighbours along the axes.
struct StarStencil {
  double diagonal = 0;
  std::array<double, 3> lower{};  ///< coefficient of the neighbour before, per axis
  std::array<double, 3> upper{};  ///< coefficient of the neighbour after, per axis
};

/// The operator on a grid with homogeneous Dirichlet values around it: neighbours outside are left out.
/// Errors   InvalidArgument (too large).
ProblemRows star_stencil(const ProblemText& text, const GridExtents& n, const StarStencil& stencil);

}  // namespace cnc::detail
