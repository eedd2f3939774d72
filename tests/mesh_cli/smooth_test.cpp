#include "run_mesh.hpp"

#include <cmath>

using namespace cnc::test;

namespace {

Mesh noisy_hill(cnc::index_t n) {
  Noise noise;
  Mesh mesh = hill(n);
  for (Point& p : mesh.points) p[2] += 0.02 * noise();
  return mesh;
}

}  // namespace

TEST_CASE("cnc-smooth smooths a surface, draws it before and after, and reports") {
  const Workplace place;
  const std::string text = obj_text(noisy_hill(16));
  const std::string mesh = place.file("hill.obj", text);
  const Run run =
      smooth({mesh, "-o", place.path("out.obj"), "--picture", place.path("p.png"), "--picture-size",
              "128", "--view", "30", "40", "--up", "z", "--report", place.path("r.json")});
  CAPTURE(run.out, run.err);
  CHECK(run.code == 0);
  CHECK(contains(run.out, "uniform weights, fit 0.3, 64 vertices fixed"));
  CHECK(contains(run.out, "converged"));
  CHECK(size_of_png(place.read("p.png")) == std::pair(128u, 64u));
  const std::vector<double> before = numbers_of(lines_of(text, "v"));
  const std::vector<double> after = numbers_of(lines_of(place.read("out.obj"), "v"));
  REQUIRE(after.size() == before.size());
  for (std::size_t v = 0; v < 289; ++v) {
    const bool border = v % 17 == 0 || v % 17 == 16 || v < 17 || v >= 16 * 17;
    bool same = true;
    for (std::size_t k = 3 * v; k < 3 * v + 3; ++k) same = same && before[k] == after[k];
    CHECK(border == same);
  }
  const nlohmann::json json = nlohmann::json::parse(place.read("r.json"));
  CHECK(json["program"] == "cnc-smooth");
  CHECK(json["fixed_vertices"] == 64);
  CHECK(json["unknowns"] == 289 - 64);
  CHECK(json["equations"] == 2 * (289 - 64));
  CHECK(json["solves"].size() == 3);
  CHECK(json["solves"][2]["of"] == "z");
  CHECK(json["roughness"]["after"] < 0.7 * json["roughness"]["before"].get<double>());
  CHECK(json["moved"]["max"] > json["moved"]["mean"]);
  for (const char* part : {"reading", "assembly", "set_up", "solving", "writing"})
    CHECK(json["seconds"][part] >= 0);
}

TEST_CASE("vertices are fixed by a list, a file, the boundary or none") {
  const Workplace place;
  const std::string mesh = place.file("hill.obj", obj_text(noisy_hill(6)));
  const auto fixed_by = [&](const std::string& fix) {
    const Run run = smooth({mesh, "-o", place.path("o.obj"), "--report", "-", "--fix", fix});
    CAPTURE(fix, run.err);
    REQUIRE(run.code == 0);
    return nlohmann::json::parse(run.out)["fixed_vertices"].get<int>();
  };
  CHECK(fixed_by("none") == 0);
  CHECK(fixed_by("boundary") == 24);
  CHECK(fixed_by("1,3-5,5") == 4);
  CHECK(fixed_by("boundary,25") == 25);
  CHECK(fixed_by(place.file("fixed", "1, 2\n# not 3\n7-9\n")) == 5);
}

TEST_CASE("a closed surface is held by the default fit, and by nothing without") {
  const Workplace place;
  const std::string mesh = place.file("ball.obj", obj_text(sphere(2)));
  CHECK(smooth({mesh, "-o", place.path("o.ply"), "-q"}).code == 0);
  const Run run = smooth({mesh, "-o", place.path("p.ply"), "--fit", "0"});
  CHECK(run.code == 2);
  CHECK(run.err == "cnc-smooth: " + mesh +
                       ": nothing holds the surface: with a fit of 0 each part needs a fixed "
                       "vertex\n");
  CHECK_FALSE(place.has("p.ply"));
  CHECK(smooth({mesh, "-o", place.path("p.ply"), "--fit", "0", "--fix", "1,2,9", "-q"}).code == 0);
}

TEST_CASE("weights and methods are chosen, and find the same surface") {
  const Workplace place;
  const std::string mesh = place.file("ball.obj", obj_text(sphere(2)));
  const auto moved_with = [&](std::vector<std::string> options) {
    std::vector<std::string> words = {mesh, "-o", place.path("o.obj"), "--report", "-"};
    words.insert(words.end(), options.begin(), options.end());
    const Run run = smooth(words);
    CAPTURE(run.err);
    REQUIRE(run.code == 0);
    return nlohmann::json::parse(run.out)["moved"]["mean"].get<double>();
  };
  const double moved = moved_with({});
  for (const char* method : {"lsqr", "cgnr", "normal-equations"})
    CHECK(std::abs(moved_with({"--least-squares", method}) - moved) < 1e-6);
  CHECK(std::abs(moved_with({"--weights", "cotangent"}) - moved) > 1e-5);
  CHECK(std::abs(moved_with({"--precision", "f32"}) - moved) < 1e-4);
}
