#include "pictures.hpp"

#include "geometry/pack.hpp"
#include "geometry/point_math.hpp"
#include "geometry/shade.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cnc::cli {
namespace {

using namespace geometry;

constexpr Colour light_square = {0.95f, 0.91f, 0.83f}, dark_square = {0.24f, 0.45f, 0.68f};
constexpr Colour plain = {0.80f, 0.82f, 0.85f};
constexpr Colour bent = {0.86f, 0.45f, 0.10f}, wrong_way = {0.85f, 0.05f, 0.15f};
constexpr Colour outline = {0.15f, 0.15f, 0.2f};

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

View view_asked_for(const MeshArguments& arguments, const Surface& surface) {
  if (arguments.up.empty() && arguments.view.empty())
    return natural_view(surface.unit, surface.topology);
  const bool z_is_up = arguments.up == "z";
  const Point up = z_is_up ? Point{0, 0, 1} : arguments.up == "x" ? Point{1, 0, 0} : Point{0, 1, 0};
  const Point front = z_is_up ? Point{0, -1, 0} : Point{0, 0, 1};
  const double azimuth = arguments.view.empty() ? 25 : arguments.view[0];
  const double elevation = arguments.view.empty() ? 15 : arguments.view[1];
  return turned_view(front, up, azimuth, elevation);
}

struct Halves {
  Panel left, right;
};
Halves halves_of(int width, int height) {
  return {{0, 0, width / 2, height}, {width / 2, 0, width - width / 2, height}};
}

Colour mixed(const Colour& a, const Colour& b, double share) {
  Colour mix;
  for (std::size_t k = 0; k < 3; ++k) mix[k] = a[k] + static_cast<float>(share) * (b[k] - a[k]);
  return mix;
}

std::array<Uv, 3> corners_of(std::span<const Uv> uv, const Triangle& t) {
  return {uv[at(t[0])], uv[at(t[1])], uv[at(t[2])]};
}

/// The square under a point of a triangle.
Colour square_at(const Checkerboard& board, const std::array<Uv, 3>& corner,
                 const std::array<double, 3>& w) {
  double u = 0, v = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    u += w[k] * corner[k][0];
    v += w[k] * corner[k][1];
  }
  return board.is_dark(u, v) ? dark_square : light_square;
}

std::vector<Point> in_space(std::span<const Uv> uv) {
  std::vector<Point> points;
  points.reserve(uv.size());
  for (const Uv& p : uv) points.push_back({p[0], p[1], 0});
  return points;
}

/// Points with a triangle: others are not drawn and must not make the picture smaller.
std::vector<Point> drawn(const std::vector<Point>& points, const Topology& topology) {
  std::vector<Point> some;
  for (const Component& part : topology.components)
    for (const index_t v : part.vertices) some.push_back(points[at(v)]);
  return some;
}

void draw_map(Raster& raster, const Panel& panel, const Surface& surface, std::span<const Uv> uv,
              const Checkerboard& board) {
  const std::vector<Point> points = in_space(uv);
  const Projection projection = fitted({}, drawn(points, surface.topology), panel);
  const Mesh& mesh = surface.unit;
  for (const Triangle& t : mesh.triangles) {
    const std::array<Uv, 3> corner = corners_of(uv, t);
    const Stretch stretch = stretch_of(mesh.points[at(t[0])], mesh.points[at(t[1])],
                                       mesh.points[at(t[2])], corner[0], corner[1], corner[2]);
    const double bend = stretch.s2 > 0 ? std::log2(stretch.s1 / stretch.s2) : 1;
    std::array<ScreenPoint, 3> place;
    for (std::size_t k = 0; k < 3; ++k) {
      place[k] = projection(points[at(t[k])]);
      place[k].nearness = stretch.flipped ? 1 : 0;
    }
    raster.draw(panel, place, [&](const std::array<double, 3>& w) {
      if (stretch.flipped) return wrong_way;
      return mixed(mixed(square_at(board, corner, w), Colour{1, 1, 1}, 0.35), bent,
                   0.9 * std::clamp(bend, 0.0, 1.0));
    });
  }
  const double thickness = std::max(0.8, panel.height / 500.0);
  for (const Component& part : surface.topology.components)
    for (const std::vector<index_t>& loop : part.loops)
      for (std::size_t k = 0; k < loop.size(); ++k)
        raster.draw_line(panel, projection(points[at(loop[k])]),
                         projection(points[at(loop[(k + 1) % loop.size()])]), thickness, outline);
}

}  // namespace

Image parameterization_picture(const MeshArguments& arguments, const Surface& surface,
                               std::span<const Uv> uv) {
  Raster raster(arguments.picture_size, arguments.picture_size / 2);
  const auto [left, right] = halves_of(raster.width(), raster.height());
  const Checkerboard board = checkerboard_for(surface.unit, uv);
  const Mesh& mesh = surface.unit;
  const Projection projection =
      fitted(view_asked_for(arguments, surface), drawn(mesh.points, surface.topology), left);
  draw_surface(raster, left, projection, mesh.points, mesh.triangles,
               [&](index_t t, const std::array<double, 3>& w) {
                 return square_at(board, corners_of(uv, mesh.triangles[at(t)]), w);
               });
  draw_map(raster, right, surface, uv, board);
  return raster.image();
}

Image smoothing_picture(const MeshArguments& arguments, const Surface& surface,
                        const std::vector<Point>& moved) {
  Raster raster(arguments.picture_size, arguments.picture_size / 2);
  const auto [left, right] = halves_of(raster.width(), raster.height());
  const Mesh& mesh = surface.unit;
  const View view = view_asked_for(arguments, surface);
  const std::vector<Point> shown = drawn(mesh.points, surface.topology);
  const Paint paint = [](index_t, const std::array<double, 3>&) { return plain; };
  draw_surface(raster, left, fitted(view, shown, left), mesh.points, mesh.triangles, paint);
  draw_surface(raster, right, fitted(view, shown, right), moved, mesh.triangles, paint);
  return raster.image();
}

}  // namespace cnc::cli
