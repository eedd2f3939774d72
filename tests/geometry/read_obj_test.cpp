#include "mesh_support.hpp"
#include "support/catch.hpp"

using namespace cnc;
using namespace cnc::test;

namespace {

const std::string points = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";

Mesh obj(const std::string& text) { return parse_as("test.obj", text); }

}  // namespace

TEST_CASE("OBJ: corners of every form") {
  for (const std::string& text :
       {points + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
        points + "f 1/1 3/2 2/9\nf 1//1 2//7 4//3\nf 1/1/1 4/2/3 3/9/9\nf 2/ 3// 4/5/\n",
        points + "f -4 -2 -3\nf -4 -3 -1\nf -4/-1 -1/-1 -2/-1\nf -3//-1 -2//-1 -1//-1\n",
        points + "f\t1  3 2 # comment\r\nf 1 2 4 #\n  f +1 4 3\nf 2 3 4"}) {
    INFO(text);
    CHECK(is_tetrahedron(obj(text)));
  }
}

TEST_CASE("OBJ: everything but vertices and faces is passed over") {
  const std::string text =
      "# made by hand \\\nmtllib a.mtl\no thing\nvn 0 0 1\nvt 0.5 nan\nvp 1\ng group \\\ns off\n"
      "usemtl \\path\\\n" +
      points + "l 1 2\np 1\nfoo bar\nvx\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
  CHECK(is_tetrahedron(obj(text)));
}

TEST_CASE("OBJ: weights and colours behind the coordinates") {
  const Mesh mesh = obj("v 0 0 0 1\nv 1 0 0 0.5 0.5 0.5\nv 0 1 0 1 inf 0.25 0.125\nf 1 2 3\n");
  CHECK(mesh.points == std::vector<Point>{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}});
}

TEST_CASE("OBJ: polygons become fans") {
  const Mesh mesh =
      obj("v 0 0 0\nv 1 0 0\nv 2 1 0\nv 1 2 0\nv 0 2 0\nf 1 2 3 4 5\nf 1 2 3\nf 2 3 4 5\n");
  CHECK(mesh.triangles ==
        std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 1, 2}, {1, 2, 3}, {1, 3, 4}});
  CHECK(mesh.polygons_cut == 2);
}

TEST_CASE("OBJ: statements over several lines") {
  const Mesh mesh = obj("v 0 0 \\\n0\nv 1\\\r\n 0 0\nv 0 1 0\nv 0 0 1\nf 1 \\\n\\\n 2 3 \\ \n 4\n");
  CHECK(mesh.points[1] == Point{1, 0, 0});
  CHECK(mesh.triangles == std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}});
}

TEST_CASE(
    "OBJ: faces may come before their vertices, negative indices count back from where they are") {
  CHECK(is_tetrahedron(obj("f 1 3 2\nf 1 2 4\nf 1 4 3\n" + points + "f 2 3 4\n")));
  const Mesh mesh = obj(points + "f -4 -3 -2\nv 5 5 5\nf -4 -3 -2\n");
  CHECK(mesh.triangles == std::vector<Triangle>{{0, 1, 2}, {1, 2, 3}});
}

TEST_CASE("OBJ: a statement keeps its kind when its next line is loaded") {
  const std::string text = "v 0 0 \\\nf\nv 1 0 0\n";
  CHECK(mesh_message("test.obj", text) == "test.obj:1: vertex 1: expected z, a number, found 'f'");
}

TEST_CASE("OBJ: numbers keep every bit") {
  const Mesh mesh = obj(
      "v 0.1 1e-320 -0\nv 1.7976931348623157e30 .5 5.\nv 123456789.123456789 1E5 +2\nf 1 2 3\n");
  CHECK(mesh.points[0] == Point{0.1, 1e-320, 0});
  CHECK(mesh.points[1] == Point{1.7976931348623157e30, 0.5, 5});
  CHECK(mesh.points[2] == Point{123456789.123456789, 1e5, 2});
}

TEST_CASE("OBJ: told by its contents, a byte order mark is passed over") {
  const std::string text = points + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
  CHECK(is_tetrahedron(parse_as("surface", text)));
  CHECK(is_tetrahedron(parse_as("surface.txt", "\n# comment\n\n" + text)));
  CHECK(is_tetrahedron(parse_as("surface", "\xef\xbb\xbf" + text)));
  CHECK(is_tetrahedron(parse_as("surface.obj.gz", gzip(text))));
}

TEST_CASE("OBJ: bad statements") {
  const std::string face = "5: face 1: expected a corner as in 1, 1/2, 1//3 or 1/2/3, found ";
  for (const BadMesh& bad : std::vector<BadMesh>{
           {"", " the file is empty"},
           {"\n", " no triangles"},
           {points, " no triangles"},
           {"v 0 0\nf 1 1 1\n", "1: vertex 1: expected z, a number, found the end of the line"},
           {"v 0 0 0\nv 1 abc 0\n", "2: vertex 2: expected y, a number, found 'abc'"},
           {"v 0 0 0\nv 1 2 3 4x\n", "2: vertex 2: expected a number, found '4x'"},
           {"v 0 0 0\rv 1 2 3\rf 1 2 3\r", "1: vertex 1: expected a number, found 'v'"},
           {"v 0 # 0 0\n", "1: vertex 1: expected y, a number, found the end of the line"},
           {"v nan 0 0\n", "1: vertex 1: x = 'nan' is not finite"},
           {"v 0 0 0\nv 0 -Inf 0\n", "2: vertex 2: y = '-Inf' is not finite"},
           {"v 0 0 1e400\n",
            "1: vertex 1: z = '1e400' is larger than 1e75, the most that is taken"},
           {"v 0 0 -1e76\n",
            "1: vertex 1: z = '-1e76' is larger than 1e75, the most that is taken"},
           {points + "f 1 2\n", "5: face 1 has 2 corners, a polygon has three or more"},
           {points + "f 1\n", "5: face 1 has 1 corner, a polygon has three or more"},
           {points + "f \n", "5: face 1 has 0 corners, a polygon has three or more"},
           {points + "f 1 2 x\n", face + "'x'"},
           {points + "f 1 2 3x\n", face + "'3x'"},
           {points + "f 1 2 3/x\n", face + "'3/x'"},
           {points + "f 1 2 3/1/1/1\n", face + "'3/1/1/1'"},
           {points + "f 1 2 /3\n", face + "'/3'"},
           {points + "f 1 2 3.5\n", face + "'3.5'"},
           {points + "f 1 2 3# comment\n", face + "'3#'"},
           {points + "f 1 2 3 -\n", face + "'-'"},
           {points + "f 1 2 3\nf 0 1 2\n", "6: face 2 names vertex 0, which is out of range 1..4"},
           {points + "f 1 2 3\n\nf 1 2 99\n",
            "7: face 2 names vertex 99, which is out of range 1..4"},
           {"f 1 5 6\nf 1 7 2\nf 2 3 9\n" + points,
            "1: face 1 names vertex 5, which is out of range 1..4"},
           {"f 1 3 2\nf 1 7 2\nf 2 3 9\n" + points,
            "2: face 2 names vertex 7, which is out of range 1..4"},
           {points + "f 1 2 99999999999999999999\n",
            "5: face 1 names vertex 9999999999999999, which is out of range 1..2147483647"},
           {points + "f 1 2 -5\n", "5: face 1 names vertex -5, but only 4 came before it"},
           {"f -1 -2 -3\n", "1: face 1 names vertex -1, but only 0 came before it"},
           {"f 0 1 2\n", "1: face 1 names vertex 0, but there is no vertex"},
           {points + "f 1 2 \\\n", "5: the file ends behind a '\\'"},
           {points + "f 1 \\\n2 \\\n9\n", "5: face 1 names vertex 9, which is out of range 1..4"},
       }) {
    INFO(bad.bytes);
    CHECK(mesh_message("test.obj", bad.bytes) == "test.obj:" + bad.message);
  }
}
