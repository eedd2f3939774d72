#include "run_cnc.hpp"
#include "support/catch.hpp"

#include <cnc/backend.hpp>

#include <nlohmann/json.hpp>

using namespace cnc::test;
using nlohmann::json;

TEST_CASE("backends lists what the registry holds and what was not built") {
  const Run run = run_cnc({"backends", "--variants"});
  CAPTURE(run.out, run.err);
  CHECK(run.code == 0);
  for (const cnc::Backend* backend : cnc::backends()) CHECK(contains(run.out, backend->name));
  for (const char* name : {"cuda", "hip"}) CHECK(contains(run.out, name));
}

TEST_CASE("backends says in JSON what auto takes and what is usable") {
  const Run run = run_cnc({"backends", "--json", "-"});
  REQUIRE(run.code == 0);
  const json result = json::parse(run.out);
  bool found = false;
  for (const json& backend : result["backends"]) {
    CHECK(backend["detail"].is_string());
    if (backend["name"] == result["auto"]) {
      found = true;
      CHECK(backend["usable"] == true);
    }
    if (backend["name"] == "reference") CHECK(backend["usable"] == true);
  }
  CHECK(found);
}
