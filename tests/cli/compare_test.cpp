#include "run_cnc.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <set>

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
    CHECK(row["spmv"]["seconds"].get<double>() > 0);
    CHECK(row["spmv"]["bandwidth_fraction"].get<double>() > 0);
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
    CHECK(row["pcg_iteration"]["seconds"].get<double>() > 0);
  }
}

TEST_CASE("compare prints tables that fit 100 columns") {
  const Run run = run_cnc({"compare", "elasticity2d:6", "--min-time", "0.001", "--repeats", "1"});
  CAPTURE(run.out, run.err);
  CHECK(run.code == 0);
  for (const char* part : {"Bandwidth", "SpMV", "GFLOP/s", "PCG/iter", "axpy", "dot", "Fastest"})
    CHECK(contains(run.out, part));
  std::size_t begin = 0;
  while (begin < run.out.size()) {
    const std::size_t end = run.out.find('\n', begin);
    CHECK(end - begin <= 100);
    begin = end + 1;
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
