#include "geometry/raster.hpp"

#include <limits>

namespace cnc::geometry {

Raster::Raster(int width, int height)
    : width_(width),
      height_(height),
      colour_(
          static_cast<std::size_t>(samples * width) * static_cast<std::size_t>(samples * height),
          Colour{1, 1, 1}),
      nearness_(colour_.size(), -std::numeric_limits<float>::infinity()) {}

Raster::Range Raster::columns(const Panel& panel, double low, double high) {
  const double from = std::clamp(low, double(panel.x), double(panel.x + panel.width));
  const double to = std::clamp(high, double(panel.x), double(panel.x + panel.width));
  return {static_cast<int>(std::ceil(from * samples - 0.5)),
          static_cast<int>(std::floor(to * samples - 0.5)) + 1};
}

Raster::Range Raster::rows(const Panel& panel, double low, double high) {
  return columns({panel.y, 0, panel.height, 0}, low, high);
}

void Raster::draw_line(const Panel& panel, const ScreenPoint& a, const ScreenPoint& b,
                       double thickness, const Colour& colour) {
  const double half = 0.5 * thickness, dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
  if (!std::isfinite(square)) return;
  const Range x = columns(panel, std::min(a.x, b.x) - half, std::max(a.x, b.x) + half);
  const Range y = rows(panel, std::min(a.y, b.y) - half, std::max(a.y, b.y) + half);
  for (int j = y.low; j < y.high; ++j)
    for (int i = x.low; i < x.high; ++i) {
      const double px = (i + 0.5) / samples - a.x, py = (j + 0.5) / samples - a.y;
      const double along = square > 0 ? std::clamp((px * dx + py * dy) / square, 0.0, 1.0) : 0;
      if (std::hypot(px - along * dx, py - along * dy) > half) continue;
      nearness_[at(i, j)] = std::numeric_limits<float>::infinity();
      colour_[at(i, j)] = colour;
    }
}

Image Raster::image() const {
  Image image{width_, height_, {}};
  image.rgb.reserve(3 * static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_));
  for (int y = 0; y < height_; ++y)
    for (int x = 0; x < width_; ++x)
      for (std::size_t k = 0; k < 3; ++k) {
        float sum = 0;
        for (int j = 0; j < samples; ++j)
          for (int i = 0; i < samples; ++i) sum += colour_[at(samples * x + i, samples * y + j)][k];
        const float mean = std::clamp(sum / (samples * samples), 0.0f, 1.0f);
        image.rgb.push_back(static_cast<unsigned char>(std::lround(255 * mean)));
      }
  return image;
}

}  // namespace cnc::geometry
