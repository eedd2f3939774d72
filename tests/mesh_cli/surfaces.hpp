#pragma once

#include "geometry/mesh.hpp"
#include "geometry/point_math.hpp"

#include <cmath>
#include <cstdint>
#include <map>
#include <string>

namespace cnc::test {

using geometry::Mesh;
using geometry::Point;
using geometry::Triangle;
using geometry::operator+;
using geometry::operator-;
using geometry::operator*;

/// nx x ny squares, each of two triangles, at place(i / nx, j / ny).
template <class Place>
Mesh grid(index_t nx, index_t ny, const Place& place) {
  Mesh mesh;
  mesh.name = "grid";
  for (index_t j = 0; j <= ny; ++j)
    for (index_t i = 0; i <= nx; ++i)
      mesh.points.push_back(place(double(i) / double(nx), double(j) / double(ny)));
  for (index_t j = 0; j < ny; ++j)
    for (index_t i = 0; i < nx; ++i) {
      const index_t a = j * (nx + 1) + i, b = a + 1, c = a + nx + 1, d = c + 1;
      mesh.triangles.push_back({a, b, d});
      mesh.triangles.push_back({a, d, c});
    }
  return mesh;
}

inline Mesh flat_grid(index_t n) {
  return grid(n, n, [](double s, double t) { return Point{s, t, 0}; });
}

/// The unit sphere: an octahedron whose triangles were cut in four, `level` times.
inline Mesh sphere(int level) {
  Mesh mesh;
  mesh.name = "sphere";
  mesh.points = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  mesh.triangles = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                    {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  for (; level > 0; --level) {
    std::map<std::pair<index_t, index_t>, index_t> middle;
    const auto between = [&](index_t a, index_t b) {
      const auto [found, is_new] = middle.try_emplace(std::minmax(a, b), mesh.vertices());
      if (is_new)
        mesh.points.push_back(geometry::unit(mesh.points[static_cast<std::size_t>(a)] +
                                             mesh.points[static_cast<std::size_t>(b)]));
      return found->second;
    };
    std::vector<Triangle> finer;
    for (const Triangle& t : mesh.triangles) {
      const index_t a = between(t[0], t[1]), b = between(t[1], t[2]), c = between(t[2], t[0]);
      finer.insert(finer.end(), {{t[0], a, c}, {t[1], b, a}, {t[2], c, b}, {a, b, c}});
    }
    mesh.triangles = finer;
  }
  return mesh;
}

/// Numbers between -1 and 1, the same on every machine.
class Noise {
 public:
  double operator()() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 11) * 0x1p-52 - 1;
  }

 private:
  std::uint64_t state_ = 1;
};

/// Both, as two parts of one surface.
inline Mesh together(Mesh a, const Mesh& b) {
  const index_t shift = a.vertices();
  a.points.insert(a.points.end(), b.points.begin(), b.points.end());
  for (const Triangle& t : b.triangles)
    a.triangles.push_back({t[0] + shift, t[1] + shift, t[2] + shift});
  return a;
}

inline std::string obj_text(const Mesh& mesh) {
  std::string text;
  char line[120];
  for (const Point& p : mesh.points) {
    std::snprintf(line, sizeof line, "v %.17g %.17g %.17g\n", p[0], p[1], p[2]);
    text += line;
  }
  for (const Triangle& t : mesh.triangles) {
    std::snprintf(line, sizeof line, "f %d %d %d\n", t[0] + 1, t[1] + 1, t[2] + 1);
    text += line;
  }
  return text;
}

}  // namespace cnc::test
