#include "run_cnc.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <signal.h>

#include <chrono>
#include <csignal>
#include <thread>

using namespace cnc::test;

TEST_CASE("an interrupt stops the solve, keeps its results and ends with code 1") {
  const Workplace place;
  // A million unknowns: minutes away from convergence when the signal comes.
  const int process = start_cnc({"solve", "poisson2d:1000x1000", "--rtol", "1e-14",
                                 "--max-iterations", "1000000", "--json", place.path("r.json")},
                                place.path("out"), place.path("err"));
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (!contains(place.read("out"), "Matrix") && std::chrono::steady_clock::now() < patience)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  kill(process, SIGINT);
  CHECK(wait_for(process) == 1);
  CAPTURE(place.read("out"), place.read("err"));
  CHECK(contains(place.read("out"), "stopped"));
  REQUIRE(place.has("r.json"));
  CHECK(nlohmann::json::parse(place.read("r.json"))["report"]["status"] == "stopped");
}

TEST_CASE("an interrupt that the caller ignores is ignored") {
  const Workplace place;
  std::signal(SIGINT, SIG_IGN);  // as a shell does for what it starts in the background
  const int process = start_cnc({"solve", "poisson2d:300x300", "--rtol", "1e-15", "--max-seconds",
                                 "3", "--max-iterations", "100000000", "--rhs", "random:1"},
                                place.path("out"), place.path("err"));
  std::signal(SIGINT, SIG_DFL);
  while (!contains(place.read("out"), "Matrix"))
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  kill(process, SIGINT);
  CHECK(wait_for(process) == 1);
  CAPTURE(place.read("out"));
  CHECK_FALSE(contains(place.read("out"), "stopped"));
}
