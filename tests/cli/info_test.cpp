#include "run_cnc.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <sstream>

using namespace cnc::test;
using nlohmann::json;

namespace {

json info_json(const std::string& source) {
  const Run run = run_cnc({"info", source, "--json", "-"});
  CAPTURE(source, run.err);
  REQUIRE(run.code == 0);
  return json::parse(run.out);
}

std::string matrix(const std::string& size_and_entries) {
  return "%%MatrixMarket matrix coordinate real general\n" + size_and_entries;
}

}  // namespace

TEST_CASE("info describes a matrix") {
  const Run run = run_cnc({"info", "elasticity2d:10"});
  CAPTURE(run.out, run.err);
  CHECK(run.code == 0);
  for (const char* part : {"220 x 220", "Symmetry", "SPD", "Bandwidth", "Diagonals", "d2 1.00",
                           "Format", "bcsr:2", "entries in row", "+----"})
    CHECK(contains(run.out, part));
}

TEST_CASE("info gives its facts as JSON") {
  const json facts = info_json("poisson2d:4x3");
  CHECK(facts["structure"]["rows"] == 12);
  CHECK(facts["structure"]["nonzeros"] == 12 + 2 * (3 * 3 + 4 * 2));
  CHECK(facts["structure"]["diagonals"] == 5);
  CHECK(facts["structure"]["value_symmetric"] == true);
  CHECK(facts["structure"]["block_occupancy"].size() == 6);
  CHECK(facts["spd"]["verdict"] == "no evidence against");
  CHECK(facts["formats"].size() >= 2);
  int rows = 0;
  for (const json& bin : facts["row_histogram"]) rows += bin["rows"].get<int>();
  CHECK(rows == 12);
}

TEST_CASE("info shows the levels of multigrid where they are asked for") {
  CHECK(!info_json("poisson2d:30").contains("multigrid"));
  const Run run = run_cnc({"info", "elasticity3d:8", "--precondition", "amg:smoother=l1-jacobi"});
  CAPTURE(run.out, run.err);
  CHECK(run.code == 0);
  for (const char* part : {"Multigrid", "levels in float", "dense inverse", "bcsr:3",
                           "smoothed by 2 sweeps of l1-jacobi", "set-up: aggregates"})
    CHECK(contains(run.out, part));
  const Run as_json =
      run_cnc({"info", "poisson2d:30", "--precondition", "amg:coarsest=40", "--json", "-"});
  const json multigrid = json::parse(as_json.out)["multigrid"];
  CHECK(multigrid["levels"].size() >= 2);
  CHECK(multigrid["levels"][0]["rows"] == 900);
  CHECK(multigrid["smoother"] == "chebyshev");
  CHECK(multigrid["smoother_degree"] == 2);

  const Workplace place;
  const auto refused = [](const std::vector<std::string>& arguments, const char* why) {
    const Run bad = run_cnc(arguments);
    INFO(bad.err);
    CHECK(bad.code == 2);
    CHECK(contains(bad.err, why));
  };
  const std::string none = place.file("none.mtx", matrix("2 2 2\n1 2 1\n2 1 1\n")),
                    wide = place.file("wide.mtx", matrix("2 3 1\n1 1 1\n"));
  refused({"info", none, "--precondition", "amg"}, "row 0 (counted from 0) has no diagonal entry");
  refused({"info", wide, "--precondition", "amg"}, "the matrix is not square");
  refused({"info", wide, "--precondition", "jacobi"}, "takes amg[:OPTION,...] only");
  refused({"info", "poisson2d:4", "--coordinates", "x.mtx"}, "--coordinates requires");
}

TEST_CASE("info says what speaks against positive definiteness") {
  const Workplace place;
  const auto reason = [&](const std::string& text) {
    const json spd = info_json(place.file("a.mtx", matrix(text)))["spd"];
    return spd["verdict"].get<std::string>() + ": " + spd["reason"].get<std::string>();
  };
  CHECK(contains(reason("2 2 2\n1 1 1\n2 2 -1\n"),
                 "no: the diagonal of row 1 (counted from 0) is -1"));
  CHECK(contains(reason("2 2 1\n1 1 1\n"), "no: the diagonal of row 1 (counted from 0) is 0"));
  CHECK(
      contains(reason("2 2 4\n1 1 1\n1 2 2\n2 1 2\n2 2 1\n"), "no: rows 0 and 1 (counted from 0)"));
  CHECK(contains(reason("2 2 3\n1 1 1\n1 2 2\n2 2 1\n"), "no: its pattern is not symmetric"));
  CHECK(contains(reason("2 2 4\n1 1 1\n1 2 .5\n2 1 .2\n2 2 1\n"), "no: it is not symmetric"));
  CHECK(contains(reason("2 3 1\n1 1 1\n"), "no: it is not square"));
  CHECK(contains(reason("2 2 4\n1 1 2\n1 2 1\n2 1 1\n2 2 2\n"), "yes: "));
  // Every 2 x 2 minor is positive, the eigenvalue 1 - 2 * 0.9 is not: only CG can tell.
  CHECK(contains(
      reason("3 3 9\n1 1 1\n1 2 -.9\n1 3 -.9\n2 1 -.9\n2 2 1\n2 3 -.9\n3 1 -.9\n3 2 -.9\n3 3 1\n"),
      "no: CG met negative curvature"));
}

TEST_CASE("info proves nothing that rounding could undo") {
  const Workplace place;
  /// n x n, `diagonal` on the diagonal and `other` elsewhere.
  const auto spd = [&](int n, const std::string& diagonal, const std::string& other) {
    std::ostringstream text;
    text << n << ' ' << n << ' ' << n * n << '\n';
    for (int i = 1; i <= n; ++i)
      for (int j = 1; j <= n; ++j)
        text << i << ' ' << j << ' ' << (i == j ? diagonal : other) << '\n';
    return info_json(place.file("a.mtx", matrix(text.str())))["spd"];
  };
  // Ten times the double nearest to 0.1 is more than 1: the smallest eigenvalue is -5.6e-17.
  CHECK(spd(11, "1", "-0.1")["verdict"] != "yes");
  CHECK(spd(11, "1.000000000000002", "-0.1")["verdict"] != "yes");
  CHECK_FALSE(contains(spd(11, "1", "-0.1")["reason"].get<std::string>(), "semidefinite"));
  // Singular, positive semidefinite: no witness against it is more than rounding.
  CHECK(spd(11, "10", "-1")["verdict"] == "no evidence against");
  CHECK(spd(11, "1.0001", "-0.1")["verdict"] == "yes");
  CHECK(spd(3, "1e-160", "-4e-161")["verdict"] == "yes");
  // A minor that underflows is a witness all the same.
  CHECK(spd(2, "1e-170", "2e-170")["verdict"] == "no");
}

TEST_CASE("info takes degenerate matrices") {
  const Workplace place;
  for (const char* text :
       {"1 1 1\n1 1 5\n", "3 3 0\n", "2 5 2\n1 5 1\n2 1 1\n", "5 1 1\n4 1 2\n"}) {
    const Run run = run_cnc({"info", place.file("a.mtx", matrix(text))});
    CAPTURE(text, run.out, run.err);
    CHECK(run.code == 0);
  }
  // No entries, so no bytes for each of them.
  const Run run = run_cnc({"info", place.file("a.mtx", matrix("3 3 0\n"))});
  CHECK_FALSE(contains(run.out, "per nonzero"));
}

TEST_CASE("info writes a spy plot as PNG") {
  const Workplace place;
  for (const char* source : {"poisson2d:3x3", "poisson2d:40x40"}) {
    REQUIRE(run_cnc({"info", source, "--spy", place.path("a.png")}).code == 0);
    const std::string file = place.read("a.png");
    CHECK(file.substr(0, 8) == "\x89PNG\r\n\x1a\n");
    CHECK(file.size() > 100);
  }
  CHECK(place.names() == std::vector<std::string>{"a.png"});
}
