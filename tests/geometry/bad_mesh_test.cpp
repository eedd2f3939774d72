// What is no surface at all, and files that promise more than there is.

#include "mesh_support.hpp"
#include "support/catch.hpp"

#include <random>

using namespace cnc;
using namespace cnc::test;

TEST_CASE("files that are no surface") {
  const std::string neither =
      " not a surface: neither OBJ, OFF, PLY nor STL by its contents or its name";
  for (const BadMesh& bad : std::vector<BadMesh>{{"", " the file is empty"},
                                                 {"hello world\n", neither},
                                                 {"%%MatrixMarket matrix\n", neither},
                                                 {std::string(1000, '\0'), neither},
                                                 {"# only a comment\n", neither},
                                                 {"plyable\n", neither}}) {
    INFO(bad.bytes);
    CHECK(mesh_message("test", bad.bytes) == "test:" + bad.message);
  }
  CHECK(mesh_message("test.obj", std::string(1000, '\0')) == "test.obj: no triangles");
}

TEST_CASE("files that are not there") {
  const TemporaryDirectory directory;
  const std::string missing = directory.file("missing.obj");
  CHECK(message_of([&] { geometry::read_mesh(missing); }) ==
        missing + ": cannot open: No such file or directory");
  CHECK(message_of([&] { geometry::read_mesh(directory.file("")); }) ==
        directory.file("") + ": is a directory");
}

TEST_CASE("damaged gzip") {
  const std::string packed = gzip("OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
  CHECK(mesh_message("test", packed.substr(0, packed.size() - 9)) ==
        "test: the compressed data ends early: the file is truncated");
  std::string damaged = packed;
  damaged[damaged.size() - 7] ^= 1;
  CHECK(mesh_message("test", damaged) ==
        "test: the compressed data is damaged: incorrect data check");
}

TEST_CASE("memory is asked for as vertices and triangles come") {
  detail::ReadOptions options;
  options.memory_limit = 100000;
  std::string text;
  for (int k = 0; k < 3000; ++k) text += "v 0 0 0\n";
  CHECK_THROWS_AS(geometry::parse_mesh(text, "test.obj", options), OutOfMemory);
  text = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
  for (int k = 0; k < 9000; ++k) text += "f 1 2 3\n";
  CHECK_THROWS_AS(geometry::parse_mesh(text, "test.obj", options), OutOfMemory);
  options.memory_limit = 1000000;
  CHECK(geometry::parse_mesh(text, "test.obj", options).faces() == 9000);
}

TEST_CASE("garbage behind any beginning ends in an error or in a surface") {
  std::mt19937 random(7);
  const std::vector<std::string> beginnings = {
      "",
      "OFF\n",
      "OFF 3 1 0\n",
      "solid\n",
      "v 1 2 3\n",
      "f 1 2 3\n",
      "ply\nformat binary_big_endian 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
      "property float z\nelement face 2\nproperty list uchar int vertex_index\nend_header\n"};
  int refused = 0;
  for (int k = 0; k < 2000; ++k) {
    std::string bytes = beginnings[static_cast<std::size_t>(k) % beginnings.size()];
    for (std::size_t n = random() % 200; n > 0; --n) bytes += static_cast<char>(random());
    refused += message_of([&] { parse_as("test.obj", bytes); }) != "nothing";
  }
  CHECK(refused > 1900);
}
