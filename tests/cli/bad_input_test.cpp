#include "run_cnc.hpp"
#include "support/catch.hpp"
#include "support/sanitized.hpp"

#include <nlohmann/json.hpp>

#include <sys/resource.h>

using namespace cnc::test;

namespace {

/// Exit code 2 and exactly one line on standard error that names the program and contains `reason`.
void check_refused(const std::vector<std::string>& arguments, const std::string& reason) {
  const Run run = run_cnc(arguments);
  CAPTURE(arguments, reason, run.out, run.err);
  CHECK(run.code == 2);
  CHECK(lines_in(run.err) == 1);
  CHECK(run.err.rfind("cnc: ", 0) == 0);
  CHECK(contains(run.err, reason));
}

const char* const banner = "%%MatrixMarket matrix coordinate real general\n";

}  // namespace

TEST_CASE("wrong usage ends with code 2 and one line") {
  check_refused({}, "subcommand");
  check_refused({"sovle", "poisson3d:4"}, "sovle");
  check_refused({"solve"}, "SOURCE");
  check_refused({"solve", "poisson3d"},
                "poisson3d: no such file; the built-in problem is written poisson3d:");
  check_refused({"compare", "poisson3d:4", "--partition", "graph"}, "--ranks");
  check_refused({"solve", "poisson3d:4", "--link", "wire"}, "--link");
  check_refused({"solve", "poisson3d:4", "--frobnicate", "twice"}, "--frobnicate twice");
  check_refused({"solve", "poisson3d:4", "--solver", "qmr"}, "qmr");
  check_refused({"solve", "poisson3d:4", "--precision", "f16"}, "f16");
  check_refused({"solve", "poisson3d:4", "--precondition", "ilu"}, "ilu");
  check_refused({"solve", "poisson3d:4", "--precondition", "block-jacobi:0"}, "1 to 32");
  check_refused({"solve", "poisson3d:4", "--precondition", "ilut:2"}, "from 0 to 0.999");
  check_refused({"solve", "poisson3d:4", "--precondition", "chebyshev:no"}, "from 1 to 100");
  check_refused({"solve", "poisson3d:4", "--precondition", "amg:degree=0"},
                "'degree=0' is none of");
  check_refused({"solve", "poisson3d:4", "--precondition", "amg:plain,"}, "'' is none of");
  check_refused({"solve", "poisson3d:4", "--coordinates", "c.mtx"}, "c.mtx: cannot open");
  check_refused({"solve", "poisson3d:4", "--precondition", "block-jacobi:33"}, "1 to 32");
  check_refused({"solve", "poisson3d:4", "--precondition", "block-jacobi3"}, "1 to 32");
  check_refused({"solve", "poisson3d:4", "--format", "hyb"}, "hyb");
  check_refused(
      {"solve", "poisson3d:4", "--memory", "host", "--solver", "auto", "--form", "resident"},
      "no method of 'auto' has the form 'resident'");
  check_refused({"solve", "poisson3d:4", "--restart", "5"}, "--restart is for --solver gmres");
  check_refused({"solve", "poisson3d:4", "--spectrum", "0.1", "2"},
                "--spectrum is for --solver chebyshev");
  check_refused({"solve", "poisson3d:4", "--memory", "host", "--block-threads", "128"},
                "--block-threads is for backends of devices");
  check_refused({"compare", "poisson3d:4", "--backends", "openmp", "--block-threads", "128"},
                "--block-threads is for backends of devices");
  check_refused({"solve", "poisson3d:4", "--arithmetic", "exact"}, "compensated-fused");
  check_refused({"solve", "poisson3d:4", "--format", "bcsr:99"}, "bcsr:99");
  check_refused({"solve", "poisson3d:4", "--backend", "abacus"}, "abacus");
  check_refused({"solve", "poisson3d:4", "--reorder", "amd"}, "amd");
  check_refused({"solve", "poisson3d:4", "--rtol", "-1"}, "--rtol");
  check_refused({"solve", "poisson3d:4", "--rtol", "nan"}, "--rtol");
  check_refused({"solve", "poisson3d:4", "--rtol", "tiny"}, "--rtol");
  check_refused({"solve", "poisson3d:4", "--max-iterations", "-5"}, "--max-iterations");
  check_refused({"solve", "poisson3d:4", "--max-iterations", "9999999999"}, "--max-iterations");
  check_refused({"solve", "poisson3d:4", "--threads", "0"}, "--threads");
  check_refused({"solve", "poisson3d:4", "--rhs", "random:x"}, "seed");
  check_refused({"compare", "poisson3d:4", "--formats", "auto"}, "auto");
  check_refused({"compare", "poisson3d:4", "--backends", "abacus"}, "abacus");
  check_refused({"info", "poisson3d:4", "poisson3d:5"}, "poisson3d:5");
  check_refused({"generate", "poisson3d:4"}, "--output");
}

TEST_CASE("a backend that was not built is refused in the words of the list of backends") {
  const auto list = nlohmann::json::parse(run_cnc({"backends", "--variants", "--json", "-"}).out);
  int absent = 0;
  for (const auto& backend : list["backends"]) {
    if (backend["built"] == true) continue;
    ++absent;
    const auto name = backend["name"].get<std::string>();
    check_refused({"solve", "poisson3d:4", "--backend", name}, backend["detail"]);
    check_refused({"compare", "poisson3d:4", "--backends", name}, backend["detail"]);
  }
  CHECK(absent > 0);  // nobody builds for both vendors
}

TEST_CASE("problems and files that do not exist are named") {
  check_refused({"solve", "poison3d:4"}, "poison3d:4");
  check_refused({"solve", "poisson3d:zero"}, "poisson3d");
  check_refused({"solve", "poisson3d:0"}, "poisson3d");
  check_refused({"info", "poisson3d:999999"}, "poisson3d");
  check_refused({"solve", "/nowhere/a.mtx"}, "/nowhere/a.mtx");
  check_refused({"solve", "poisson3d:4", "--rhs", "/nowhere/b.mtx"}, "/nowhere/b.mtx");
  check_refused({"solve", "poisson3d:4", "--x0", "/nowhere/x.mtx"}, "/nowhere/x.mtx");
}

TEST_CASE("broken matrix files are refused with file, line and reason") {
  const Workplace place;
  const auto refuse = [&](const std::string& name, const std::string& text,
                          const std::string& where) {
    const std::string file = place.file(name, text);
    check_refused({"solve", file}, file + where);
    check_refused({"info", file}, file + where);
  };
  refuse("empty.mtx", "", ":");
  refuse("banner.mtx", "%%MatrixMarkt matrix coordinate real general\n1 1 1\n1 1 1\n", ":1: ");
  refuse("short.mtx", std::string(banner) + "2 2 3\n1 1 1\n2 2 1\n", ":");
  refuse("word.mtx", std::string(banner) + "2 2 2\n1 1 one\n2 2 1\n", ":3: ");
  refuse("range.mtx", std::string(banner) + "2 2 2\n1 1 1\n3 1 1\n", ":4: ");
  refuse("nan.mtx", std::string(banner) + "1 1 1\n1 1 nan\n", ":3: ");
  refuse("long.mtx", std::string(banner) + "1 1 1\n1 1 1\n1 1 1\n", ":4: ");
  refuse("huge.mtx", std::string(banner) + "99999999999 1 1\n1 1 1\n", ":2: ");
}

TEST_CASE(
    "matrices, preconditioners and forms that do not go together are refused in words of the "
    "program") {
  const Workplace place;
  const auto file = [&](const char* entries) {
    return place.file("a.mtx", std::string(banner) + entries);
  };
  const char* const needs = "not symmetric, as the format dia-symmetric requires: row ";
  std::string A = file("2 2 4\n1 1 4\n1 2 1\n2 1 2\n2 2 4\n");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"solve", A, "--solver", "bicgstab", "--format", "dia-symmetric"},
        {"compare", A, "--formats", "dia-symmetric"}})
    check_refused(arguments, needs + std::string("1 (counted from 0) differs from its column"));
  for (const char* entry : {"2 3", "2 1"}) {
    A = file(("3 3 4\n1 1 4\n2 2 4\n" + std::string(entry) + " 1\n3 3 4\n").c_str());
    check_refused({"solve", A, "--solver", "bicgstab", "--format", "dia-symmetric"},
                  needs + std::string("1 (counted from 0) has an entry without a mirror image"));
  }
  A = file("2 2 2\n1 1 4\n2 2 4e45\n");
  for (const char* precision : {"f32", "f32/f64"})
    check_refused({"solve", A, "--precision", precision},
                  "cnc: a value of row 1 (counted from 0) is too large for single precision");

  for (const char* name : {"ic0", "ssor", "amg"})
    check_refused({"solve", "poisson2d:5x5", "--solver", "bicg", "--precondition", name},
                  "bicg needs the transpose of the preconditioner, which '" + std::string(name));
  check_refused({"solve", "poisson2d:5x5", "--backend", "reference", "--form", "one-meeting"},
                "backend 'reference' has no form 'one-meeting' of pcg");
}

TEST_CASE("shapes that do not fit are refused") {
  const Workplace place;
  const std::string wide = place.file("wide.mtx", std::string(banner) + "2 3 2\n1 1 1\n2 2 1\n");
  check_refused({"solve", wide}, "square");
  const std::string b =
      place.file("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n");
  check_refused({"solve", "poisson2d:2x2", "--rhs", b}, b + ": right-hand side has 3 entries");
  check_refused({"solve", "poisson2d:2x2", "--x0", b}, b + ": start vector has 3 entries");
  const std::string two =
      place.file("two.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n");
  check_refused({"solve", "poisson2d:2x2", "--rhs", two}, two);
}

TEST_CASE("unwritable outputs are refused before anything is solved") {
  const Workplace place;
  for (const char* option : {"--output", "--history", "--json"}) {
    check_refused({"solve", "poisson2d:2x2", option, "/nowhere/at/all"}, "/nowhere/at/all");
    check_refused({"solve", "poisson2d:2x2", option, place.path("")}, "directory");
    check_refused({"solve", "poisson2d:2x2", option, "/dev/null"}, "regular file");
  }
  check_refused({"info", "poisson2d:2x2", "--spy", "/nowhere/a.png"}, "/nowhere/a.png");
  check_refused({"compare", "poisson2d:2x2", "--json", "/nowhere/a.json"}, "/nowhere/a.json");
  check_refused({"generate", "poisson2d:2x2", "-o", "/nowhere/a.mtx"}, "/nowhere/a.mtx");
  check_refused({"generate", "poisson2d:2x2", "-o", place.path("a.txt")}, ".mtx");
  CHECK(place.names().empty());
}

TEST_CASE("a failed run leaves existing outputs as they were") {
  const Workplace place;
  const std::string x = place.file("x.mtx", "precious\n");
  const std::string broken = place.file("a.mtx", std::string(banner) + "2 2 2\n1 1 1\n");
  check_refused({"solve", broken, "--output", x}, broken);
  CHECK(place.read("x.mtx") == "precious\n");
  CHECK(place.names() == std::vector<std::string>{"a.mtx", "x.mtx"});
}

TEST_CASE("results that would replace each other or the matrix are refused") {
  const Workplace place;
  const std::string A = place.file("a.mtx", std::string(banner) + "1 1 1\n1 1 4\n");
  const std::string before = place.read("a.mtx");
  const std::string x = place.path("x.mtx");
  check_refused({"solve", A, "-o", x, "--json", x}, "one file");
  check_refused({"solve", A, "--history", "-", "--json", "-"}, "one file");
  check_refused({"solve", A, "-o", place.path("./a.mtx")}, "replace an input");
  check_refused({"solve", "poisson2d:1x1", "--rhs", A, "-o", A}, "replace an input");
  check_refused({"info", A, "--json", A}, "replace an input");
  check_refused({"compare", A, "--json", A}, "replace an input");
  CHECK(place.read("a.mtx") == before);
  CHECK(place.names() == std::vector<std::string>{"a.mtx"});
  // Going on from where the last solve ended is no accident.
  REQUIRE(run_cnc({"solve", A, "-q", "-o", x}).code == 0);
  CHECK(run_cnc({"solve", A, "-q", "--x0", x, "-o", x}).code == 0);
}

TEST_CASE("empty names and lists are refused, and vectors checked before the matrix is read") {
  check_refused({"solve", ""}, "is empty");
  check_refused({"solve", "poisson2d:2x2", "-o", ""}, "is empty");
  check_refused({"solve", "poisson2d:2x2", "--rhs", ""}, "is empty");
  check_refused({"compare", "poisson2d:2x2", "--backends", ","}, "is empty");
  check_refused({"compare", "poisson2d:2x2", "--formats", ","}, "is empty");
  check_refused({"solve", "poisson2d:2x2", "-o", "x.foo"}, "unknown file type");
  for (const char* rhs : {"/nowhere/b.mtx", "/tmp", "random:x"}) {
    const Run run = run_cnc({"solve", "poisson2d:2x2", "--rhs", rhs});
    CAPTURE(rhs, run.out, run.err);
    CHECK(run.code == 2);
    CHECK(run.out.empty());
  }
}

TEST_CASE("a small file with a large matrix is refused at once, with bytes asked and free") {
  if (cnc::testing::is_sanitized) CNC_SKIP("a sanitizer needs all of the address space");
  const Workplace workplace;
  const std::string path =
      workplace.file("wide.mtx", std::string(banner) + "100000000 100000000 1\n1 1 1\n");
  // The address space stands for the memory of a small machine: the matrix fits, what solve adds does not. The HIP
  // library takes a gigabyte of it for itself.
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  const rlimit small{std::size_t{2} << 30, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_AS, &small) == 0);
  check_refused({"solve", path}, "bytes asked");
  check_refused({"solve", path}, "wide.mtx: ");
  check_refused({"compare", path}, "wide.mtx: ");
  workplace.file("wide.mtx", std::string(banner) + "200000000 200000000 1\n1 1 1\n");
  check_refused({"info", path}, "wide.mtx: ");
  REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
}

TEST_CASE("more threads than can be are refused by the largest number") {
  check_refused({"solve", "poisson3d:4", "--threads", "40000"}, "--threads");
  check_refused({"solve", "poisson3d:4", "--threads", "4000"}, "--threads");
}
