#include "support/catch.hpp"
#include "surfaces.hpp"

#include "geometry/shade.hpp"

using namespace cnc;
using namespace cnc::geometry;
using namespace cnc::test;

namespace {

std::array<int, 3> pixel(const Image& image, int x, int y) {
  const auto at = static_cast<std::size_t>(3 * (y * image.width + x));
  return {image.rgb[at], image.rgb[at + 1], image.rgb[at + 2]};
}

}  // namespace

TEST_CASE("what is nearer hides what is behind it, in any order, and stays in its panel") {
  const Panel panel{2, 0, 8, 10};
  const std::array<ScreenPoint, 3> near = {{{0, 0, 2}, {20, 0, 2}, {0, 20, 2}}};
  const std::array<ScreenPoint, 3> far = {{{0, 0, 1}, {20, 0, 1}, {0, 20, 1}}};
  const auto red = [](const std::array<double, 3>&) { return Colour{1, 0, 0}; };
  const auto blue = [](const std::array<double, 3>&) { return Colour{0, 0, 1}; };
  for (const bool near_first : {true, false}) {
    Raster raster(12, 10);
    if (near_first) raster.draw(panel, near, red);
    raster.draw(panel, far, blue);
    if (!near_first) raster.draw(panel, near, red);
    const Image image = raster.image();
    REQUIRE(image.rgb.size() == 3 * 12 * 10);
    CHECK(pixel(image, 4, 4) == std::array<int, 3>{255, 0, 0});
    CHECK(pixel(image, 1, 4) == std::array<int, 3>{255, 255, 255});
    CHECK(pixel(image, 10, 4) == std::array<int, 3>{255, 255, 255});
  }
}

TEST_CASE("an edge is as dark as what it covers of a pixel") {
  Raster raster(4, 4);
  const std::array<ScreenPoint, 3> half = {{{-9, -9, 0}, {1.5, -9, 0}, {1.5, 30, 0}}};
  raster.draw({0, 0, 4, 4}, half, [](const std::array<double, 3>&) { return Colour{0, 0, 0}; });
  raster.draw_line({0, 0, 4, 4}, {3, 0, 0}, {3, 4, 0}, 2, {0, 1, 0});
  const Image image = raster.image();
  CHECK(pixel(image, 0, 0)[0] == 0);
  CHECK((pixel(image, 1, 0)[0] > 60 && pixel(image, 1, 0)[0] < 195));
  CHECK(pixel(image, 3, 2) == std::array<int, 3>{0, 255, 0});
}

TEST_CASE("points that are no numbers draw nothing") {
  Raster raster(4, 4);
  raster.draw({0, 0, 4, 4}, {{{0, 0, 0}, {NAN, 1, 0}, {3, 3, 0}}},
              [](const std::array<double, 3>&) {
                return Colour{0, 0, 0};
              });
  raster.draw_line({0, 0, 4, 4}, {0, 0, 0}, {INFINITY, 1, 0}, 1, {0, 0, 0});
  CHECK(pixel(raster.image(), 1, 1)[0] == 255);
}

TEST_CASE("a surface fits its panel and is lit from the front") {
  const Mesh mesh = sphere(3);
  const Panel panel{0, 0, 60, 40};
  const View view = natural_view(mesh, analyze(mesh));
  const Projection projection = fitted(view, mesh.points, panel);
  for (const Point& p : mesh.points) {
    const ScreenPoint place = projection(p);
    CHECK((place.x > 0 && place.x < 60 && place.y > 0 && place.y < 40));
  }
  Raster raster(60, 40);
  draw_surface(raster, panel, projection, mesh.points, mesh.triangles,
               [](index_t, const std::array<double, 3>&) {
                 return Colour{1, 1, 1};
               });
  const Image image = raster.image();
  CHECK(pixel(image, 0, 0)[0] == 255);
  CHECK(pixel(image, 24, 13)[0] > pixel(image, 37, 29)[0] + 60);
  for (const Point& axis : {view.right, view.up, view.towards})
    CHECK(std::abs(norm(axis) - 1) < 1e-12);
  CHECK(std::abs(dot(cross(view.right, view.up), view.towards) - 1) < 1e-12);
}

TEST_CASE("an open surface is seen from outside") {
  const Mesh mesh = flat_grid(2);
  for (const double sign : {1.0, -1.0}) {
    Mesh other = mesh;
    if (sign < 0)
      for (Triangle& t : other.triangles) std::swap(t[1], t[2]);
    const View view = natural_view(other, analyze(other));
    CHECK(sign * view.towards[2] > 0.5);
  }
}

TEST_CASE("a checkerboard changes its colour from square to square") {
  const Checkerboard board{0.5};
  CHECK_FALSE(board.is_dark(0.1, 0.1));
  CHECK(board.is_dark(0.6, 0.1));
  CHECK_FALSE(board.is_dark(0.6, 0.6));
  CHECK(board.is_dark(-0.1, 0.1));
  CHECK_FALSE(board.is_dark(-0.1, -0.1));
}
