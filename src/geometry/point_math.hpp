#pragma once

#include "geometry/mesh.hpp"

#include <cmath>

namespace cnc::geometry {

inline Point operator+(const Point& a, const Point& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
inline Point operator-(const Point& a, const Point& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
inline Point operator*(double s, const Point& a) { return {s * a[0], s * a[1], s * a[2]}; }

inline double dot(const Point& a, const Point& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
inline Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline double norm(const Point& a) { return std::sqrt(dot(a, a)); }
inline double distance(const Point& a, const Point& b) { return norm(a - b); }

/// a / |a|, or `otherwise` where a is zero.
inline Point unit(const Point& a, const Point& otherwise = {0, 0, 1}) {
  const double length = norm(a);
  return length > 0 ? (1 / length) * a : otherwise;
}

/// A unit vector at right angles to n.
inline Point perpendicular(const Point& n) {
  const Point away = std::abs(n[0]) < 0.6 * norm(n) ? Point{1, 0, 0} : Point{0, 1, 0};
  return unit(cross(away, n), {1, 0, 0});
}

/// The normal of a triangle, twice its area long.
inline Point area_normal(const std::vector<Point>& points, const Triangle& t) {
  const Point& origin = points[static_cast<std::size_t>(t[0])];
  return cross(points[static_cast<std::size_t>(t[1])] - origin,
               points[static_cast<std::size_t>(t[2])] - origin);
}

/// A triangle in its own plane: corner 0 at the origin, corner 1 at (x1, 0), corner 2 at (x2, y2).
struct FlatTriangle {
  double x1 = 0, x2 = 0, y2 = 0;
  double double_area() const { return x1 * y2; }
};

/// Degenerate triangles come out with x1 or y2 zero.
inline FlatTriangle flatten(const Point& a, const Point& b, const Point& c) {
  const Point e = b - a, f = c - a;
  const double length = norm(e);
  if (!(length > 0)) return {};
  return {length, dot(e, f) / length, norm(cross(e, f)) / length};
}

}  // namespace cnc::geometry
