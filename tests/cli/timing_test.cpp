#include "cli/timing.hpp"
#include "cli/compare_ranking.hpp"
#include "cli/solve_run.hpp"
#include "support/catch.hpp"

using namespace cnc::cli;
using cnc::find_backend;

TEST_CASE("a difference that is not positive, or inside its spread, is no figure") {
  CHECK_FALSE(Timing().resolved());
  CHECK_FALSE(summarize({-1e-6, 0, 1e-6}).resolved());
  CHECK_FALSE(summarize({0, 0, 0}).resolved());
  CHECK_FALSE(summarize({-2e-6, 1e-6, 2e-6}).resolved());
  CHECK(summarize({1.0e-6, 1.1e-6, 1.2e-6}).resolved());
  // One outlier in eight does not hide the rest; a median that is all spread is none.
  CHECK(summarize({1, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 90}).resolved());
  CHECK_FALSE(summarize({0.1, 0.2, 0.3, 1, 1.1, 5, 6, 7}).resolved());
}

TEST_CASE("the spread is the distance between the quartiles and unknown for one sample") {
  const Timing timing = summarize({8, 1, 2, 3, 4, 5, 6, 7});
  CHECK(timing.median == 4.5);
  CHECK(timing.fastest == 1);
  CHECK(timing.slowest == 8);
  CHECK(timing.spread == 3);
  CHECK(std::isnan(summarize({1}).spread));
  CHECK(summarize({1}).resolved());
  CHECK_FALSE(distinguishable(summarize({1, 2, 3}), summarize({2, 3, 4})));
  CHECK(distinguishable(summarize({1, 1.1, 1.2}), summarize({2, 2.1, 2.2})));
}

TEST_CASE("what a solve takes over its iterations is said where they had one form") {
  Repeats repeats;
  repeats.iteration = summarize({1e-6, 1e-6, 1e-6});
  const auto over = repeats.overhead(150e-6, 0, 100, true);
  REQUIRE(over);
  CHECK(over->seconds == Approx(50e-6));
  CHECK(over->resolved());
  CHECK_FALSE(repeats.overhead(150e-6, 0, 100, false));
}

TEST_CASE("timing takes as many samples as asked for") {
  int calls = 0;
  CHECK(collect({7, 0}, [&] { return ++calls * 1.0; }).repeats == 7);
  CHECK(calls == 7);
  CHECK(collect({1, 0}, [] { return 1.0; }).repeats == 1);
}

namespace {

MatrixRow row(const char* backend, int threads, const char* format, double seconds) {
  MatrixRow result{
      {Precision::f64, &find_backend(backend, cnc::MemorySpace::host), threads}, format, {}, {}};
  result.spmv.timing = summarize({seconds, seconds, seconds});
  return result;
}

}  // namespace

TEST_CASE("the fastest is compared with the second best and with csr on as many threads") {
  const std::vector<MatrixRow> rows = {row("openmp", 2, "csr", 3), row("kokkos", 1, "csr", 5),
                                       row("reference", 1, "csr", 20), row("openmp", 2, "dia", 1),
                                       row("kokkos", 1, "dia", 2)};
  const Ranking ranking = rank(rows, Precision::f64);
  CHECK(ranking.best == &rows[3]);
  CHECK(ranking.second == &rows[4]);
  CHECK(ranking.same_threads_csr ==
        &rows[0]);  // no other backend has two threads; never the oracle
  CHECK(rank(rows, Precision::f32).best == nullptr);

  std::vector<MatrixRow> serial = rows;
  for (MatrixRow& each : serial) each.threads = 1;
  CHECK(rank(serial, Precision::f64).same_threads_csr == &serial[1]);

  std::vector<MatrixRow> noisy = rows;
  noisy[3].spmv.timing = summarize({-1, 1, 9});  // below noise: takes no part
  CHECK(rank(noisy, Precision::f64).best == &noisy[4]);
}
