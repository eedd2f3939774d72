#include "geometry/write_mesh.hpp"
#include "mesh_support.hpp"
#include "support/catch.hpp"

using namespace cnc;
using namespace cnc::test;

namespace {

const std::string xyz = "property float x\nproperty float y\nproperty float z\n";
const std::string points = "0 0 0\n1 0 0\n0 1 0\n0 0 1\n";
const std::string faces = "3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n";

std::string header(const std::string& format, const std::string& elements) {
  return "ply\nformat " + format + " 1.0\n" + elements + "end_header\n";
}

const std::string plain =
    "element vertex 4\n" + xyz + "element face 4\nproperty list uchar int vertex_indices\n";

/// A file of a tetrahedron with every type of number, properties and elements that nobody wants.
template <class Coordinate, class Index, class Count>
std::string full(const std::string& coordinate, const std::string& index, const std::string& count,
                 std::endian order) {
  const bool little = order == std::endian::little;
  std::string bytes = header(
      little ? "binary_little_endian" : "binary_big_endian",
      "comment all of it\nobj_info more\nelement camera 2\nproperty short id\nproperty list uint "
      "double stops\nelement vertex 4\nproperty char flag\nproperty " +
          coordinate + " z\nproperty " + coordinate +
          " x\nproperty list ushort float weights\nproperty " + coordinate +
          " y\nproperty double quality\nelement face 4\nproperty uchar red\nproperty list " +
          count + " " + index +
          " vertex_index\nproperty list uchar float texcoord\nelement edge 1\nproperty int "
          "vertex1\n"
          "property int vertex2\n");
  const auto put = [&](auto value) { bytes += bytes_of(value, order); };
  for (const int stops : {0, 2}) {
    put(std::int16_t{-7});
    put(static_cast<std::uint32_t>(stops));
    for (int k = 0; k < stops; ++k) put(0.5);
  }
  std::uint16_t weights = 0;
  for (const Point& x : corner_points) {
    put(std::int8_t{-1});
    put(static_cast<Coordinate>(x[2]));
    put(static_cast<Coordinate>(x[0]));
    put(weights);
    for (int k = 0; k < weights; ++k) put(1.5F);
    put(static_cast<Coordinate>(x[1]));
    put(std::numeric_limits<double>::quiet_NaN());
    ++weights;
  }
  for (const Triangle& triangle : corner_triangles) {
    put(std::uint8_t{255});
    put(static_cast<Count>(3));
    for (const index_t v : triangle) put(static_cast<Index>(v));
    put(std::uint8_t{2});
    put(0.25F);
    put(0.75F);
  }
  put(std::int32_t{0});
  put(std::int32_t{1});
  return bytes;
}

}  // namespace

TEST_CASE("PLY: ascii") {
  for (const std::string& text :
       {header("ascii", plain) + points + faces,
        header("ascii", "comment c\n" + plain + "element edge 1\nproperty int v\n") + "\n" +
            points + "\n" + faces + "7\n\n",
        header(
            "ascii",
            "element face 4\nproperty uchar red\nproperty list int32 uint8 vertex_index\nproperty "
            "list char float rest\nelement vertex 4\nproperty double y\nproperty list uint8 int "
            "skipped\nproperty float64 z\nproperty float32 nx\nproperty double x\n") +
            "9 3 0 2 1 0\n9 3 0 1 3 2 nan 1\n9 3 0 3 2 1 5\n9 3 1 2 3 0\n"
            "0 0 0 nan 0\n0 1 5 0 inf 1\n1 2 1 1 0 0 0\n0 0 1 abc 0\n"}) {
    INFO(text);
    CHECK(is_tetrahedron(parse_as("surface", text)));
    CHECK(is_tetrahedron(parse_as("surface", gzip(text))));
  }
  std::string windows = header("ascii", plain) + points + faces;
  for (std::size_t at = 0; (at = windows.find('\n', at)) != std::string::npos; at += 2) {
    windows.insert(at, "\r");
  }
  CHECK(is_tetrahedron(parse_as("surface", windows)));
}

TEST_CASE("PLY: binary, every type and both byte orders") {
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    for (const std::string& bytes :
         {full<float, std::int32_t, std::uint8_t>("float", "int", "uchar", order),
          full<double, std::uint32_t, std::uint32_t>("double", "uint", "uint", order),
          full<std::int8_t, std::int8_t, std::int8_t>("char", "char", "int8", order),
          full<std::uint8_t, std::uint8_t, std::int16_t>("uint8", "uchar", "short", order),
          full<std::int16_t, std::int16_t, std::uint16_t>("int16", "short", "ushort", order),
          full<std::uint16_t, std::uint16_t, std::int32_t>("ushort", "uint16", "int32", order),
          full<std::int32_t, std::uint16_t, std::int32_t>("int32", "uint16", "int", order),
          full<std::uint32_t, std::int32_t, std::uint8_t>("uint32", "int32", "uint8", order)}) {
      CHECK(is_tetrahedron(parse_as("surface", bytes)));
      CHECK(is_tetrahedron(parse_as("surface", bytes + "\n")));
      CHECK(is_tetrahedron(parse_as("surface", gzip(bytes))));
    }
  }
}

TEST_CASE("PLY: every shorter binary file is refused") {
  const std::string bytes =
      full<float, std::int32_t, std::uint8_t>("float", "int", "uchar", std::endian::little);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    INFO(size);
    CHECK_THROWS_AS(parse_as("surface.ply", bytes.substr(0, size)), IoError);
  }
}

TEST_CASE("PLY: triangle strips") {
  const std::string elements =
      "element vertex 6\n" + xyz + "element tristrips 1\nproperty list int int vertex_indices\n";
  const std::string six = points + "1 1 1\n2 2 2\n";
  const Mesh mesh =
      parse_as("surface", header("ascii", elements) + six + "12 0 1 2 3 -1 3 4 5 -1 -1 1 2\n");
  CHECK(mesh.triangles == std::vector<Triangle>{{0, 1, 2}, {2, 1, 3}, {3, 4, 5}});
  // Corners that are there twice keep the strip going and make no triangle.
  const Mesh joined = parse_as("surface", header("ascii", elements) + six + "8 0 1 2 2 3 3 4 5\n");
  CHECK(joined.triangles == std::vector<Triangle>{{0, 1, 2}, {4, 3, 5}});
  CHECK(mesh_message("a.ply", header("ascii", elements) + six + "3 0 1 6\n") ==
        "a.ply:16: face 1 names vertex 6, which is out of range 0..5");
  CHECK(mesh_message("a.ply", header("ascii", elements) + six + "3 0 1 -2\n") ==
        "a.ply:16: face 1 names vertex -2, which is out of range 0..5");
}

TEST_CASE("PLY: one line of a strip may be long") {
  const index_t n = 300000;
  std::string text = header("ascii", "element vertex 4\n" + xyz +
                                         "element tristrips 1\nproperty list int int "
                                         "vertex_indices\n") +
                     points + std::to_string(4 * n);
  for (index_t k = 0; k < n; ++k) text += " 0 1 2 3";
  const Mesh mesh = parse_as("surface", text + "\n");
  CHECK(text.size() > (std::size_t{1} << 20));
  CHECK(mesh.faces() == 4 * n - 2);
}

TEST_CASE("PLY: bad headers") {
  const std::string types =
      "expected a type (char, uchar, short, ushort, int, uint, float, double), found ";
  const std::string list = "' has no list 'vertex_indices' or 'vertex_index' of integers";
  for (const BadMesh& bad : std::vector<BadMesh>{
           {"OBJ\n", "1: not a PLY file: it does not begin with ply"},
           {"ply", "1: the header does not end: no end_header within its first 3 bytes"},
           {"ply\n", "2: the header does not end: no end_header within its first 4 bytes"},
           {"ply\nelement vertex 3\n", "2: expected format, found 'element'"},
           {"ply\nformat binary 1.0\n",
            "2: format 'binary' is not supported (ascii, "
            "binary_little_endian, binary_big_endian)"},
           {"ply\nformat ascii 2.0\n", "2: version '2.0' is not supported (1.0)"},
           {"ply\nformat ascii\n", "2: version the end of the line is not supported (1.0)"},
           {header("ascii", "elephant 3\n"),
            "3: expected element, property, comment or end_header, found 'elephant'"},
           {header("ascii", "element\n"),
            "3: expected the name of an element, found the end of the line"},
           {header("ascii", "element vertex x\n"),
            "3: expected the number of elements 'vertex', found 'x'"},
           {header("ascii", "element vertex -1\n"), "3: the number of elements 'vertex' is -1"},
           {header("ascii", "element vertex 1000000000000\n"),
            " more than 2147483647 elements 'vertex'"},
           {header("ascii", "element vertex 1\nelement vertex 1\n"),
            "4: a second element 'vertex'"},
           {header("ascii", "property float x\n"), "3: a property before the first element"},
           {header("ascii", "element vertex 1\nproperty real x\n"), "4: " + types + "'real'"},
           {header("ascii", "element vertex 1\nproperty\n"), "4: " + types + "the end of the line"},
           {header("ascii", "element vertex 1\nproperty float\n"),
            "4: expected the name of a property, found the end of the line"},
           {header("ascii", "element vertex 1\nproperty float x\nproperty int x\n"),
            "5: a second property 'x'"},
           {header("ascii", "element face 1\nproperty list float int vertex_indices\n"),
            "4: the length of a list must be of an integer type"},
           {header("ascii", "element face 0\n"), " no element 'vertex' in the header"},
           {header("ascii", "element vertex 1\nproperty float x\nproperty float z\n"),
            " element 'vertex' has no property 'y'"},
           {header("ascii", "element vertex 1\nproperty list int float x\n"),
            " element 'vertex' has no property 'x'"},
           {header("ascii", "element vertex 1\n" + xyz + "element face 1\n"),
            " element 'face" + list},
           {header("ascii", "element vertex 1\n" + xyz +
                                "element face 1\nproperty list uchar float vertex_indices\n"),
            " element 'face" + list},
           {header("ascii", "element vertex 1\n" + xyz +
                                "element tristrips 1\nproperty int vertex_indices\n"),
            " element 'tristrips" + list},
           {header("ascii", "element vertex 1\n" + xyz +
                                "element face 1000000000\nproperty list uchar int vertex_index\n"),
            " more than 715827882 elements 'face'"},
       }) {
    INFO(bad.bytes);
    CHECK(mesh_message("a.ply", bad.bytes) == "a.ply:" + bad.message);
  }
  const std::string endless = "ply\nformat ascii 1.0\n" + std::string(100000, 'c');
  CHECK(mesh_message("a.ply", endless) ==
        "a.ply:3: the header does not end: no end_header within its first 65536 bytes");
}

TEST_CASE("PLY: bad text") {
  const std::string head = header("ascii", plain);  // 9 lines
  for (
      const BadMesh& bad : std::vector<BadMesh>{
          {head, "9: the file ends at 'vertex' 1 of 4"},
          {head + points, "13: the file ends at 'face' 1 of 4"},
          {head + points + "3 0 1 2\n", "14: the file ends at 'face' 2 of 4"},
          {head + "0 0 0\n0 x 0\n", "11: vertex 2: expected y, a number, found 'x'"},
          {head + "0 0\n", "10: vertex 1: expected z, a number, found the end of the line"},
          {head + "0 0 0 0\n", "10: 'vertex' 1 of 4: surplus text '0'"},
          {head + "0 nan 0\n", "10: vertex 1: y = 'nan' is not finite"},
          {head + points + "3 0 1\n",
           "14: 'face' 1 of 4: expected an integer of 'vertex_indices', found the end of the line"},
          {head + points + "3 0 1 2 3\n", "14: 'face' 1 of 4: surplus text '3'"},
          {head + points + "3 0 1 x\n",
           "14: 'face' 1 of 4: expected an integer of 'vertex_indices', found 'x'"},
          {head + points + "x 0 1 2\n",
           "14: 'face' 1 of 4: expected an integer of 'vertex_indices', found 'x'"},
          {head + points + "2 0 1\n", "14: face 1 has 2 corners, a polygon has three or more"},
          {head + points + "-3 0 1 2\n", "14: a list 'vertex_indices' of length -3"},
          {head + points + "3 0 1 4\n", "14: face 1 names vertex 4, which is out of range 0..3"},
          {head + points + faces + "3 0 1 2\n", "18: text behind the last element: '3'"},
          {header("ascii", "element extra 1\nproperty float a\nproperty list int int b\n" + plain) +
               "1 2 3\n",
           "13: 'extra' 1 of 1: expected a value of 'b', found the end of the line"},
          {header("ascii", "element vertex 3\n" + xyz) + "0 0 0\n1 0 0\n0 1 0\n", " no triangles"},
      }) {
    INFO(bad.bytes);
    CHECK(mesh_message("a.ply", bad.bytes) == "a.ply:" + bad.message);
  }
}

TEST_CASE("PLY: bad bytes") {
  const auto little = [](const std::string& elements, const std::string& body) {
    return header("binary_little_endian", elements) + body;
  };
  const std::string three = "element vertex 3\n" + xyz;
  const std::string zeros(36, '\0');
  const auto face = [](index_t a, index_t b, index_t c) {
    return '\3' + bytes_of(a) + bytes_of(b) + bytes_of(c);
  };
  const std::string one = three + "element face 1\nproperty list uchar int vertex_indices\n";
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  for (const BadMesh& bad : std::vector<BadMesh>{
           {little(one, ""), "the file ends at 'vertex' 1 of 3"},
           {little(one, zeros.substr(1)), "the file ends at 'vertex' 3 of 3"},
           {little(one, zeros), "the file ends at 'face' 1 of 1"},
           {little(one, zeros + face(0, 1, 2).substr(0, 12)), "the file ends at 'face' 1 of 1"},
           {little(one, zeros + face(0, 1, 3)),
            "face 1 names vertex 3, which is out of range 0..2"},
           {little(one, zeros + face(0, 1, -1)),
            "face 1 names vertex -1, which is out of range 0..2"},
           {little(one, zeros + face(0, 1, 2) + "x"),
            "bytes behind the last element: the counts of the header do not fit"},
           {little(one, zeros + face(0, 1, 2) + "\n\n"),
            "bytes behind the last element: the counts of the header do not fit"},
           {little(one, zeros.substr(24) + bytes_of(nan)), "vertex 2: x = 'nan' is not finite"},
           {little(one, zeros.substr(20) + bytes_of(-inf)), "vertex 2: y = '-inf' is not finite"},
           {little("element vertex 1\nproperty double x\nproperty double y\nproperty double z\n",
                   bytes_of(1e80)),
            "vertex 1: x = '1e+80' is larger than 1e75, the most that is taken"},
           {little(three + "element face 1\nproperty list char int vertex_index\n", zeros + "\xff"),
            "a list 'vertex_index' of length -1"},
           {little("element extra 1\nproperty list uint double a\n" + one,
                   bytes_of(std::uint32_t{4294967295u}) + zeros),
            "the file ends at 'extra' 1 of 1"},
           {little("element vertex 2147483647\n" + xyz, zeros),
            "the file ends at 'vertex' 4 of 2147483647"},
           {little("element extra 1000000000000\nproperty int a\n" + one, zeros),
            "the file ends at 'extra' 10 of 1000000000000"},
       }) {
    INFO(bad.bytes);
    CHECK(mesh_message("a.ply", bad.bytes) == "a.ply: " + bad.message);
  }
  // Elements without properties take no bytes, however many there are.
  CHECK(parse_as("a.ply", little("element nothing 1000000000000\n" + one, zeros + face(0, 1, 2)))
            .faces() == 1);
}
