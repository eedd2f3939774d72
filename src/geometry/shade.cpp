#include "geometry/shade.hpp"

#include "geometry/point_math.hpp"

#include <limits>
#include <numbers>

namespace cnc::geometry {
namespace {

constexpr double margin = 0.04;

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

/// The mean normal of the triangles at each vertex.
std::vector<Point> vertex_normals(const std::vector<Point>& points,
                                  const std::vector<Triangle>& triangles) {
  std::vector<Point> normals(points.size(), Point{0, 0, 0});
  for (const Triangle& t : triangles) {
    const Point n = area_normal(points, t);
    for (const index_t v : t) normals[at(v)] = normals[at(v)] + n;
  }
  for (Point& n : normals) n = unit(n);
  return normals;
}

struct Light {
  Point direction, eye;

  /// How bright a surface with this normal is.
  double operator()(const Point& normal) const {
    const bool inside = dot(normal, eye) < 0;
    const double cosine = (inside ? -1 : 1) * dot(normal, direction);
    return (inside ? 0.7 : 1.0) * (0.28 + 0.76 * std::max(0.0, cosine));
  }
};

}  // namespace

View turned_view(const Point& front, const Point& up, double azimuth, double elevation) {
  const double a = azimuth * std::numbers::pi / 180, e = elevation * std::numbers::pi / 180;
  const Point f = unit(front), top = unit(up), right = cross(top, f);
  const Point level = std::cos(a) * f + std::sin(a) * right;
  View view;
  view.towards = std::cos(e) * level + std::sin(e) * top;
  view.up = std::cos(e) * top - std::sin(e) * level;
  view.right = cross(view.up, view.towards);
  return view;
}

View natural_view(const Mesh& mesh, const Topology& topology) {
  Point sum = {};
  double area = 0;
  bool open = false;
  for (const Component& part : topology.components) open = open || !part.is_closed();
  for (const Triangle& t : mesh.triangles) {
    const Point n = area_normal(mesh.points, t);
    sum = sum + n;
    area += norm(n);
  }
  const bool faces_somewhere = open && norm(sum) > 0.3 * area;
  const Point front = faces_somewhere ? unit(sum) : Point{0, 0, 1};
  const Point top = std::abs(front[1]) < 0.8 ? Point{0, 1, 0} : Point{0, 0, 1};
  return turned_view(front, top - dot(top, front) * front, 25, 15);
}

ScreenPoint Projection::operator()(const Point& p) const {
  return {x + scale * dot(p, view.right), y - scale * dot(p, view.up), dot(p, view.towards)};
}

Projection fitted(const View& view, const std::vector<Point>& points, const Panel& panel) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  double low[2] = {inf, inf}, high[2] = {-inf, -inf};
  for (const Point& p : points) {
    const double place[2] = {dot(p, view.right), dot(p, view.up)};
    for (int k = 0; k < 2; ++k) {
      low[k] = std::min(low[k], place[k]);
      high[k] = std::max(high[k], place[k]);
    }
  }
  Projection projection;
  projection.view = view;
  const double inside = 1 - 2 * margin;
  const double across = high[0] - low[0], down = high[1] - low[1];
  const double scale = std::min(across > 0 ? inside * panel.width / across : inf,
                                down > 0 ? inside * panel.height / down : inf);
  projection.scale = std::isfinite(scale) ? scale : 1;
  projection.x = panel.x + 0.5 * panel.width - projection.scale * 0.5 * (low[0] + high[0]);
  projection.y = panel.y + 0.5 * panel.height + projection.scale * 0.5 * (low[1] + high[1]);
  return projection;
}

void draw_surface(Raster& raster, const Panel& panel, const Projection& projection,
                  const std::vector<Point>& points, const std::vector<Triangle>& triangles,
                  const Paint& paint) {
  const std::vector<Point> normals = vertex_normals(points, triangles);
  const View& view = projection.view;
  const Light light{unit(-0.45 * view.right + 0.55 * view.up + 0.8 * view.towards), view.towards};
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    const Triangle& c = triangles[t];
    const Point own = unit(area_normal(points, c), view.towards);
    std::array<double, 3> brightness;
    std::array<ScreenPoint, 3> corner;
    for (std::size_t k = 0; k < 3; ++k) {
      // Edges that are meant to be sharp stay so.
      const Point& smooth = normals[at(c[k])];
      brightness[k] = light(dot(smooth, own) > 0.75 ? smooth : own);
      corner[k] = projection(points[at(c[k])]);
    }
    raster.draw(panel, corner, [&](const std::array<double, 3>& w) {
      const auto bright =
          static_cast<float>(w[0] * brightness[0] + w[1] * brightness[1] + w[2] * brightness[2]);
      Colour colour = paint(static_cast<index_t>(t), w);
      for (float& part : colour) part *= bright;
      return colour;
    });
  }
}

bool Checkerboard::is_dark(double u, double v) const {
  return std::fmod(std::abs(std::floor(u / side) + std::floor(v / side)), 2.0) == 1;
}

Checkerboard checkerboard_for(const Mesh& mesh, std::span<const Uv> uv) {
  double area = 0;
  for (const Triangle& t : mesh.triangles) {
    const Uv &a = uv[at(t[0])], &b = uv[at(t[1])], &c = uv[at(t[2])];
    area += 0.5 * std::abs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
  }
  constexpr double squares = 600;
  return {area > 0 ? std::sqrt(area / squares) : 1};
}

}  // namespace cnc::geometry
