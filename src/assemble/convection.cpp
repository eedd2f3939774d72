#include <assemble/families.hpp>
#include <assemble/star_stencil.hpp>

namespace cnc::detail {

// -Laplace(u) + v . grad(u) on the unit cube, u = 0 around it, v = (w, w, w) with w >= 0, on N points
// per axis with spacing h, times h^2. Convection is discretised by first-order upwind differences,
// w (u_i - u_{i-1}) / h, so that the matrix is an M-matrix for every cell Peclet number w h. Rows of
// points with all six neighbours sum to zero.
ProblemRows convection3d(const ProblemText& text) {
  const index_t n = text.extent(0);
  const double peclet = text.number(1, 0);
  const double upstream = -1 - peclet;
  return star_stencil(text, {n, n, n},
                      {6 + 3 * peclet, {upstream, upstream, upstream}, {-1, -1, -1}});
}

}  // namespace cnc::detail
