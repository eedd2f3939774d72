#include "run_cnc.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

using namespace cnc::test;
using nlohmann::json;

namespace {

json structure_of(const std::string& source) {
  const Run run = run_cnc({"info", source, "--json", "-"});
  CAPTURE(source, run.err);
  REQUIRE(run.code == 0);
  return json::parse(run.out)["structure"];
}

}  // namespace

TEST_CASE("what generate writes reads back as the same matrix") {
  const Workplace place;
  for (const char* problem : {"elasticity2d:5", "convection3d:4:10"})
    for (const char* name : {"a.mtx", "a.mtx.gz", "a.cnc"}) {
      const Run run = run_cnc({"generate", problem, "-o", place.path(name)});
      CAPTURE(problem, name, run.err);
      CHECK(run.code == 0);
      CHECK(contains(run.out, name));
      CHECK(structure_of(place.path(name)) == structure_of(problem));
    }
  CHECK(place.names().size() == 3);
}

TEST_CASE("generate also converts files") {
  const Workplace place;
  REQUIRE(run_cnc({"generate", "wathen:3x3", "-o", place.path("a.cnc"), "-q"}).out.empty());
  REQUIRE(run_cnc({"generate", place.path("a.cnc"), "-o", place.path("a.mtx")}).code == 0);
  CHECK(structure_of(place.path("a.mtx")) == structure_of("wathen:3x3"));
  for (const char* name : {"b.cnc", "b.mtx", "b.mtx.gz"}) {
    const Run run = run_cnc({"generate", place.path("a.mtx"), "-o", place.path(name)});
    CAPTURE(name, run.err);
    CHECK(run.code == 0);
    CHECK(structure_of(place.path(name)) == structure_of("wathen:3x3"));
  }
}
