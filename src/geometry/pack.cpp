#include "geometry/pack.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace cnc::geometry {
namespace {

double turn(const Uv& o, const Uv& a, const Uv& b) {
  return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
}

/// Counter-clockwise, by Andrew's monotone chains.
std::vector<Uv> convex_hull(std::vector<Uv> points) {
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  if (points.size() < 3) return points;
  std::vector<Uv> hull;
  const auto add_chain = [&](auto begin, auto end) {
    const std::size_t start = hull.size();
    for (auto p = begin; p != end; ++p) {
      while (hull.size() >= start + 2 && turn(hull[hull.size() - 2], hull.back(), *p) <= 0)
        hull.pop_back();
      hull.push_back(*p);
    }
    hull.pop_back();  // the next chain begins with it
  };
  add_chain(points.begin(), points.end());
  add_chain(points.rbegin(), points.rend());
  return hull;
}

/// The unit vector along the side of the hull on which the least rectangle lies.
Uv side_of_least_rectangle(const std::vector<Uv>& hull) {
  const std::size_t n = hull.size();
  Uv best = {1, 0};
  double least = std::numeric_limits<double>::infinity();
  // The corners furthest along the side, away from it, and against it move on as the side does.
  std::size_t right = 0, top = 0, left = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Uv side = {hull[(i + 1) % n][0] - hull[i][0], hull[(i + 1) % n][1] - hull[i][1]};
    const double length = std::hypot(side[0], side[1]);
    const Uv d = {side[0] / length, side[1] / length};
    const auto along = [&](std::size_t k) { return d[0] * hull[k % n][0] + d[1] * hull[k % n][1]; };
    const auto above = [&](std::size_t k) { return d[0] * hull[k % n][1] - d[1] * hull[k % n][0]; };
    right = std::max(right, i + 1);
    while (right < i + n && along(right + 1) > along(right)) ++right;
    top = std::max(top, right);
    while (top < i + n && above(top + 1) > above(top)) ++top;
    left = std::max(left, top);
    while (left < i + n && along(left + 1) < along(left)) ++left;
    const double area = (along(right) - along(left)) * (above(top) - above(i));
    if (area < least) {
      least = area;
      best = d;
    }
  }
  return best;
}

}  // namespace

Box box_of(std::span<const Uv> uv, std::span<const index_t> vertices) {
  if (vertices.empty()) return {};
  constexpr double inf = std::numeric_limits<double>::infinity();
  Box box = {inf, inf, -inf, -inf};
  for (const index_t v : vertices) {
    const Uv& p = uv[static_cast<std::size_t>(v)];
    box.low_u = std::min(box.low_u, p[0]);
    box.low_v = std::min(box.low_v, p[1]);
    box.high_u = std::max(box.high_u, p[0]);
    box.high_v = std::max(box.high_v, p[1]);
  }
  return box;
}

void turn_to_least_box(std::span<Uv> uv, std::span<const index_t> vertices) {
  std::vector<Uv> points;
  points.reserve(vertices.size());
  for (const index_t v : vertices) points.push_back(uv[static_cast<std::size_t>(v)]);
  const std::vector<Uv> hull = convex_hull(std::move(points));
  const Uv d = hull.size() < 3 ? Uv{1, 0} : side_of_least_rectangle(hull);
  const auto turn_by = [&](const Uv& by) {
    for (const index_t v : vertices) {
      Uv& p = uv[static_cast<std::size_t>(v)];
      p = {by[0] * p[0] + by[1] * p[1], by[0] * p[1] - by[1] * p[0]};
    }
    return box_of(uv, vertices);
  };
  Box box = turn_by(d);
  if (box.height() > box.width()) box = turn_by({0, 1});
  for (const index_t v : vertices) {
    Uv& p = uv[static_cast<std::size_t>(v)];
    p = {p[0] - box.low_u, p[1] - box.low_v};
  }
}

std::vector<Uv> pack_boxes(std::span<const Uv> sizes, double gap) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return sizes[a][1] > sizes[b][1]; });
  double area = 0, width = 0;
  for (const Uv& size : sizes) {
    area += (size[0] + gap) * (size[1] + gap);
    width = std::max(width, size[0]);
  }
  width = std::max(width, 1.1 * std::sqrt(area));
  std::vector<Uv> corners(sizes.size());
  double u = 0, v = 0, height = 0;
  for (const std::size_t k : order) {
    if (u > 0 && u + sizes[k][0] > width) {
      v += height + gap;
      u = height = 0;
    }
    corners[k] = {u, v};
    u += sizes[k][0] + gap;
    height = std::max(height, sizes[k][1]);
  }
  return corners;
}

}  // namespace cnc::geometry
