#include "run_mesh.hpp"

#include <sys/wait.h>

#include <signal.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

using namespace cnc::test;

namespace {

/// Runs a line of the shell in a place of its own; its exit code, and in err what it says.
Run shell(const Workplace& place, const std::string& line) {
  setenv("MAP", CNC_PARAMETERIZE_PATH, 1);
  setenv("SMOOTH", CNC_SMOOTH_PATH, 1);
  setenv("HERE", place.path("").c_str(), 1);
  const int status = std::system(("cd \"$HERE\" && { " + line + "; } 2> err").c_str());
  Run run;
  run.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.err = place.read("err");
  return run;
}

}  // namespace

TEST_CASE("help and version of the programs on meshes") {
  for (const auto& [program, name] :
       {std::pair(&parameterize, "cnc-parameterize"), std::pair(&smooth, "cnc-smooth")}) {
    const Run help = program({"--help"});
    CHECK(help.code == 0);
    CHECK(contains(help.out, "--least-squares"));
    CHECK(contains(help.out, "Exit code"));
    const Run version = program({"--version"});
    CHECK(version.code == 0);
    CHECK(version.out.rfind(std::string(name) + " ", 0) == 0);
    CHECK(lines_in(version.out) == 1);
  }
}

TEST_CASE("programs on meshes say when their output does not arrive") {
  const Workplace place;
  place.file("a.obj", obj_text(hill(3)));
  for (const char* line : {"\"$MAP\" a.obj -o o.obj > /dev/full", "\"$SMOOTH\" a.obj -o o.obj >&-",
                           "\"$SMOOTH\" a.obj -o o.obj --report - > /dev/full"}) {
    const Run run = shell(place, line);
    CAPTURE(line, run.err);
    CHECK(run.code == 2);
    CHECK(contains(run.err, "cannot write to standard output"));
    CHECK(lines_in(run.err) == 1);
  }
}

TEST_CASE("a disk that is full leaves no half of a mesh or a picture") {
  const Workplace place;
  place.file("a.obj", obj_text(hill(60)));
  for (const char* line : {"ulimit -f 8; \"$MAP\" a.obj -o o.obj --max-iterations 2 -q",
                           "ulimit -f 8; \"$SMOOTH\" a.obj -o o.ply -q"}) {
    const Run run = shell(place, line);
    CAPTURE(line, run.err);
    CHECK(run.code == 2);
    CHECK(lines_in(run.err) == 1);
    CHECK(place.names() == std::vector<std::string>{"a.obj", "err"});
  }
}

TEST_CASE("an interrupt ends the map and keeps what there is") {
  const Workplace place;
  // Far from a residual of 1e-15 when the signal comes.
  const std::string mesh = place.file("a.obj", obj_text(hill(220)));
  const int process =
      start_program(CNC_PARAMETERIZE_PATH,
                    {mesh, "-o", place.path("o.obj"), "--rtol", "1e-15", "--max-iterations",
                     "10000000", "--report", place.path("r.json"), "--least-squares", "lsqr"},
                    place.path("out"), place.path("err"));
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!contains(place.read("out"), "Mesh") && std::chrono::steady_clock::now() < patience)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  kill(process, SIGINT);
  CHECK(wait_for(process) == 1);
  CAPTURE(place.read("out"), place.read("err"));
  CHECK(contains(place.read("out"), "stopped"));
  CHECK(lines_of(place.read("o.obj"), "vt").size() == 221 * 221);
  CHECK(nlohmann::json::parse(place.read("r.json"))["status"] == "stopped");
}
