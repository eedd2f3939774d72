#pragma once

#include <cnc/bcsr_matrix.hpp>

#include "geometry/mesh.hpp"

namespace cnc::perf {

// Two systems of a surface: its smoothing and its flattening, both as normal equations of rows of coefficients.

/// A x = b, symmetric and positive definite.
struct NormalEquations {
  CsrMatrix<double> A;
  Vector<double> b;
};

/// Hills over a square: n x n vertices, row by row, and two triangles to a cell.
/// Errors   InvalidArgument (n below 3 or above 20000).
geometry::Mesh terrain_mesh(index_t n);

/// Discrete smooth interpolation. A row for each vertex with neighbours, x_i minus the mean of theirs
/// = 0, and one, `fit` times, that holds it where it was. With one unknown to a vertex that is its
/// height; with three, which have the same coefficients and no entries with each other, its place:
/// unknown 3 i + c.
///
/// Errors   InvalidArgument (unknowns neither 1 nor 3; fit not positive; a triangle names a vertex
///          that is not there).
NormalEquations smoothing_system(const geometry::Mesh& mesh, double fit, int unknowns);

/// Least-squares conformal map (Levy et al. 2002), weighted by areas: two rows to a triangle, u and v
/// of a vertex one after the other. Two vertices of each connected part, its ends along its longest
/// side, are held, and so are vertices without a triangle; what is held is no unknown.
///
/// Errors   InvalidArgument (a triangle has no area, or names a vertex that is not there; nothing is
///          free).
NormalEquations conformal_system(const geometry::Mesh& mesh);

}  // namespace cnc::perf
