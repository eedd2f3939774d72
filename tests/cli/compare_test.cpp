#include "run_cnc.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <regex>
#include <set>
#include <sstream>

using namespace cnc::test;
using nlohmann::json;

namespace {

json compare_json(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "compare");
  arguments.insert(arguments.end(), {"--min-time", "0.001", "--repeats", "2", "--json", "-"});
  const Run run = run_cnc(arguments);
  CAPTURE(arguments, run.err);
  REQUIRE(run.code == 0);
  return json::parse(run.out);
}

/// A figure is above its noise and, unless marked, below what a stream reads; or it is null.
void check_honest(const json& figure) {
  CAPTURE(figure.dump());
  if (figure["below_noise"].get<bool>()) {
    for (const char* name : {"seconds", "gigabytes_per_second", "gigaflops", "bandwidth_fraction"})
      CHECK(figure[name].is_null());
    return;
  }
  const auto seconds = figure["seconds"].get<double>();
  CHECK(seconds > 0);
  if (figure["repeats"].get<int>() > 1) CHECK(figure["spread_seconds"].get<double>() < seconds);
  CHECK(figure["bandwidth_fraction"].get<double>() > 0);
  CHECK((figure["bandwidth_fraction"].get<double>() > 1.005) ==
        figure["above_read_stream"].get<bool>());
}

/// "(2 threads)" of a line that names a backend so; empty when there is none.
std::string threads_in(const std::string& line) {
  static const std::regex pattern(R"(\(\d+ threads?\))");
  std::smatch found;
  return std::regex_search(line, found, pattern) ? found.str() : "";
}

}  // namespace

TEST_CASE("compare times every backend, format and precision with errors within rounding") {
  const json result = compare_json({"poisson3d:8"});
  std::set<std::string> backends, formats, precisions;
  int measured = 0;
  for (const json& row : result["matrix_operations"]) {
    backends.insert(row["backend"].get<std::string>());
    formats.insert(row["format"].get<std::string>());
    precisions.insert(row["precision"].get<std::string>());
    if (row["spmv"].is_null()) continue;
    ++measured;
    CAPTURE(row.dump());
    check_honest(row["spmv"]);
    CHECK(row["spmv"]["error"].get<double>() < (row["precision"] == "f64" ? 1e-14 : 1e-5));
  }
  CHECK(measured > 0);
  CHECK(backends.count("reference") == 1);
  CHECK(formats.count("csr") == 1);
  CHECK(formats.size() >= 2);
  CHECK(precisions == std::set<std::string>{"f32", "f64", "f32/f64"});
  for (const json& row : result["vector_operations"])
    if (!row["measurement"].is_null()) CHECK(row["measurement"]["error"].get<double>() < 1e-6);
  CHECK(result["bandwidth"]["memory"]["read_bytes_per_second"].get<double>() > 1e8);
}

TEST_CASE("compare measures PCG iterations") {
  const json result = compare_json({"poisson3d:12", "--formats", "csr", "--backends", "reference"});
  CHECK(result["matrix_operations"].size() == 3);
  for (const json& row : result["matrix_operations"]) {
    REQUIRE(row["pcg_iteration"].is_object());
    check_honest(row["pcg_iteration"]);
  }
}

TEST_CASE("compare prints tables that fit 100 columns") {
  const Run run = run_cnc({"compare", "elasticity2d:6", "--min-time", "0.001", "--repeats", "1"});
  CAPTURE(run.out, run.err);
  CHECK(run.code == 0);
  for (const char* part : {"Bandwidth", "SpMV", "GFLOP/s", "PCG/iter", "axpy", "dot", "Fastest"})
    CHECK(contains(run.out, part));
  int columns = 0;
  for (const char c : run.out) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;  // a character of UTF-8
    columns = c == '\n' ? 0 : columns + !continues;
    if (columns > 100) FAIL("a line is longer");
  }
}

TEST_CASE("compare leaves PCG out for a rectangular matrix and says so") {
  const Workplace place;
  const std::string file =
      place.file("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 1\n2 3 2\n");
  const Run run = run_cnc({"compare", file, "--min-time", "0.001", "--repeats", "1"});
  CAPTURE(run.out, run.err);
  CHECK(run.code == 0);
  CHECK(contains(run.out, "PCG left out: it needs a square matrix"));
}

TEST_CASE("compare prints no figure that is inside its noise") {
  // An iteration takes a fraction of what a solve does besides.
  const json result = compare_json({"poisson2d:6x6", "--formats", "csr"});
  for (const json& row : result["matrix_operations"])
    for (const char* operation : {"spmv", "pcg_iteration"})
      if (!row[operation].is_null()) check_honest(row[operation]);
  for (const json& row : result["vector_operations"])
    if (!row["measurement"].is_null()) check_honest(row["measurement"]);
}

TEST_CASE("compare repeats a PCG iteration as often as it is asked to") {
  const Run run = run_cnc({"compare", "poisson3d:8", "--formats", "csr", "--backends", "reference",
                           "--repeats", "9", "--min-time", "0", "--json", "-"});
  REQUIRE(run.code == 0);
  const json result = json::parse(run.out);
  REQUIRE(result["matrix_operations"].size() == 3);
  for (const json& row : result["matrix_operations"]) {
    CHECK(row["spmv"]["repeats"] == 9);
    CHECK(row["pcg_iteration"]["repeats"] == 9);
  }
}

TEST_CASE("compare says how many threads each backend has and compares equals") {
  const json result = compare_json({"poisson3d:8", "--formats", "csr,dia", "--threads", "2"});
  for (const json& row : result["matrix_operations"]) {
    if (row["backend"] == "openmp") CHECK(row["threads"] == 2);
    if (row["backend"] == "reference") CHECK(row["threads"] == 1);
  }
  CHECK(result["fastest_spmv"].size() == 3);
  for (const json& fastest : result["fastest_spmv"]) {
    CAPTURE(fastest.dump());
    CHECK(fastest["second_best"].is_object());
    const json& same_threads = fastest["same_threads_csr"];
    if (same_threads.is_object()) CHECK(same_threads["threads"] == fastest["threads"]);
  }
  const Run run =
      run_cnc({"compare", "poisson3d:8", "--formats", "csr,dia", "--min-time", "0.001"});
  CHECK(run.code == 0);
  CAPTURE(run.out);
  for (const char* part : {"thr", "spread", "the second best", "threads)"})
    CHECK(contains(run.out, part));
  // Which backend is fastest differs from run to run: what it is set against has as many threads.
  std::istringstream lines(run.out);
  std::string line, best;
  while (std::getline(lines, line)) {
    if (line.rfind("Fastest", 0) == 0) best = threads_in(line);
    if (!contains(line, "csr with as many threads")) continue;
    CAPTURE(line);
    CHECK_FALSE(best.empty());
    CHECK(threads_in(line) == best);
  }
}
