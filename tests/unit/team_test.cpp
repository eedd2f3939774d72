#include "support/catch.hpp"
#include "support/control_groups.hpp"

#include <cnc/context.hpp>

#include <parallel.hpp>
#include <processors.hpp>
#include <team.hpp>

#include <sched.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace cnc;
using namespace cnc::detail;

// clang's OpenMP library loses what it allocated for a team that grows later, as teams do here: on one processor always.
// Only in this program is the leak sanitizer told so, because what our own threads allocate has that library on its
// stack too.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libomp.so"; }

namespace {

using Seconds = std::chrono::duration<double>;

void work_for(double seconds) {
  const auto end = std::chrono::steady_clock::now() + Seconds(seconds);
  while (std::chrono::steady_clock::now() < end) spin_pause();
}

}  // namespace

TEST_CASE("a barrier orders what threads write before and read after it") {
  const int threads = GENERATE(2, 3, 8);  // more than this machine may have: they must sleep, too
  constexpr int rounds = 2000;
  Barrier barrier;
  std::vector<int> written(static_cast<std::size_t>(threads), -1);
  std::atomic<int> wrong{0};
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t)
    team.emplace_back([&, t] {
      for (int round = 0; round < rounds; ++round) {
        written[static_cast<std::size_t>(t)] = round;
        barrier.arrive_and_wait(threads);
        for (const int other : written) wrong += other != round;
        barrier.arrive_and_wait(threads);
      }
    });
  for (std::thread& thread : team) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("who waits at a barrier for long sleeps, and is woken") {
  Barrier barrier;
  double waited = 0, processor_seconds = 1;
  std::thread waiting([&] {
    timespec before{}, after{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    waited = barrier.arrive_and_wait(2);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    processor_seconds =
        double(after.tv_sec - before.tv_sec) + 1e-9 * double(after.tv_nsec - before.tv_nsec);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  barrier.arrive(2);
  waiting.join();
  CHECK(waited > 0.1);
  CHECK(processor_seconds < 0.05);
}

#ifdef _OPENMP
TEST_CASE("threads that OpenMP binds one by one are counted all the same") {
  CHECK(affinity_processors() == std::max(1, omp_get_num_procs()));
}

TEST_CASE("a team whose other threads are late dissolves, and works together again later") {
  TeamRecord record([](int) { return false; });
  int together = 0, alone = 0;
  const auto region = [&](double late) {
    run_team(
        2, Shares::equal,
        [&](Team& team) {
          if (team.part() == 0) ++(team.parts() == 2 ? together : alone);
          for (int i = 0; i < 100; ++i) {
            if (team.part() == 1) std::this_thread::sleep_for(Seconds(late));
            team.wait();
            if (!team.wait_and_stay()) break;
          }
        },
        record);
  };
  region(0.1);
  CHECK(together == 1);
  region(0.1);
  CHECK(alone == 1);
  for (int i = 0; i < 1000 && together == 1; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    region(0);
  }
  CHECK(together == 2);
}

TEST_CASE("no team is formed on a crowded machine, nor judged by shares that are not equal") {
  static bool crowded;
  TeamRecord record([](int) { return crowded; });
  int parts = 0;
  const auto region = [&](double seconds) {
    run_team(
        2, Shares::unknown,
        [&](Team& team) {
          if (team.part() == 0)
            parts = team.parts();
          else
            work_for(seconds);
        },
        record);
  };
  crowded = true;
  region(0);
  CHECK(parts == 1);
  crowded = false;
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  for (int i = 0; i < 5; ++i) {
    region(0.02);
    CHECK(parts == 2);
  }
}
#endif

TEST_CASE("a loop on several threads visits every index once and passes an exception on") {
  for (const int threads : {1, 2, 3, 7}) {
    std::vector<int> visits(100, 0);
    parallel_for(
        100, [&](int i) { ++visits[static_cast<std::size_t>(i)]; }, threads);
    CHECK(std::count(visits.begin(), visits.end(), 1) == 100);
    CHECK_THROWS_AS(parallel_for(
                        100,
                        [](int i) {
                          if (i == 99) throw std::runtime_error("99");
                        },
                        threads),
                    std::runtime_error);
  }
}

TEST_CASE("what the machine has to run is read from its load averages") {
  CHECK(running_tasks("0.20 0.18 0.12 1/80 11206\n") == 1);
  CHECK(running_tasks("25.87 25.50 22.67 130/1080 11206") == 130);
  CHECK(running_tasks("") == 0);
  CHECK(running_tasks("0.20 0.18 0.12 1") == 0);
  CHECK(running_tasks("0.20 0.18 0.12 -/80") == 0);
}

TEST_CASE("a time quota is rounded up to whole processors") {
  CHECK(quota_processors("max 100000") == 0);
  CHECK(quota_processors("200000 100000") == 2);
  CHECK(quota_processors("150000 100000\n") == 2);
  CHECK(quota_processors("50000 100000") == 1);
  CHECK(quota_processors("1000 100000") == 1);
  CHECK(quota_processors("-1 100000") == 0);  // version 1's way to say "no limit"
  CHECK(quota_processors("") == 0);
  CHECK(quota_processors("100000") == 0);
  CHECK(quota_processors("nonsense") == 0);
  CHECK(quota_processors("100000 0") == 0);
}

TEST_CASE("the least quota of a control group and those above it counts") {
  const testing::Groups groups;
  SECTION("version 2") {
    groups.write("cpu.max", "max 100000");
    groups.write("slice/cpu.max", "300000 100000");
    groups.write("slice/job/cpu.max", "400000 100000");
    CHECK(quota_processors("0::/slice/job", groups.root()) == 3);
    CHECK(quota_processors("0::/other", groups.root()) == 0);
    CHECK(quota_processors("0::/", groups.root()) == 0);
  }
  SECTION("version 1") {
    groups.write("cpu/docker/1/cpu.cfs_quota_us", "250000");
    groups.write("cpu/docker/1/cpu.cfs_period_us", "100000");
    groups.write("cpu/cpu.cfs_quota_us", "-1");
    groups.write("cpu/cpu.cfs_period_us", "100000");
    const std::string membership = "5:memory:/docker/1\n4:cpu,cpuacct:/docker/1\n";
    CHECK(quota_processors(membership, groups.root()) == 3);
    CHECK(quota_processors("4:cpuset:/docker/1\n", groups.root()) == 0);
  }
  SECTION("inside a container the path of the host is not there, its root is the container's") {
    groups.write("cpu.max", "100000 100000");
    CHECK(quota_processors("0::/kubepods/pod/1", groups.root()) == 1);
  }
}

TEST_CASE("default threads honour the affinity of the calling thread") {
  if (std::getenv("OMP_NUM_THREADS") != nullptr) CNC_SKIP("OMP_NUM_THREADS says how many");
  int threads = 0, processors = -1;
  std::thread([&] {
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    int processor = 0;
    while (!CPU_ISSET(processor, &allowed)) ++processor;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) return;
    threads = default_threads();
    // clang's OpenMP library gives a thread that it meets all processors back.
    cpu_set_t now;
    if (sched_getaffinity(0, sizeof now, &now) == 0) processors = CPU_COUNT(&now);
  }).join();
  CHECK(threads == processors);
  CHECK(default_threads() >= 1);
}
