#include "run_cnc.hpp"
#include "support/catch.hpp"

#include <cnc/problems.hpp>
#include <cnc/version.hpp>

using namespace cnc::test;

TEST_CASE("help is offered everywhere") {
  for (const char* command : {"solve", "info", "compare", "generate", "backends"}) {
    const Run run = run_cnc({command, "--help"});
    CAPTURE(command, run.err);
    CHECK(run.code == 0);
    CHECK(contains(run.out, command));
    CHECK(contains(run.out, "--version"));
    CHECK(run.err.empty());
  }
  const Run run = run_cnc({"--help"});
  CHECK(run.code == 0);
  for (const cnc::ProblemInfo& family : cnc::problem_families())
    CHECK(contains(run.out, family.syntax));
}

TEST_CASE("the version is offered everywhere") {
  const std::string expected = std::string("cnc ") + cnc::version_string + "\n";
  CHECK(run_cnc({"--version"}).out == expected);
  for (const char* command : {"solve", "info", "compare", "generate", "backends"}) {
    const Run run = run_cnc({command, "--version"});
    CHECK(run.code == 0);
    CHECK(run.out == expected);
  }
}
