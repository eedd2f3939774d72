#include "run_cnc.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <sstream>

using namespace cnc::test;
using nlohmann::json;

namespace {

/// Runs solve with --json - and gives what it printed.
json solve_json(std::vector<std::string> arguments, int expected_code = 0) {
  arguments.insert(arguments.begin(), "solve");
  arguments.insert(arguments.end(), {"--json", "-"});
  const Run run = run_cnc(arguments);
  CAPTURE(arguments, run.err);
  REQUIRE(run.code == expected_code);
  return json::parse(run.out);
}

const char* const two_by_two =
    "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 4\n1 2 1\n2 1 1\n2 2 3\n";

}  // namespace

TEST_CASE("solve converges and says so") {
  const Run run = run_cnc({"solve", "poisson2d:20x20", "--rtol", "1e-9"});
  CAPTURE(run.out, run.err);
  CHECK(run.code == 0);
  CHECK(run.err.empty());
  for (const char* part : {"Matrix", "400 x 400", "Status       converged", "Iterations",
                           "Residual", "Error", "Time", "Speed", "iterations\n"})
    CHECK(contains(run.out, part));
}

TEST_CASE("solve reports the true residual and the error in JSON") {
  const json result = solve_json({"elasticity2d:8", "--rtol", "1e-10"});
  const json& report = result["report"];
  CHECK(report["status"] == "converged");
  CHECK(report["true_residual"].get<double>() <= report["tolerance"].get<double>());
  CHECK(report["relative_residual"].get<double>() <= 1e-10);
  CHECK(result["error"].get<double>() < 1e-6);
  CHECK(report["history"].size() == report["iterations"].get<std::size_t>() + 1);
  CHECK(result["matrix"]["rows"].get<int>() > 0);
}

TEST_CASE("every way to solve leads to the solution") {
  const auto extra = GENERATE(values<std::vector<std::string>>({
      {"--solver", "pcg-single-reduction"},
      {"--solver", "chronopoulos-gear"},
      {"--precondition", "none"},
      {"--precondition", "block-jacobi"},
      {"--precondition", "block-jacobi:2"},
      {"--precondition", "ic0"},
      {"--precondition", "ilu0"},
      {"--precondition", "ilut:0.01"},
      {"--precondition", "ict:0.01"},
      {"--precondition", "chebyshev:3"},
      {"--precondition", "amg"},
      {"--precondition", "amg:degree=1,strength=0.1,coarsest=10,levels=3,cycle=w,plain,double"},
      {"--precondition", "amg", "--reorder", "rcm"},
      {"--format", "csr"},
      {"--format", "bcsr:2"},
      {"--format", "bsell:1"},
      {"--precision", "f32"},
      {"--precision", "f32/f64"},
      {"--backend", "reference"},
      {"--reorder", "rcm"},
      {"--relative-to", "r0"},
      {"--atol", "1e-6", "--rtol", "0"},
      {"--threads", "1"},
  }));
  std::vector<std::string> arguments{"elasticity2d:6"};
  arguments.insert(arguments.end(), extra.begin(), extra.end());
  const json result = solve_json(arguments);
  CHECK(result["report"]["converged"] == true);
  CHECK(result["error"].get<double>() < (extra.back() == "f32" ? 0.05 : 1e-4));
}

TEST_CASE("the arithmetic of products and dots is that of the report") {
  for (const char* name : {"separate", "fused", "compensated-separate", "compensated-fused"}) {
    const json result = solve_json({"elasticity2d:6", "--arithmetic", name});
    CHECK(result["options"]["arithmetic"] == name);
    CHECK(result["report"]["arithmetic"] == name);
    CHECK(result["report"]["form"] == "fused steps");
    CHECK(result["error"].get<double>() < 1e-4);
    const Run run = run_cnc({"solve", "poisson2d:9x9", "--arithmetic", name});
    CAPTURE(run.out);
    CHECK(contains(run.out, "arithmetic " + std::string(name)));
  }
  CHECK(solve_json({"poisson2d:9x9"})["report"]["arithmetic"] == "fast");
  const Run run = run_cnc({"solve", "poisson2d:9x9", "--arithmetic", "fused", "--form", "run"});
  CHECK(run.code == 2);
  CHECK(contains(run.err, "arithmetic 'fused' takes the form 'fused' of pcg"));
  const Run lacks =
      run_cnc({"solve", "poisson2d:9x9", "--arithmetic", "fused", "--backend", "reference"});
  CHECK(lacks.code == 2);
  CHECK(contains(lacks.err, "does not offer arithmetic 'fused'"));
}

TEST_CASE("the norm that decides, and components, are those of the report") {
  const json result = solve_json({"elasticity2d:6", "--norm", "inf", "--components", "2"});
  CHECK(result["options"]["norm"] == "inf");
  CHECK(result["options"]["components"] == 2);
  const json& report = result["report"];
  CHECK(report["norm"] == "inf");
  REQUIRE(report["component_residuals"].size() == 2);
  for (std::size_t c = 0; c < 2; ++c)
    CHECK(report["component_residuals"][c].get<double>() <=
          report["component_tolerances"][c].get<double>());
  CHECK(report["energy_error"].get<double>() > 0);
  const Run run = run_cnc({"solve", "elasticity2d:6", "--norm", "inf", "--components", "2"});
  CAPTURE(run.out);
  CHECK(contains(run.out, "infinity norm, 2 components"));
  CHECK(contains(run.out, "true relative residual in the infinity norm"));
  CHECK(contains(run.out, "1: residual"));
  CHECK(contains(run.out, "in the energy norm, at iteration"));
  for (const std::vector<std::string>& bad :
       {std::vector<std::string>{"--norm", "max"}, {"--components", "0"}, {"--components", "17"}}) {
    std::vector<std::string> arguments{"solve", "poisson2d:5x5"};
    arguments.insert(arguments.end(), bad.begin(), bad.end());
    CHECK(run_cnc(arguments).code == 2);
  }
  const Run both = run_cnc({"solve", "poisson2d:5x5", "--null-space", "constant", "--norm", "inf"});
  CHECK(both.code == 2);
  CHECK(contains(both.err, "null space"));
}

TEST_CASE("solve ends with code 1 when it does not converge, and still writes its results") {
  const Workplace place;
  const Run run =
      run_cnc({"solve", "poisson2d:20x20", "--max-iterations", "3", "--output", place.path("x.mtx"),
               "--history", place.path("h.csv"), "--json", place.path("r.json")});
  CAPTURE(run.out, run.err);
  CHECK(run.code == 1);
  CHECK(contains(run.out, "max_iterations"));
  CHECK(lines_in(place.read("x.mtx")) == 402);
  CHECK(lines_in(place.read("h.csv")) == 5);
  const json result = json::parse(place.read("r.json"));
  CHECK(result["report"]["status"] == "max_iterations");
  CHECK(result["report"]["iterations"] == 3);
  CHECK(place.names() == std::vector<std::string>{"h.csv", "r.json", "x.mtx"});
}

TEST_CASE("a matrix that is not positive definite ends with an honest status") {
  const Workplace place;
  const std::string file = place.file(
      "a.mtx",
      "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 1\n1 2 2\n2 1 2\n2 2 1\n");
  const json result = solve_json({file, "--rhs", "random:3"}, 1);
  CHECK(result["report"]["status"] == "not_positive_definite");
  CHECK(result["error"].is_null());
}

TEST_CASE("a norm that was not computed is null") {
  const Workplace place;
  const std::string file = place.file(
      "a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.7e308\n2 2 1.7e308\n");
  const json report = solve_json({file, "--rhs", "a-times-ones"}, 1)["report"];
  CHECK(report["status"] == "not_finite");
  for (const char* norm : {"initial_residual", "recurrence_residual", "true_residual",
                           "relative_residual", "tolerance"})
    CHECK(report[norm].is_null());
  const Run run = run_cnc({"solve", file, "--rhs", "a-times-ones"});
  CHECK(contains(run.out, "not computed"));
}

TEST_CASE("a nonsymmetric matrix is named, and solved on for who insists") {
  const std::vector<std::string> arguments{"convection3d:9:300", "--max-iterations", "700"};
  const json report = solve_json(arguments, 1)["report"];
  CHECK(contains(report["detail"].get<std::string>(), "not symmetric"));
  CHECK(contains(report["detail"].get<std::string>(), "--allow-nonsymmetric"));
  CHECK(report["status"] == "unsuitable");
  CHECK(report["iterations"] == 0);
  const json insisted =
      solve_json({"convection3d:9:300", "--max-iterations", "700", "--allow-nonsymmetric"}, 1);
  CHECK(insisted["options"]["allow_nonsymmetric"] == true);
  CHECK(contains(insisted["report"]["detail"].get<std::string>(), "not symmetric"));
}

TEST_CASE("the history is one line per iteration and falls below the tolerance") {
  const Workplace place;
  REQUIRE(
      run_cnc({"solve", "poisson3d:8", "--rtol", "1e-8", "--history", place.path("h.csv")}).code ==
      0);
  std::istringstream in(place.read("h.csv"));
  std::string line;
  std::getline(in, line);
  CHECK(line == "iteration,residual,relative_residual");
  int rows = 0;
  double first = 0;
  double last = 0;
  while (std::getline(in, line)) {
    int iteration = -1;
    double residual = -1;
    REQUIRE(std::sscanf(line.c_str(), "%d,%lf,%lf", &iteration, &residual, &last) == 3);
    CHECK(iteration == rows);
    if (rows++ == 0) first = last;
  }
  CHECK(rows > 3);
  CHECK(first > 0.01);
  CHECK(last <= 1e-8);
}

TEST_CASE("a history on standard output is alone there") {
  const Run run = run_cnc({"solve", "poisson2d:5x5", "--history", "-"});
  CHECK(run.code == 0);
  CHECK(run.out.rfind("iteration,residual,relative_residual\n0,", 0) == 0);
  CHECK_FALSE(contains(run.out, "Matrix"));
  CHECK_FALSE(contains(run.out, "Residual"));
}

TEST_CASE("right-hand sides: file, ones, random") {
  const Workplace place;
  const std::string A = place.file("a.mtx", two_by_two);
  const std::string b =
      place.file("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n6\n7\n");  // x = (1, 2)
  REQUIRE(
      run_cnc({"solve", A, "--rhs", b, "--rtol", "1e-14", "-o", place.path("x.mtx"), "-q"}).code ==
      0);
  double x[2] = {};
  std::istringstream in(place.read("x.mtx"));
  std::string banner;
  int rows = 0;
  int cols = 0;
  std::getline(in, banner);
  in >> rows >> cols >> x[0] >> x[1];
  CHECK(rows == 2);
  CHECK(cols == 1);
  CHECK(x[0] == Approx(11.0 / 11).epsilon(1e-12));
  CHECK(x[1] == Approx(22.0 / 11).epsilon(1e-12));

  CHECK(solve_json({A, "--rhs", "ones"})["error"].is_null());
  const json one = solve_json({A, "--rhs", "random:1"});
  CHECK(one["report"]["rhs_norm"] == solve_json({A, "--rhs", "random:1"})["report"]["rhs_norm"]);
  CHECK(one["report"]["rhs_norm"] != solve_json({A, "--rhs", "random:2"})["report"]["rhs_norm"]);
}

TEST_CASE("a matrix that is not square is solved by least squares") {
  // Three points on no line: 6 + 3 t is the nearest, off by 1, -2 and 1.
  const Workplace place;
  const std::string points = place.file(
      "points.mtx",
      "%%MatrixMarket matrix coordinate real general\n3 2 5\n1 1 1\n2 1 1\n2 2 1\n3 1 1\n3 2 2\n");
  const std::string heights =
      place.file("heights.mtx", "%%MatrixMarket matrix array real general\n3 1\n7\n7\n13\n");
  for (const char* solver : {"lsqr", "auto"}) {
    const json report = solve_json({points, "--rhs", heights, "--solver", solver})["report"];
    CHECK(report["method"] == "lsqr");
    CHECK(report["least_squares_residual"].get<double>() == Approx(std::sqrt(6.0)));
    CHECK(report["true_residual"].get<double>() <= report["tolerance"].get<double>());
  }
  const Run run = run_cnc({"solve", points, "--rhs", heights, "--solver", "lsqr"});
  CHECK(run.code == 0);
  CHECK(contains(run.out, "LSQ residual "));
  CHECK(contains(run_cnc({"solve", points}).err, "--solver lsqr"));
}

TEST_CASE("multigrid shows its levels, and takes coordinates") {
  const json own = solve_json({"elasticity2d:30", "--precondition", "amg"});
  const json& levels = own["multigrid"]["levels"];
  REQUIRE(levels.size() > 1);
  CHECK(levels[0]["rows"] == own["matrix"]["rows"]);
  CHECK(levels[0]["block_size"] == 2);
  CHECK(levels[1]["block_size"] == 3);  // as many as there are rigid motions in the plane
  CHECK(own["multigrid"]["in_float"] == true);
  CHECK(own["multigrid"]["operator_complexity"].get<double>() > 1);
  CHECK_FALSE(solve_json({"poisson2d:5"}).contains("multigrid"));
  CHECK(contains(run_cnc({"solve", "elasticity2d:30", "--precondition", "amg"}).out,
                 "levels in float"));

  // The same matrix and coordinates from files.
  const Workplace place;
  const std::string A = place.path("A.mtx");
  REQUIRE(run_cnc({"generate", "elasticity2d:30", "-o", A}).code == 0);
  std::ostringstream points;  // clamped at x = 0, x runs fastest
  points << "%%MatrixMarket matrix array real general\n" << 2 * 30 * 31 << " 1\n";
  for (int y = 0; y <= 30; ++y)
    for (int x = 1; x <= 30; ++x) points << x << '\n' << y << '\n';
  const std::string coordinates = place.file("points.mtx", points.str());
  const json given = solve_json({A, "--precondition", "amg:block=2", "--coordinates", coordinates});
  CHECK(given["report"]["iterations"] == own["report"]["iterations"]);
  const json constants = solve_json({A, "--precondition", "amg:block=2"});
  CHECK(constants["report"]["iterations"].get<int>() > given["report"]["iterations"].get<int>());
}

TEST_CASE("a start vector that solves the system needs no iteration") {
  const Workplace place;
  const std::string x = place.path("x.mtx");
  REQUIRE(run_cnc({"solve", "poisson2d:9x9", "--rtol", "1e-12", "-o", x, "-q"}).code == 0);
  CHECK(solve_json({"poisson2d:9x9", "--x0", x, "--rtol", "1e-8"})["report"]["iterations"] == 0);
}

TEST_CASE("the solution can be written as a binary cache and read back") {
  const Workplace place;
  const std::string x = place.path("x.cnc");
  REQUIRE(run_cnc({"solve", "poisson2d:9x9", "-o", x, "-q", "--rtol", "1e-12"}).code == 0);
  CHECK(solve_json({"poisson2d:9x9", "--x0", x})["report"]["iterations"] == 0);
}

TEST_CASE("quiet prints nothing") {
  const Run run = run_cnc({"solve", "poisson2d:5x5", "--quiet"});
  CHECK(run.code == 0);
  CHECK(run.out.empty());
  CHECK(run.err.empty());
}

TEST_CASE("solve stops at its time limit") {
  const json result = solve_json({"poisson2d:50x50", "--max-seconds", "0"}, 1);
  CHECK(result["report"]["status"] == "time_limit");
}

TEST_CASE("repeated solves start anew, and the first and the later ones are shown") {
  const Workplace place;
  const std::vector<std::string> common{"solve", "poisson2d:40x40", "--rhs", "random:1"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), common.begin(), common.end());
    return run_cnc(more);
  };
  REQUIRE(with({"-q", "-o", place.path("one.mtx")}).code == 0);
  const Run run =
      with({"--repeat", "4", "-o", place.path("four.mtx"), "--json", place.path("r.json")});
  CAPTURE(run.out, run.err);
  REQUIRE(run.code == 0);
  for (const char* part : {"First solve", "Later solves", "an iteration alone", "per iteration",
                           "a product y = A x", "Prepare"})
    CHECK(contains(run.out, part));
  CHECK(place.read("one.mtx") == place.read("four.mtx"));

  const json result = json::parse(place.read("r.json"));
  const json& repeat = result["repeat"];
  CAPTURE(repeat.dump(1));
  CHECK(repeat["solves"] == 4);
  CHECK(repeat["first"]["seconds"].get<double>() >= result["report"]["seconds"].get<double>());
  CHECK(repeat["first"]["iterations"] == result["report"]["iterations"]);
  CHECK(repeat["later"]["repeats"] == 3);
  CHECK(repeat["later"]["iterations"] == result["report"]["iterations"]);
  for (const char* of : {"seconds", "seconds_per_iteration"})  // both within the noise, or neither
    CHECK(repeat["later"][of].is_null() == repeat["later"]["below_noise"].get<bool>());
  CHECK(repeat["notes"].empty());
  CHECK(repeat["product"]["repeats"].get<int>() > 0);
  CHECK(repeat["prepare_again"]["repeats"].get<int>() > 0);
  if (repeat["iteration"]["below_noise"] == false && repeat["later"]["below_noise"] == false) {
    const double iterations = result["report"]["iterations"];
    const double overhead = repeat["later"]["seconds"].get<double>() -
                            iterations * repeat["iteration"]["seconds"].get<double>();
    const json& later = repeat["later"];
    if (later["overhead_seconds"].is_null())
      CHECK(overhead <= later["overhead_noise_seconds"].get<double>());
    else
      CHECK(later["overhead_seconds"].get<double>() == Approx(overhead).margin(1e-12));
  }
  CHECK_FALSE(solve_json({"poisson2d:5x5"}).contains("repeat"));
}

TEST_CASE("solves of every length, precision and storage can be repeated") {
  for (const auto& extra : std::vector<std::vector<std::string>>{
           {"poisson2d:1x1"},
           {"elasticity2d:6", "--precision", "f32/f64"},
           {"elasticity2d:6", "--precision", "f32", "--reorder", "rcm"},
           {"poisson2d:9x9", "--backend", "reference", "--form", "plain"}}) {
    std::vector<std::string> arguments = extra;
    arguments.insert(arguments.end(), {"--repeat", "2"});
    CHECK(solve_json(arguments)["repeat"]["solves"] == 2);
  }
}
