#pragma once

#include "geometry/topology.hpp"
#include "geometry/unit_size.hpp"

#include <nlohmann/json_fwd.hpp>

#include <iosfwd>
#include <string>

namespace cnc::cli {

/// A surface as a program takes it.
struct Surface {
  geometry::Mesh mesh;  // as it was read
  geometry::Placement placement;
  geometry::Mesh unit;  // of unit size: what is computed with
  geometry::Topology topology;
  double reading_seconds = 0;
  double analysis_seconds = 0;

  std::size_t loops() const;
};

/// Errors   those of read_mesh.
Surface load_surface(const std::string& path);

/// "25,600 vertices, 50,562 triangles, 1 part, 1 boundary loop"
std::string surface_text(const Surface& surface);
/// The lines of a report that say what it is, and what should be known about it: polygons that were cut, vertices without a
/// triangle.
void print_surface(std::ostream& out, const Surface& surface);

/// The facts about it, for reports.
nlohmann::json surface_json(const Surface& surface);

}  // namespace cnc::cli
