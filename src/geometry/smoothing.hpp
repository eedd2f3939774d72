#pragma once

#include "geometry/system_solver.hpp"
#include "geometry/topology.hpp"

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace cnc::geometry {

/// How much each neighbour of a vertex counts.
enum class SmoothingWeights {
  uniform,
  cotangent,  // by the angles that face the edge, which leaves alone how the surface is cut into triangles
};

struct SmoothingOptions {
  SmoothingWeights weights = SmoothingWeights::uniform;
  double fit = 0.3;                 // W
  std::vector<index_t> fixed = {};  // vertices that stay where they are, ascending, none twice
  /// Asked before each axis (0 to 2): false leaves this one and the later ones as they are.
  std::function<bool(int)> go_on = {};
};

struct SmoothedSurface {
  std::vector<Point> points;
  std::array<SolveReport, 3> reports;  // x, y, z
  std::array<bool, 3> solved = {};
  std::string method;
  offset_t equations = 0;
  offset_t unknowns = 0;  // of each axis
  WorkTimes times;
};

/// Refuses what cannot be smoothed: a surface that is no manifold, vertices that are not there, and parts of the surface
/// that nothing holds, W being zero.
/// Errors   InvalidArgument.
void require_smoothable(const Mesh& mesh, const Topology& topology,
                        const SmoothingOptions& options);

/// Moves the vertices that are not fixed so that the sum over them of |sum_j w_ij x_j - x_i|^2 + W^2 |x_i - x_i0|^2 is least:
/// the w_ij are the weights of the neighbours of i, and their sum is 1. Neighbours of a vertex on the boundary are those on the
/// boundary, so that it is smoothed as a curve and does not shrink into the surface. Vertices that are fixed or have no triangle
/// keep every bit. The mesh is best of unit size (unit_size.hpp).
///
/// Where W is 0 and the boundary is fixed, no residual is left: the equations are then scaled so that their matrix is symmetric and solved
/// as they are.
///
/// Errors   those of require_smoothable; OutOfMemory.
/// Source   Mallet, "Discrete smooth interpolation in geometric modelling", Computer-Aided Design 24(4), 1992; Pinkall &
///          Polthier, "Computing discrete minimal surfaces and their conjugates", Experimental Mathematics 2(1), 1993 (cotangents).
SmoothedSurface smooth(const Mesh& mesh, const Topology& topology, const SmoothingOptions& options,
                       SystemSolver& solver);

/// Vertices of all boundary loops, ascending.
std::vector<index_t> boundary_vertices(const Topology& topology);

/// How rough a surface is: the root of the mean square distance of a vertex from the mean of its neighbours (on the boundary, of those
/// there), over the mean length of edges.
double roughness(const std::vector<Point>& points, const Topology& topology);

}  // namespace cnc::geometry
