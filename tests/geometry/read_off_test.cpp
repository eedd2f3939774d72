#include "mesh_support.hpp"
#include "support/catch.hpp"

using namespace cnc;
using namespace cnc::test;

namespace {

const std::string points = "0 0 0\n1 0 0\n0 1 0\n0 0 1\n";
const std::string faces = "3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n";

}  // namespace

TEST_CASE("OFF: headers") {
  for (const std::string header :
       {"OFF\n4 4 6\n", "OFF 4 4 6\n", "OFF\n4 4\n", "# a\n\nOFF # b\n # c\n\n4 4 0 # d\n",
        "COFF\n4 4 6\n", "NOFF\n4 4 6\n", "STOFF 4 4 6\n", "STCNOFF\n4 4 6\n",
        "CNOFF\r\n4 4 6\r\n"}) {
    INFO(header);
    CHECK(is_tetrahedron(parse_as("surface", header + points + faces)));
  }
  CHECK(is_tetrahedron(parse_as("surface.off", "4 4 6\n" + points + faces)));
  CHECK(is_tetrahedron(parse_as("surface.off.gz", gzip("4 4 6\n" + points + faces))));
}

TEST_CASE("OFF: colours, normals and comments are passed over") {
  CHECK(is_tetrahedron(parse_as(
      "surface",
      "CNOFF\n4 4 6\n0 0 0 1 0 0 255 0 0 255\n\n1 0 0 0 0 1 # second\n# third\n"
      "0 1 0 nan\n0 0 1\n3 0 2 1 0.5 0.5 0.5\n3 0 1 3 # plain\n\n3 0 3 2 7\n3 1 2 3\n\n# end\n")));
}

TEST_CASE("OFF: polygons become fans") {
  const Mesh mesh = parse_as("surface", "OFF 5 1 0\n" + points + "1 1 1\n5 4 3 2 1 0\n");
  CHECK(mesh.triangles == std::vector<Triangle>{{4, 3, 2}, {4, 2, 1}, {4, 1, 0}});
  CHECK(mesh.polygons_cut == 1);
}

TEST_CASE("OFF: bad files") {
  for (const BadMesh& bad : std::vector<BadMesh>{
           {"OFF\n", "1: the file ends before the counts of vertices and faces"},
           {"# nothing\n", "1: the file ends before the counts of vertices and faces"},
           {"OFF\nfour 4 6\n", "2: expected the number of vertices, found 'four'"},
           {"OFF\n4\n", "2: expected the number of faces, found the end of the line"},
           {"OFF\n-4 4 0\n", "2: the number of vertices, '-4', is out of range 0..2147483647"},
           {"OFF\n1000000000000 4 0\n",
            "2: the number of vertices, '1000000000000', is out of range 0..2147483647"},
           {"OFF 4 800000000 0\n",
            "1: the number of faces, '800000000', is out of range 0..715827882"},
           {"OFF BINARY\n", "1: binary OFF files are not supported"},
           {"4OFF\n4 4 6\n",
            "1: '4OFF' is not a surface in space: only OFF with any of ST, C, N "
            "before it is supported"},
           {"nOFF\n3\n4 4 6\n",
            "1: 'nOFF' is not a surface in space: only OFF with any of ST, C, N "
            "before it is supported"},
           {"OFF 4 4 6\n" + points + "3 0 2 1\n", "6: the file ends at face 2 of 4"},
           {"OFF 4 4 6\n0 0 0\n# c\n", "3: the file ends at vertex 2 of 4"},
           {"OFF 2000000000 4 6\n0 0 0\n", "2: the file ends at vertex 2 of 2000000000"},
           {"OFF 4 3 6\n" + points + faces, "9: text behind the last of 4 vertices and 3 faces"},
           {"OFF 3 4 6\n" + points + faces, "5: face 1 has 0 corners, a polygon has three or more"},
           {"OFF 5 4 6\n" + points + faces, "9: the file ends at face 4 of 4"},
           {"OFF 4 4 6\n0 0 0\n0 x 0\n", "3: vertex 2: expected y, a number, found 'x'"},
           {"OFF 4 4 6\n0 0 0\n0 0 inf\n", "3: vertex 2: z = 'inf' is not finite"},
           {"OFF 4 4 6\n0 0 0\n0 0 2e75\n",
            "3: vertex 2: z = '2e75' is larger than 1e75, the most that is taken"},
           {"OFF 4 1 6\n" + points + "x 0 1 2\n",
            "6: face 1: expected its number of corners, found 'x'"},
           {"OFF 4 1 6\n" + points + "3 0 1\n",
            "6: face 1: expected a vertex, found the end of the line"},
           {"OFF 4 1 6\n" + points + "3 0 1 1.5\n", "6: face 1: expected a vertex, found '1.5'"},
           {"OFF 4 1 6\n" + points + "3 0 1 4\n",
            "6: face 1 names vertex 4, which is out of range 0..3"},
           {"OFF 4 1 6\n" + points + "3 0 1 -1\n",
            "6: face 1 names vertex -1, which is out of range 0..3"},
           {"OFF 4 1 6\n" + points + "2 0 1\n",
            "6: face 1 has 2 corners, a polygon has three or more"},
           {"OFF 4 1 6\n" + points + "-3 0 1 2\n", "6: face 1 has -3 corners"},
           {"OFF 4 1 6\n" + points + "999999999999999999999 0 1 2\n",
            "6: face 1: expected a vertex, found the end of the line"},
           {"OFF 4 0 0\n" + points, " no triangles"},
           {"OFF 0 0 0\n", " no triangles"},
           {"OFF 0 1 0\n3 0 1 2\n", "2: face 1 names vertex 0, but there is no vertex"},
       }) {
    INFO(bad.bytes);
    CHECK(mesh_message("a.off", bad.bytes) == "a.off:" + bad.message);
  }
}
