#include "run_cnc.hpp"
#include "support/catch.hpp"

#include <sys/wait.h>

#include <cstdlib>

using namespace cnc::test;

namespace {

/// Runs a line of the shell in which $CNC is the program; its exit code, and in err what it says.
Run shell(const Workplace& place, const std::string& line) {
  setenv("CNC", CNC_CLI_PATH, 1);
  setenv("HERE", place.path("").c_str(), 1);
  const int status = std::system(("cd \"$HERE\" && { " + line + "; } 2> err").c_str());
  Run run;
  run.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.err = place.read("err");
  return run;
}

}  // namespace

TEST_CASE("output that cannot be written is an error, of help and version too") {
  const Workplace place;
  for (const char* arguments :
       {"--help", "--version", "solve --help", "info poisson2d:4x4", "backends",
        "solve poisson2d:4x4 --json -", "generate poisson2d:4x4 -o a.mtx"})
    for (const char* where : {"> /dev/full", ">&-"}) {
      const Run run = shell(place, std::string("\"$CNC\" ") + arguments + " " + where);
      CAPTURE(arguments, where, run.err);
      CHECK(run.code == 2);
      CHECK(run.err == "cnc: cannot write to standard output\n");
    }
}

TEST_CASE("a reader who leaves costs no result and leaves no message") {
  const Workplace place;
  const Run run = shell(place,
                        "{ sleep 0.2; \"$CNC\" solve poisson2d:9x9 -o x.mtx --history h.csv "
                        "--json r.json; echo $? > code; } | true");
  CHECK(run.code == 0);
  CHECK(run.err.empty());
  CHECK(place.read("code") == "141\n");
  for (const char* name : {"x.mtx", "h.csv", "r.json"}) CHECK(place.has(name));
}

TEST_CASE("closed standard streams do not end up in results") {
  const Workplace place;
  const Run run = shell(place, "\"$CNC\" solve poisson2d:9x9 -q -o x.mtx <&- >&- 2>&-");
  CHECK(run.code == 0);
  REQUIRE(run_cnc({"solve", "poisson2d:9x9", "-q", "-o", place.path("y.mtx")}).code == 0);
  CHECK(place.read("x.mtx") == place.read("y.mtx"));
}

TEST_CASE("a file that may not grow is an error and leaves nothing behind") {
  const Workplace place;
  const Run run = shell(place, "ulimit -f 4; \"$CNC\" generate poisson3d:20 -o a.mtx");
  CAPTURE(run.err);
  CHECK(run.code == 2);
  CHECK(contains(run.err, "a.mtx"));
  CHECK(lines_in(run.err) == 1);
  CHECK_FALSE(place.has("a.mtx"));
}
