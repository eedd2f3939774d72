#pragma once

#include "geometry/distortion.hpp"
#include "geometry/system_solver.hpp"
#include "geometry/topology.hpp"

#include <vector>

namespace cnc::geometry {

/// What came of a map without pins.
struct SpectralOutcome {
  SolveReport report;  // of all solves: their iterations, the residual of the last
  double eigenvalue =
      0;  // of the map: what is not conformal, over the mean square distance of the boundary from its middle
  int solves = 0;
  offset_t equations = 0, unknowns = 0;
};

/// Replaces the uv of the part's vertices by the map with the least conformal energy among those whose boundary has the middle 0 and the
/// mean square distance 1 from it: the eigenvector of L x = lambda B x with the least lambda but 0. L is the matrix of the
/// conformal energy (of a triangle twice its area times (s1 - s2)^2), B the length of the boundary at each of its vertices, all of it being 1.
///
/// Each step solves (L + sigma B) y = B x, a least-squares problem without pins, and takes the best combination of x, y and
/// the last change of x. It ends when lambda falls by less than a thousandth. `skipped`: triangles without equations.
///
/// Errors   OutOfMemory.
/// Source   Mullen, Tong, Alliez & Desbrun, "Spectral conformal parameterization", Computer Graphics Forum 27(5), 2008; there
///          each vertex of the boundary counts alike. The steps are Knyazev's (LOBPCG), SIAM J. Sci. Comput. 23(2), 2001.
SpectralOutcome map_spectrally(const Mesh& mesh, const Component& part,
                               const std::vector<index_t>& skipped, std::vector<Uv>& uv,
                               SystemSolver& solver, WorkTimes& times);

}  // namespace cnc::geometry
