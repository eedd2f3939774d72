#include "run_mesh.hpp"

#include <cmath>

using namespace cnc::test;

TEST_CASE("cnc-parameterize maps a surface, draws it and reports") {
  const Workplace place;
  const std::string mesh = place.file("hill.obj", obj_text(hill(20)));
  const Run run = parameterize({mesh, "-o", place.path("out.obj"), "--picture", place.path("p.png"),
                                "--picture-size", "200", "--report", place.path("r.json")});
  CAPTURE(run.out, run.err);
  CHECK(run.code == 0);
  CHECK(run.err.empty());
  for (const char* word : {"441 vertices, 800 triangles, 1 part, 1 boundary loop", "converged",
                           "least squares conformal", "Flipped      0 of 800"})
    CHECK(contains(run.out, word));
  const std::string out = place.read("out.obj");
  CHECK(numbers_of(lines_of(out, "v")) == numbers_of(lines_of(obj_text(hill(20)), "v")));
  CHECK(lines_of(out, "vt").size() == 441);
  CHECK(lines_of(out, "f").size() == 800);
  CHECK(size_of_png(place.read("p.png")) == std::pair(200u, 100u));

  const nlohmann::json json = nlohmann::json::parse(place.read("r.json"));
  CHECK(json["program"] == "cnc-parameterize");
  CHECK(json["method"] == "lscm");
  CHECK(json["mesh"]["vertices"] == 441);
  CHECK(json["mesh"]["triangles"] == 800);
  CHECK(json["mesh"]["components"] == 1);
  CHECK(json["backend"] == "openmp");
  CHECK(json["least_squares"] == "normal-equations");
  CHECK_FALSE(json["format"].get<std::string>().empty());
  CHECK(json["converged"] == true);
  CHECK(json["iterations"] > 10);
  CHECK(json["relative_residual"] <= 1e-8);
  CHECK(json["solves"].size() == 1);
  CHECK(json["solves"][0]["history"].size() > 10);
  CHECK(json["charts"][0]["pins"].size() == 2);
  for (const char* part : {"reading", "topology", "assembly", "set_up", "solving", "writing"})
    CHECK(json["seconds"][part] >= 0);
  CHECK(json["distortion"]["angle"]["mean"] > 1);
  CHECK(json["distortion"]["angle"]["mean"] < 1.05);
  CHECK(json["distortion"]["angle"]["max"] >= json["distortion"]["angle"]["p99"]);
  CHECK(json["distortion"]["area"]["max"] >= json["distortion"]["area"]["mean"]);
  CHECK(json["flipped"] == 0);
}

TEST_CASE("every format of a mesh is read, OBJ and PLY are written, plain and packed") {
  const Workplace place;
  const std::string obj = place.file("a.obj", obj_text(hill(6)));
  REQUIRE(parameterize({obj, "-o", place.path("b.ply"), "-q"}).code == 0);
  REQUIRE(parameterize({place.path("b.ply"), "-o", place.path("c.obj.gz"), "-q"}).code == 0);
  REQUIRE(parameterize({place.path("c.obj.gz"), "-o", place.path("d.ply.gz"), "-q"}).code == 0);
  REQUIRE(parameterize({place.path("d.ply.gz"), "-o", place.path("e.obj"), "-q"}).code == 0);
  REQUIRE(parameterize({obj, "-o", place.path("f.obj"), "-q"}).code == 0);
  CHECK(place.read("e.obj") == place.read("f.obj"));
  const std::string off =
      place.file("a.off", "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 1\n3 0 1 2\n3 0 2 3\n");
  CHECK(parameterize({off, "-o", place.path("g.obj"), "-q"}).code == 0);
  const std::string stl = place.file("a.stl",
                                     "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n"
                                     "vertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n");
  CHECK(parameterize({stl, "-o", place.path("h.obj"), "-q"}).code == 0);
}

TEST_CASE("pins are given as a list or a file, and are in the output as they were given") {
  const Workplace place;
  const std::string mesh = place.file("hill.obj", obj_text(hill(4)));
  const std::string file = place.file("pins.txt", "# vertex u v\n1 0.125 -3\n\n25 1 0.5 # last\n");
  const Run list = parameterize({mesh, "-o", place.path("a.obj"), "--pins", "1:0.125:-3,25:1:0.5"});
  CAPTURE(list.err);
  CHECK(list.code == 0);
  CHECK(contains(list.out, "pins at vertices 1 and 25"));
  REQUIRE(parameterize({mesh, "-o", place.path("b.obj"), "-q", "--pins", file}).code == 0);
  CHECK(place.read("a.obj") == place.read("b.obj"));
  const std::vector<std::string> uv = lines_of(place.read("a.obj"), "vt");
  CHECK(uv.front() == "0.125 -3");
  CHECK(uv.back() == "1 0.5");
  CHECK(parameterize({mesh, "-o", place.path("c.obj"), "-q", "--pins", "1,25"}).code == 0);
}

TEST_CASE("parts, vertices without a triangle and polygons are reported") {
  const Workplace place;
  const Mesh two = together(hill(3), flat_grid(2));
  const std::string mesh =
      place.file("two.obj", obj_text(two) + "v 5 5 5\nv 0 9 0\nv 1 9 0\nv 1 9 1\nv 0 9 1\n" +
                                "f 27 28 29 30\n");
  const Run run = parameterize({mesh, "-o", place.path("o.obj"), "--picture", place.path("p.svg"),
                                "--report", place.path("r.json")});
  CAPTURE(run.out, run.err);
  CHECK(run.code == 0);
  CHECK(contains(run.out, "3 parts"));
  CHECK(contains(run.out, "1 polygon cut into triangles; 1 vertex without a triangle"));
  const std::vector<std::string> uv = lines_of(place.read("o.obj"), "vt");
  REQUIRE(uv.size() == 30);
  CHECK(uv[25] == "0 0");
  const nlohmann::json json = nlohmann::json::parse(place.read("r.json"));
  CHECK(json["charts"].size() == 3);
  CHECK(json["solves"].size() == 3);
  CHECK(json["mesh"]["isolated_vertices"] == 1);
  const std::string svg = place.read("p.svg");
  CHECK(svg.rfind("<svg ", 0) == 0);
  CHECK(contains(svg, "</svg>"));
  CHECK_FALSE(contains(svg, "nan"));
}

TEST_CASE("a spectral map has no pins, and says what is left of its energy") {
  const Workplace place;
  const std::string mesh = place.file("hill.obj", obj_text(hill(12)));
  const Run run = parameterize(
      {mesh, "-o", place.path("o.obj"), "--method", "spectral", "--report", place.path("r.json")});
  CAPTURE(run.out, run.err);
  CHECK(run.code == 0);
  CHECK(contains(run.out, "spectral conformal, eigenvalue"));
  const nlohmann::json json = nlohmann::json::parse(place.read("r.json"));
  CHECK(json["method"] == "spectral");
  CHECK(json["options"]["rtol"] == 1e-4);
  CHECK(json["charts"][0]["pins"].empty());
  CHECK(json["charts"][0]["eigenvalue"] > 0);
  CHECK(json["charts"][0]["solves"] >= 2);
  CHECK(json["flipped"] == 0);
  const Run refused =
      parameterize({mesh, "-o", place.path("p.obj"), "--method", "spectral", "--pins", "1,2"});
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, "a spectral map has no pins"));
}

TEST_CASE("a limit that comes first is code 1, and the result is written") {
  const Workplace place;
  const std::string mesh = place.file("hill.obj", obj_text(hill(20)));
  const Run run = parameterize(
      {mesh, "-o", place.path("o.obj"), "--max-iterations", "3", "--report", place.path("r.json")});
  CHECK(run.code == 1);
  CHECK(contains(run.out, "max_iterations"));
  CHECK(lines_of(place.read("o.obj"), "vt").size() == 441);
  CHECK(nlohmann::json::parse(place.read("r.json"))["status"] == "max_iterations");
}

TEST_CASE("methods, precisions, threads and backends are chosen") {
  const Workplace place;
  const std::string mesh = place.file("hill.obj", obj_text(hill(8)));
  const auto angle_with = [&](std::vector<std::string> options) {
    std::vector<std::string> words = {mesh, "-o", place.path("o.obj"), "--report", "-"};
    words.insert(words.end(), options.begin(), options.end());
    const Run run = parameterize(words);
    CAPTURE(run.err);
    REQUIRE(run.code == 0);
    const nlohmann::json json = nlohmann::json::parse(run.out);
    for (std::size_t k = 0; k + 1 < options.size(); k += 2)
      if (options[k] == "--least-squares") CHECK(json["least_squares"] == options[k + 1]);
    return json["distortion"]["angle"]["mean"].get<double>();
  };
  const double angle = angle_with({});
  for (const char* method : {"lsqr", "cgnr", "normal-equations"})
    CHECK(std::abs(angle_with({"--least-squares", method}) - angle) < 1e-6);
  CHECK(std::abs(angle_with({"--precision", "f32/f64"}) - angle) < 1e-6);
  CHECK(std::abs(angle_with({"--precision", "f32"}) - angle) < 1e-2);
  CHECK(std::abs(angle_with({"--backend", "reference", "--threads", "1"}) - angle) < 1e-6);
}
