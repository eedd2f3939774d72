#include "support/catch.hpp"
#include "support/control_groups.hpp"
#include "support/same_matrix.hpp"

#include "free_memory.hpp"

#include <cnc/memory_pool.hpp>
#include <cnc/problems.hpp>
#include <cnc/solver.hpp>

#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <thread>

using namespace cnc;
using Catch::Matchers::ContainsSubstring;

// What is free, and needs that are refused before anything of them is allocated.

TEST_CASE("control groups of version 2 limit the memory, all the way up") {
  const testing::Groups groups;
  const std::string membership = "0::/outer/inner\n";
  const auto free = [&] { return detail::free_group_bytes(membership, groups.root()); };
  CHECK(free() == detail::unknown_bytes);
  groups.write("outer/inner/memory.max", "max");
  groups.write("outer/inner/memory.current", "5000");
  CHECK(free() == detail::unknown_bytes);
  groups.write("outer/memory.max", "100000");
  groups.write("outer/memory.current", "60000");
  CHECK(free() == 40000);
  // The page cache of files is given back before the group is out of memory.
  groups.write("outer/memory.stat", "anon 20000\ninactive_file 15000\nactive_file 5000\nshmem 7");
  CHECK(free() == 60000);
  groups.write("outer/inner/memory.max", "6000");
  CHECK(free() == 1000);
  groups.write("outer/inner/memory.current", "7000");
  CHECK(free() == 0);
  // Inside a container its own group is the root, whatever path the membership tells.
  groups.write("memory.max", "300");
  groups.write("memory.current", "100");
  CHECK(detail::free_group_bytes("0::/nobody/knows\n", groups.root()) == 200);
}

TEST_CASE("control groups of version 1 limit the memory") {
  const testing::Groups groups;
  const std::string membership = "5:cpu,cpuacct:/a\n4:memory:/a/b\n0::/\n";
  const auto free = [&] { return detail::free_group_bytes(membership, groups.root()); };
  groups.write("memory/a/b/memory.limit_in_bytes", "9223372036854771712");
  groups.write("memory/a/b/memory.usage_in_bytes", "4096");
  CHECK(free() > (std::size_t{1} << 62));
  groups.write("memory/a/memory.limit_in_bytes", "50000");
  groups.write("memory/a/memory.usage_in_bytes", "30000");
  groups.write("memory/a/memory.stat",
               "cache 9000\ninactive_file 1\ntotal_inactive_file 8000\n"
               "total_active_file 500");
  CHECK(free() == 28500);
}

TEST_CASE("a need beyond what is free is refused with bytes asked and free") {
  CHECK_NOTHROW(detail::require_memory("little", 1e6, MemorySpace::host));
  const std::size_t free = detail::free_bytes(MemorySpace::host);
  REQUIRE(free > 0);
  try {
    detail::require_memory("a great deal", 1e18, MemorySpace::host);
    FAIL("was granted");
  } catch (const OutOfMemory& error) {
    CHECK_THAT(error.what(), ContainsSubstring("a great deal: 1000000000000000000 bytes asked"));
    CHECK(error.bytes_asked() == std::size_t(1e18));
    CHECK(error.bytes_free() > 0);
    CHECK(error.bytes_free() < std::size_t(1e18));
  }
  CHECK_THROWS_AS(uninitialized<double>("vast", std::size_t{1} << 56), OutOfMemory);
}

TEST_CASE("a solver asks for all its memory before it builds anything") {
  // The address space of this process stands for the memory of a small machine.
  const CsrMatrix<double> A = generate_problem("poisson3d:60");
  Context<> ctx("openmp", 1);
  // OpenMP's threads are there before the limit: one that is made later has no room for its stack.
#pragma omp parallel
  std::this_thread::yield();
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0;
  REQUIRE(statm >> pages);
  const std::size_t used = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  constexpr std::size_t left = std::size_t{8} << 20;  // five vectors alone take 8.6 MB
  if (before.rlim_cur != RLIM_INFINITY || used > (std::size_t{1} << 40))
    CNC_SKIP("the address space is limited already, or a sanitizer has taken most of it");
  const rlimit small{used + left, before.rlim_max};
  std::vector<std::string> refusals;
  REQUIRE(setrlimit(RLIMIT_AS, &small) == 0);
  for (const char* name : {"csr", "auto", "bcsr", "bsell", "dia", "dia-symmetric"}) {
    SolveOptions options;
    options.format.name = name;
    Solver<double> solver(ctx, options);
    try {
      solver.prepare(A);
      refusals.emplace_back("granted");
    } catch (const OutOfMemory& error) {
      refusals.emplace_back(error.bytes_free() <= left ? error.what() : "free is wrong");
    }
  }
  REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
  for (const std::string& text : refusals) CHECK_THAT(text, ContainsSubstring("Solver::prepare"));
}

TEST_CASE("more threads than a process can have are refused by name") {
  const std::string largest = std::to_string(largest_threads());
  CHECK_THROWS_WITH(Context<>("openmp", 40000), ContainsSubstring("0 to " + largest));
  CHECK_THROWS_WITH(Context<>("reference", largest_threads() + 1), ContainsSubstring(largest));
  CHECK_THROWS_AS(Context<>("openmp", -1), InvalidArgument);
  CHECK_NOTHROW(Context<>("openmp", largest_threads()));
}

TEST_CASE("a pool gives out again what nobody holds") {
  detail::MemoryPool<HostSpace> pool;
  const double* first = nullptr;
  {
    const detail::PoolScope scope(pool);
    const auto kept = uninitialized<double>("kept", 1000);
    auto passing = uninitialized<double>("passing", 1000);
    CHECK(kept.data() != passing.data());
    first = passing.data();
    passing = {};
    const auto again = uninitialized<double>("again", 900);
    CHECK(again.data() == first);
    CHECK(again.extent(0) == 900);
    // Held by a view of a part alone, it is not free.
    const auto part = Kokkos::subview(again, std::make_pair(10, 20));
    CHECK(uninitialized<double>("other", 900).data() != first);
  }
  CHECK(uninitialized<double>("outside", 900).data() != first);
  const detail::PoolScope scope(pool);
  Kokkos::deep_copy(uninitialized<double>("all", 1000), 7.0);
  const auto zeros = zeroed<double>("zeros", 1000);
  for (std::size_t i = 0; i < zeros.extent(0); ++i) CHECK(zeros(i) == 0);
}

TEST_CASE("a pool takes the smallest array that fits, and none that is much too large") {
  detail::MemoryPool<HostSpace> pool;
  const detail::PoolScope scope(pool);
  const double* large = nullptr;
  const double* medium = nullptr;
  {
    const auto a = uninitialized<double>("a", 1000000), b = uninitialized<double>("b", 100000);
    large = a.data();
    medium = b.data();
  }
  const auto close = uninitialized<double>("close", 90000);
  CHECK(close.data() == medium);
  const auto small = uninitialized<double>("small", 10);
  CHECK(small.data() != large);
  CHECK(uninitialized<double>("nearly", 999999).data() == large);
  // Other types have arrays of their own, and some have none.
  CHECK(static_cast<const void*>(uninitialized<float>("floats", 1000000).data()) != large);
  CHECK(uninitialized<char>("bytes", 3).extent(0) == 3);
}

TEST_CASE("a pool knows what is idle") {
  detail::MemoryPool<HostSpace> pool;
  const detail::PoolScope scope(pool);
  CHECK(pool.idle_bytes() == 0);
  const auto kept = uninitialized<float>("kept", 100);
  CHECK(pool.idle_bytes() == 0);
  { const auto passing = uninitialized<double>("passing", 100); }
  CHECK(pool.idle_bytes() == 800);
  pool.release();
  CHECK(pool.idle_bytes() == 0);
}

TEST_CASE("what a pool gave stays when it is released, and when it is gone") {
  Vector<index_t> kept;
  {
    detail::MemoryPool<HostSpace> pool;
    const detail::PoolScope scope(pool);
    kept = uninitialized<index_t>("kept", 100);
    for (index_t i = 0; i < 100; ++i) kept(i) = i;
    pool.release();
    CHECK(uninitialized<index_t>("other", 100).data() != kept.data());
  }
  for (index_t i = 0; i < 100; ++i) CHECK(kept(i) == i);
  CHECK(kept.use_count() == 1);
}
