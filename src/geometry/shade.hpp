#pragma once

#include "geometry/distortion.hpp"
#include "geometry/raster.hpp"
#include "geometry/topology.hpp"

#include <functional>
#include <span>

namespace cnc::geometry {

/// From where a surface is looked at: three unit vectors at right angles, to the right and to the top of the picture and towards
/// the eye.
struct View {
  Point right = {1, 0, 0}, up = {0, 1, 0}, towards = {0, 0, 1};
};

/// The eye turned from `front` to the right by the azimuth and to the top by the elevation, in degrees. `up` is at
/// right angles to the front.
View turned_view(const Point& front, const Point& up, double azimuth, double elevation);

/// A view that shows the outside of a surface: of an open one along its mean normal, of a closed one from z, the top being y where
/// that can be, and from there a little to the right and from above.
View natural_view(const Mesh& mesh, const Topology& topology);

/// What brings points of the surface to the picture, without perspective.
struct Projection {
  View view;
  double scale = 1, x = 0, y = 0;
  ScreenPoint operator()(const Point& p) const;
};
/// Fits the points into the panel, with a margin.
Projection fitted(const View& view, const std::vector<Point>& points, const Panel& panel);

/// The colour of the surface itself at a triangle, where its corners have these weights.
using Paint = std::function<Colour(index_t, const std::array<double, 3>&)>;

/// Draws a surface lit from above the left shoulder of who looks, its inside darker than its outside.
void draw_surface(Raster& raster, const Panel& panel, const Projection& projection,
                  const std::vector<Point>& points, const std::vector<Triangle>& triangles,
                  const Paint& paint);

/// Squares of two colours in the plane.
struct Checkerboard {
  double side = 1;
  bool is_dark(double u, double v) const;
};
/// About as many squares as a chessboard has over the whole map, or a few times as many.
Checkerboard checkerboard_for(const Mesh& mesh, std::span<const Uv> uv);

}  // namespace cnc::geometry
