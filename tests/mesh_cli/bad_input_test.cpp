#include "run_mesh.hpp"

using namespace cnc::test;

namespace {

/// A square of two triangles, and what comes behind it.
const std::string square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n";

struct BadMesh {
  const char* name;
  std::string text;
  const char* reason;
};

/// One line on standard error that begins with the program, and nothing is written.
void check_refused(const Workplace& place, const Run& run, const std::string& program,
                   const std::string& reason) {
  CAPTURE(run.out, run.err, reason);
  CHECK(run.code == 2);
  CHECK(run.err.rfind(program + ": ", 0) == 0);
  CHECK(lines_in(run.err) == 1);
  CHECK(contains(run.err, reason));
  CHECK_FALSE(place.has("o.obj"));
  CHECK_FALSE(place.has("r.json"));
}

}  // namespace

TEST_CASE("a mesh that is no surface is refused in one sentence") {
  const Workplace place;
  const std::vector<BadMesh> meshes = {
      {"edge.obj", square + "v 0 0 1\nf 1 3 5\n", "edge 1-3 has more than two triangles"},
      {"turned.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 4 3\n",
       "oriented against each other"},
      {"fan.obj", square + "v 2 2 0\nv 2 1 0\nf 3 6 5\n", "vertex 3 are not one fan"},
      {"twice.obj", square + "f 1 1 4\n", "names vertex 1 twice"},
      {"range.obj", square + "f 1 3 9\n", "range.obj:7:"},
      {"nan.obj", "v 0 nan 0\n" + square, "nan.obj:1:"},
      {"huge.obj", "v 0 1e300 0\n" + square, "huge.obj:1:"},
      {"empty.obj", "", "empty.obj"},
      {"points.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n", "triangle"},
      {"short.off", "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n", "short.off"},
      {"text.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0", "text.stl"},
      {"packed.obj.gz", std::string("\x1f\x8b\x08\x00\x00\x00", 6), "packed.obj.gz"},
      {"noise.ply", std::string("\x00\x01\x02\xff\xfe rubbish", 13), "noise.ply"}};
  for (const BadMesh& mesh : meshes) {
    const std::string path = place.file(mesh.name, mesh.text);
    const std::vector<std::string> words = {path, "-o", place.path("o.obj"), "--report",
                                            place.path("r.json")};
    check_refused(place, parameterize(words), "cnc-parameterize", mesh.reason);
    check_refused(place, smooth(words), "cnc-smooth", mesh.reason);
  }
}

TEST_CASE("what cannot be laid flat is refused by name") {
  const Workplace place;
  const std::vector<BadMesh> meshes = {
      {"ball.obj", obj_text(sphere(1)), "closed surface: cut it first"},
      {"flat.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n",
       "triangle 1 has no area, and without such triangles (1 in all; counted from 1) the surface "
       "falls apart"},
      {"point.obj", "v 1 1 1\nv 1 1 1\nv 1 1 1\nf 1 2 3\n", "triangle 1 has no area"}};
  for (const BadMesh& mesh : meshes)
    check_refused(place,
                  parameterize({place.file(mesh.name, mesh.text), "-o", place.path("o.obj")}),
                  "cnc-parameterize", mesh.reason);
}

TEST_CASE("a triangle without an area is smoothed like any other") {
  const Workplace place;
  const std::string mesh = place.file("flat.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n");
  for (const char* weights : {"uniform", "cotangent"}) {
    const Run run = smooth({mesh, "-o", place.path("o.obj"), "--picture", place.path("p.png"),
                            "--weights", weights, "--fix", "none"});
    CAPTURE(run.err);
    CHECK(run.code == 0);
    CHECK_FALSE(contains(place.read("o.obj"), "nan"));
  }
}

TEST_CASE("options that make no sense are refused in one sentence") {
  const Workplace place;
  const std::string mesh = place.file("a.obj", square);
  const std::string pins = place.file("pins.txt", "1 0 0\n2 x 0\n");
  const auto refused_by = [&](const auto& program, const std::string& name,
                              std::vector<std::string> options, const std::string& reason) {
    std::vector<std::string> words = {mesh, "-o", place.path("o.obj")};
    words.insert(words.end(), options.begin(), options.end());
    check_refused(place, program(words), name, reason);
  };
  const auto no_map = [&](std::vector<std::string> options, const std::string& reason) {
    refused_by(parameterize, "cnc-parameterize", std::move(options), reason);
  };
  const auto not_smoothed = [&](std::vector<std::string> options, const std::string& reason) {
    refused_by(smooth, "cnc-smooth", std::move(options), reason);
  };
  no_map({"--pins", "1"}, "one pin does not hold a surface");
  no_map({"--pins", "1,9"}, "'9' is no pin VERTEX or VERTEX:U:V (vertices are 1 to 4)");
  no_map({"--pins", "1:0:0,2:0:0"}, "vertices 1 and 2 are at one place");
  no_map({"--pins", pins}, "pins.txt:2: '2 x 0' is no pin");
  no_map({"--pins", place.path("none.txt")}, "cannot open");
  no_map({"--picture", place.path("p.gif")}, "unknown kind of picture (known: .png, .svg)");
  no_map({"--least-squares", "qr"}, "unknown least squares method 'qr'");
  no_map({"--backend", "abacus"}, "abacus");
  no_map({"--rtol", "-1"}, "--rtol");
  no_map({"--threads", "0"}, "--threads");
  no_map({"extra", "words"}, "not expected: ");
  not_smoothed({"--fix", "0"}, "'0' is no vertex or range A-B (vertices are 1 to 4)");
  not_smoothed({"--fix", "3-2"}, "'3-2' is no vertex");
  not_smoothed({"--fix", "2-99999999999"}, "is no vertex");
  not_smoothed({"--fix", place.path("none.txt")}, "cannot open");
  not_smoothed({"--fit", "nan"}, "--fit");
  not_smoothed({"--weights", "heavy"}, "--weights");
  not_smoothed({"--picture", place.path("p.svg")}, "unknown kind of picture (known: .png)");
  not_smoothed({"--view", "10"}, "--view");
}

TEST_CASE("files that are missing or cannot be written are named before any work") {
  const Workplace place;
  const std::string mesh = place.file("a.obj", square);
  for (const auto& program :
       {std::pair(&parameterize, "cnc-parameterize"), std::pair(&smooth, "cnc-smooth")}) {
    const auto refused = [&](std::vector<std::string> words, const std::string& reason) {
      check_refused(place, program.first(words), program.second, reason);
    };
    refused({}, "MESH");
    refused({mesh}, "--output");
    refused({place.path("no.obj"), "-o", place.path("o.obj")}, "no.obj: cannot open");
    refused({place.path(""), "-o", place.path("o.obj")}, "is a directory");
    refused({mesh, "-o", place.path("o.stl")}, "o.stl");
    refused({mesh, "-o", place.path("none/o.obj")}, "no directory");
    refused({mesh, "-o", mesh}, "an output would replace an input");
    refused({mesh, "-o", place.path("o.obj"), "--report", place.path("o.obj")},
            "two results cannot go to one file");
    CHECK(place.read("a.obj") == square);
  }
}
