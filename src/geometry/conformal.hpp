#pragma once

#include "geometry/pins.hpp"
#include "geometry/system_solver.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace cnc::geometry {

/// A vertex that is to be held, at a place or where the map chooses.
struct PinRequest {
  index_t vertex = 0;
  std::optional<Uv> place = {};
};

enum class ConformalMethod {
  lscm,      // least squares, two vertices or more being held
  spectral,  // nothing is held (spectral.hpp)
};

struct ConformalOptions {
  ConformalMethod method = ConformalMethod::lscm;
  /// Of a part none, or two at least: with a place each, or two without places. A part without any gets two of its own.
  std::vector<PinRequest> pins;
  /// Asked before each part (its number): false leaves this one and all later ones as they are projected.
  std::function<bool(std::size_t)> go_on = {};
};

/// The map of one component.
struct Chart {
  std::vector<Pin> pins;
  bool placed = false;  // the caller said where its pins are: it stays there
  bool solved = false;  // false where the work was ended before
  std::string method;
  offset_t equations = 0;
  offset_t unknowns = 0;
  double eigenvalue = 0;  // of spectral: what is left of the energy
  int solves = 0;
  SolveReport report;  // of a part without unknowns as it begins
};

struct ConformalMap {
  std::vector<Uv> uv;            // [vertices], 0 where a vertex has no triangle
  std::vector<Chart> charts;     // of each component
  std::vector<index_t> skipped;  // triangles too thin to have an equation, ascending
  WorkTimes times;
};

/// Refuses what has no such map: a surface that is no manifold, that is closed, that has handles, triangles so thin that
/// nothing holds what is beside them, and pins that do not fit it. The first fault is named, counted from 1.
/// Errors   InvalidArgument.
void require_mappable(const Mesh& mesh, const Topology& topology, const ConformalOptions& options);

/// Conformal maps. lscm minimises the sum over triangles of |du/dz*|^2 times the area, pins held exactly; spectral has none.
/// Each chart without given places has the area of its part of the surface. The mesh is best of unit size (unit_size.hpp).
///
/// Errors   those of require_mappable; OutOfMemory.
/// Source   Levy, Petitjean, Ray & Maillot, "Least squares conformal maps for automatic texture atlas generation", ACM TOG
///          21(3), 2002.
ConformalMap map_conformally(const Mesh& mesh, const Topology& topology,
                             const ConformalOptions& options, SystemSolver& solver);

/// Triangles whose height is so small beside their longest side that an equation of theirs would drown the others, and
/// those of Topology::degenerate. Ascending.
std::vector<index_t> thin_triangles(const Mesh& mesh, const Topology& topology);

/// Puts charts whose places were not given side by side without overlap, right of those whose places were; where there are
/// none of these, all of them then fill the unit square.
void lay_out(ConformalMap& map, const Topology& topology);

}  // namespace cnc::geometry
