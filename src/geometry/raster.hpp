#pragma once

#include "geometry/mesh.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace cnc::geometry {

using Colour = std::array<float, 3>;  // red, green, blue from 0 to 1, as the screen takes them

/// Red, green and blue of each pixel, row by row from the top.
struct Image {
  int width = 0, height = 0;
  std::vector<unsigned char> rgb;  // [3 width height]
};

/// A rectangle of a picture, in pixels.
struct Panel {
  int x = 0, y = 0, width = 0, height = 0;
};

/// A point of the picture: pixels from its upper left corner, and how near it is.
struct ScreenPoint {
  double x = 0, y = 0, nearness = 0;
};

/// A picture under way: several samples per pixel, each showing what is nearest there.
class Raster {
 public:
  static constexpr int samples = 3;  // per pixel, each way

  Raster(int width, int height);

  int width() const { return width_; }    // pixels
  int height() const { return height_; }  // pixels

  /// Draws a triangle inside the panel. paint(w) gives the colour where the corners have the weights w.
  template <class Paint>
  void draw(const Panel& panel, const std::array<ScreenPoint, 3>& corner, const Paint& paint);

  /// A line of this width in pixels, in front of everything.
  void draw_line(const Panel& panel, const ScreenPoint& a, const ScreenPoint& b, double thickness,
                 const Colour& colour);

  /// The mean of the samples of each pixel.
  Image image() const;

 private:
  struct Range {
    int low, high;
  };
  /// Of samples whose centres lie between, within the panel.
  static Range columns(const Panel& panel, double low, double high);
  static Range rows(const Panel& panel, double low, double high);
  std::size_t at(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(samples * width_) +
           static_cast<std::size_t>(x);
  }

  int width_, height_;
  std::vector<Colour> colour_;
  std::vector<float> nearness_;
};

template <class Paint>
void Raster::draw(const Panel& panel, const std::array<ScreenPoint, 3>& c, const Paint& paint) {
  const double area = (c[1].x - c[0].x) * (c[2].y - c[0].y) - (c[1].y - c[0].y) * (c[2].x - c[0].x);
  if (area == 0 || !std::isfinite(area)) return;
  const Range x =
      columns(panel, std::min({c[0].x, c[1].x, c[2].x}), std::max({c[0].x, c[1].x, c[2].x}));
  const Range y =
      rows(panel, std::min({c[0].y, c[1].y, c[2].y}), std::max({c[0].y, c[1].y, c[2].y}));
  for (int j = y.low; j < y.high; ++j)
    for (int i = x.low; i < x.high; ++i) {
      const double px = (i + 0.5) / samples, py = (j + 0.5) / samples;
      std::array<double, 3> w;
      w[1] = ((px - c[0].x) * (c[2].y - c[0].y) - (py - c[0].y) * (c[2].x - c[0].x)) / area;
      w[2] = ((c[1].x - c[0].x) * (py - c[0].y) - (c[1].y - c[0].y) * (px - c[0].x)) / area;
      w[0] = 1 - w[1] - w[2];
      if (!(w[0] >= 0 && w[1] >= 0 && w[2] >= 0)) continue;
      const auto near =
          static_cast<float>(w[0] * c[0].nearness + w[1] * c[1].nearness + w[2] * c[2].nearness);
      if (near < nearness_[at(i, j)]) continue;
      nearness_[at(i, j)] = near;
      colour_[at(i, j)] = paint(w);
    }
}

}  // namespace cnc::geometry
