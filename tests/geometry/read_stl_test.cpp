#include "mesh_support.hpp"
#include "support/catch.hpp"

using namespace cnc;
using namespace cnc::test;

namespace {

/// In the order of the first uses.
const std::vector<Point> used_points = {{0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {0, 0, 1}};
const std::vector<Triangle> used_triangles = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {2, 1, 3}};

bool is_welded(const Mesh& mesh) {
  return mesh.points == used_points && mesh.triangles == used_triangles;
}

std::string text_facet(const Triangle& triangle) {
  std::ostringstream text;
  text << "  facet normal 0 0 nan\n    outer loop\n";
  for (const index_t v : triangle) {
    const Point& x = corner_points[static_cast<std::size_t>(v)];
    text << "      vertex " << x[0] << " " << x[1] << " " << x[2] << "\n";
  }
  text << "    endloop\n  endfacet\n";
  return text.str();
}

std::string text_solid(const std::string& name = "thing") {
  std::string text = "solid " + name + "\n";
  for (const Triangle& triangle : corner_triangles) text += text_facet(triangle);
  return text + "endsolid " + name + "\n";
}

std::string binary_solid(const std::string& title, std::uint32_t count = 4) {
  std::string bytes = title;
  bytes.resize(80, '\0');
  bytes += bytes_of(count);
  for (const Triangle& triangle : corner_triangles) {
    bytes += std::string(12, '\xff');
    for (const index_t v : triangle) {
      for (const double x : corner_points[static_cast<std::size_t>(v)]) {
        bytes += bytes_of(static_cast<float>(x));
      }
    }
    bytes += "ab";
  }
  return bytes;
}

}  // namespace

TEST_CASE("STL: text, points at the same place become one") {
  CHECK(is_welded(parse_as("a.stl", text_solid())));
  CHECK(is_welded(parse_as("surface", text_solid(""))));
  CHECK(is_welded(parse_as("surface", gzip(text_solid()))));
  std::string shouted = text_solid();
  for (char& c : shouted) c = static_cast<char>(std::toupper(c));
  CHECK(is_welded(parse_as("surface", "\n" + shouted)));
  // -0 and 0 are the same place.
  std::string negative = text_solid();
  negative.replace(negative.rfind("vertex 0"), 8, "vertex -0");
  CHECK(parse_as("surface", negative).vertices() == 4);
}

TEST_CASE("STL: several solids are one surface") {
  const Mesh mesh = parse_as("surface", text_solid("a") + "\n" + text_solid("b"));
  CHECK(mesh.vertices() == 4);
  CHECK(mesh.faces() == 8);
}

TEST_CASE("STL: binary, whatever its title says") {
  for (const char* title :
       {"", "solid of nothing", "solid facet endsolid", "ply", "OFF", "v 1 2 3"}) {
    INFO(title);
    CHECK(is_welded(parse_as("surface", binary_solid(title))));
    CHECK(is_welded(parse_as("a.obj", binary_solid(title))));
  }
  // Inside gzip the size is not known: the name tells.
  CHECK(is_welded(parse_as("a.stl.gz", gzip(binary_solid("title")))));
  CHECK(is_welded(parse_as("a.STL", gzip(binary_solid("solid title")))));
}

TEST_CASE("STL: every shorter binary file is refused") {
  const std::string bytes = binary_solid("title");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    INFO(size);
    CHECK_THROWS_AS(parse_as("a.stl", bytes.substr(0, size)), IoError);
  }
}

TEST_CASE("STL: bad text") {
  const std::string one = "solid a\n" + text_facet({0, 1, 2});  // 8 lines
  const auto facet = [](const std::string& loop) { return "solid\nfacet normal 0 0 1\n" + loop; };
  for (const BadMesh& bad : std::vector<BadMesh>{
           {one, "8: the file ends before endsolid"},
           {"solid facet\n", "1: the file ends before endsolid"},
           {"solid\nendsolid\n", " no triangles"},
           {one + "end\n", "9: expected endsolid, found 'end'"},
           {one + "endsolid a\nfacet\n", "10: expected solid, found 'facet'"},
           {facet("inner loop\n"), "3: expected outer, found 'inner'"},
           {facet("outer loop\nvertex 0 0 0\nendloop\n"), "5: expected vertex, found 'endloop'"},
           {facet("outer loop\nvertex 0 0 0\nvertex 0 0 0\nvertex 0 0 0\nvertex 1 1 1\n"),
            "7: expected endloop, found 'vertex'"},
           {facet("outer loop\nvertex 0 0 0\nvertex 0 0 0\nvertex 0 0 0\nendloop\nfacet\n"),
            "8: expected endfacet, found 'facet'"},
           {facet("outer loop\nvertex 0 0 0\nvertex 0 x 0\n"),
            "5: vertex 2: expected y, a number, found 'x'"},
           {facet("outer loop\nvertex 0 0 0\nvertex 0 inf 0\n"),
            "5: vertex 2: y = 'inf' is not finite"},
           {facet("outer loop\n"), "3: the file ends before endsolid"},
       }) {
    INFO(bad.bytes);
    CHECK(mesh_message("a.stl", bad.bytes) == "a.stl:" + bad.message);
  }
}

TEST_CASE("STL: bad bytes") {
  const std::string good = binary_solid("title");
  std::string nan = good;
  nan.replace(84 + 50 + 24, 4, bytes_of(std::numeric_limits<float>::quiet_NaN()));
  for (const BadMesh& bad : std::vector<BadMesh>{
           {"hello\n",
            "not an STL file: no text that begins with solid, and less than the 84 bytes "
            "of a binary header"},
           {good + "x", "bytes behind the last of 4 triangles"},
           {good.substr(0, good.size() - 1), "the file ends at triangle 4 of 4"},
           {binary_solid("", 4000000000u), "the file ends at triangle 5 of 4000000000"},
           {binary_solid("", 3), "bytes behind the last of 3 triangles"},
           {std::string(84, '\0'), "no triangles"},
           {nan, "vertex 5: x = 'nan' is not finite"},
       }) {
    CHECK(mesh_message("a.stl", bad.bytes) == "a.stl: " + bad.message);
  }
}
