#include "pictures.hpp"

#include "cli/text.hpp"
#include "geometry/pack.hpp"
#include "geometry/shade.hpp"

#include <algorithm>

namespace cnc::cli {
namespace {

using namespace geometry;

constexpr double side = 800;                // of the drawing
constexpr std::size_t most_edges = 60'000;  // what a reader of SVG draws within a moment

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

/// From the plane of the map to that of the drawing, where y goes down.
struct Frame {
  Box box;
  double scale = 1;
  explicit Frame(const Box& b) : box(b) {
    const double longest = std::max(b.width(), b.height());
    if (longest > 0) scale = side / longest;
  }
  double width() const { return scale * box.width(); }
  double height() const { return scale * box.height(); }
  std::string operator()(const Uv& p) const {
    return print("%.2f %.2f", scale * (p[0] - box.low_u), scale * (box.high_v - p[1]));
  }
};

/// Adds a move or a line to a path.
void add_to(std::string& path, char what, const Frame& frame, const Uv& p) {
  path += what;
  path += frame(p);
}

std::string loops_path(const Surface& surface, std::span<const Uv> uv, const Frame& frame) {
  std::string path;
  for (const Component& part : surface.topology.components)
    for (const std::vector<index_t>& loop : part.loops) {
      for (std::size_t k = 0; k < loop.size(); ++k)
        add_to(path, k == 0 ? 'M' : 'L', frame, uv[at(loop[k])]);
      path += 'Z';
    }
  return path;
}

std::string edges_path(const Surface& surface, std::span<const Uv> uv, const Frame& frame) {
  if (surface.topology.edges.size() > most_edges) return "";
  std::string path;
  for (const auto& [a, b] : surface.topology.edges) {
    add_to(path, 'M', frame, uv[at(a)]);
    add_to(path, 'L', frame, uv[at(b)]);
  }
  return path;
}

std::string flipped_path(const Surface& surface, std::span<const Uv> uv, const Frame& frame) {
  std::string path;
  for (const Triangle& t : surface.unit.triangles) {
    const Uv &a = uv[at(t[0])], &b = uv[at(t[1])], &c = uv[at(t[2])];
    if (!((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) < 0)) continue;
    add_to(path, 'M', frame, a);
    add_to(path, 'L', frame, b);
    add_to(path, 'L', frame, c);
    path += 'Z';
  }
  return path;
}

}  // namespace

std::string layout_svg(const Surface& surface, std::span<const Uv> uv) {
  std::vector<index_t> shown;
  for (const Component& part : surface.topology.components)
    shown.insert(shown.end(), part.vertices.begin(), part.vertices.end());
  const Frame frame(box_of(uv, shown));
  const double square = frame.scale * checkerboard_for(surface.unit, uv).side;
  std::string svg = print(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-8 -8 %.2f %.2f\">\n"
      "<defs><pattern id=\"squares\" patternUnits=\"userSpaceOnUse\" width=\"%.4f\" "
      "height=\"%.4f\"><rect width=\"100%%\" height=\"100%%\" fill=\"#f4ecdb\"/>"
      "<path fill=\"#9fb8d4\" d=\"M0 0h%.4fv%.4fh-%.4fzM%.4f %.4fh%.4fv%.4fh-%.4fz\"/>"
      "</pattern></defs>\n",
      frame.width() + 16, frame.height() + 16, 2 * square, 2 * square, square, square, square,
      square, square, square, square, square);
  const auto add = [&svg](const std::string& path, const char* style) {
    if (!path.empty())
      svg.append("<path d=\"").append(path).append("\" ").append(style).append("/>\n");
  };
  const std::string loops = loops_path(surface, uv, frame);
  add(loops, "fill=\"url(#squares)\" fill-rule=\"evenodd\"");
  add(edges_path(surface, uv, frame), "fill=\"none\" stroke=\"#555\" stroke-width=\"0.3\"");
  add(flipped_path(surface, uv, frame), "fill=\"#d91427\"");
  add(loops, "fill=\"none\" stroke=\"#26262f\" stroke-width=\"1.2\" stroke-linejoin=\"round\"");
  svg += "</svg>\n";
  return svg;
}

}  // namespace cnc::cli
