#include "geometry/distortion.hpp"

#include "geometry/point_math.hpp"

#include <algorithm>
#include <limits>

namespace cnc::geometry {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

struct Piece {
  double area = 0;   // on the surface
  double angle = 1;  // s1 / s2
  double scale = 1;  // s1 * s2
};

/// The least angle that so much of the area does not exceed.
double percentile(std::vector<Piece>& pieces, double share) {
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.angle < b.angle; });
  double all = 0, sum = 0;
  for (const Piece& piece : pieces) all += piece.area;
  for (const Piece& piece : pieces) {
    sum += piece.area;
    if (sum >= share * all) return piece.angle;
  }
  return pieces.back().angle;
}

void add_means(std::vector<Piece>& pieces, Distortion& result) {
  if (pieces.empty()) return;
  double area = 0, mapped = 0, angle = 0, change = 0;
  for (const Piece& piece : pieces) {
    area += piece.area;
    mapped += piece.area * piece.scale;
  }
  for (const Piece& piece : pieces) {
    const double a = piece.scale * area / mapped, worse = std::max(a, 1 / a);
    angle += piece.area * piece.angle;
    change += piece.area * worse;
    result.angle_max = std::max(result.angle_max, piece.angle);
    result.area_max = std::max(result.area_max, worse);
  }
  result.angle_mean = angle / area;
  result.area_mean = change / area;
  result.angle_99 = percentile(pieces, 0.99);
}

}  // namespace

Stretch stretch_of(const Point& a, const Point& b, const Point& c, const Uv& ua, const Uv& ub,
                   const Uv& uc) {
  const FlatTriangle flat = flatten(a, b, c);
  if (!(flat.double_area() > 0)) return {};
  const double du1 = ub[0] - ua[0], dv1 = ub[1] - ua[1];
  const double du2 = uc[0] - ua[0], dv2 = uc[1] - ua[1];
  const double ux = du1 / flat.x1, vx = dv1 / flat.x1;
  const double uy = (du2 - ux * flat.x2) / flat.y2, vy = (dv2 - vx * flat.x2) / flat.y2;
  // The map is z -> p z + q conj(z): p turns and scales, q is what is not conformal.
  const double p = 0.5 * std::hypot(ux + vy, vx - uy), q = 0.5 * std::hypot(ux - vy, vx + uy);
  return {p + q, std::abs(p - q), p < q};
}

Distortion measure_distortion(const Mesh& mesh, std::span<const Uv> uv,
                              std::span<const index_t> skip) {
  Distortion result;
  std::vector<Piece> pieces;
  pieces.reserve(mesh.triangles.size());
  for (index_t t = 0; t < mesh.faces(); ++t) {
    if (std::binary_search(skip.begin(), skip.end(), t)) continue;
    const Triangle& corner = mesh.triangles[static_cast<std::size_t>(t)];
    const auto at = [&](std::size_t k) { return static_cast<std::size_t>(corner[k]); };
    const Stretch stretch = stretch_of(mesh.points[at(0)], mesh.points[at(1)], mesh.points[at(2)],
                                       uv[at(0)], uv[at(1)], uv[at(2)]);
    const double area = 0.5 * norm(area_normal(mesh.points, corner));
    if (!(area > 0)) continue;
    result.flipped += stretch.flipped;
    // What rounding leaves of a triangle that is a line in the plane is no area.
    if (stretch.s2 > 1e-14 * stretch.s1)
      pieces.push_back({area, stretch.s1 / stretch.s2, stretch.s1 * stretch.s2});
    else
      ++result.collapsed;
  }
  add_means(pieces, result);
  if (result.collapsed > 0) result.angle_max = result.area_max = infinite;
  return result;
}

}  // namespace cnc::geometry
