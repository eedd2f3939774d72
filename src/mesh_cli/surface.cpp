#include "surface.hpp"

#include "add_sentence.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "geometry/read_mesh.hpp"
#include "model/timing.hpp"

#include <nlohmann/json.hpp>

#include <ostream>

namespace cnc::cli {
namespace {

std::string counted(std::size_t n, const std::string& one, const std::string& many) {
  return count_text(static_cast<long long>(n)) + " " + (n == 1 ? one : many);
}

std::string notes_text(const Surface& surface) {
  std::string text;
  if (surface.mesh.polygons_cut > 0)
    detail::add_sentence(
        text, counted(static_cast<std::size_t>(surface.mesh.polygons_cut), "polygon", "polygons") +
                  " cut into triangles");
  if (!surface.topology.isolated.empty())
    detail::add_sentence(text, counted(surface.topology.isolated.size(), "vertex", "vertices") +
                                   " without a triangle, left out");
  return text;
}

}  // namespace

std::size_t Surface::loops() const {
  std::size_t all = 0;
  for (const geometry::Component& part : topology.components) all += part.loops.size();
  return all;
}

Surface load_surface(const std::string& path) {
  Surface surface;
  const double start = detail::now();
  surface.mesh = geometry::read_mesh(path);
  const double read = detail::now();
  surface.placement = geometry::placement_of(surface.mesh.points);
  surface.unit = geometry::scaled_to_unit(surface.mesh, surface.placement);
  surface.topology = geometry::analyze(surface.unit);
  surface.reading_seconds = read - start;
  surface.analysis_seconds = detail::now() - read;
  return surface;
}

std::string surface_text(const Surface& surface) {
  const std::size_t loops = surface.loops();
  return counted(surface.mesh.points.size(), "vertex", "vertices") + ", " +
         counted(surface.mesh.triangles.size(), "triangle", "triangles") + ", " +
         counted(surface.topology.components.size(), "part", "parts") + ", " +
         (loops == 0 ? "closed" : counted(loops, "boundary loop", "boundary loops"));
}

void print_surface(std::ostream& out, const Surface& surface) {
  out << labelled("Mesh", styled(Style::bold, surface.mesh.name) + "  " + surface_text(surface));
  const std::string notes = notes_text(surface);
  if (!notes.empty()) out << labelled("", notes);
  out.flush();
}

nlohmann::json surface_json(const Surface& surface) {
  return {{"name", surface.mesh.name},
          {"vertices", surface.mesh.vertices()},
          {"triangles", surface.mesh.faces()},
          {"components", surface.topology.components.size()},
          {"boundary_loops", surface.loops()},
          {"isolated_vertices", surface.topology.isolated.size()},
          {"degenerate_triangles", surface.topology.degenerate.size()},
          {"polygons_cut", surface.mesh.polygons_cut}};
}

}  // namespace cnc::cli
