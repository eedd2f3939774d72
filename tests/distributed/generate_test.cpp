#include "distributed/distributed_test.hpp"

// Built-in problems whose rows each rank makes for itself: what they have is what the first rank would deal out.

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

template <class T>
void check_generated(const std::string& problem, int block_size = 1) {
  INFO(problem << ", block size " << block_size);
  const auto A = convert_values<T>(generate_problem(problem));
  check_same_parts(PartitionedMatrix<T>::generated(world(), problem, block_size),
                   scattered(A, {.block_size = block_size}));
}

}  // namespace

TEST_CASE("ranks make their rows of built-in problems") {
  for (const ProblemInfo& family : problem_families()) {
    check_generated<double>(family.example);
    check_generated<float>(family.example, family.natural_block_size);
    check_generated<double>(family.example, 7);
  }
  check_generated<double>("wathen:1x3");
  check_generated<double>("trefethen:2000");
  check_generated<double>("poisson2d:311x271", 5);  // more rows than are told of one by one
}

TEST_CASE("problems with fewer rows than ranks, or than a block has") {
  check_generated<double>("poisson2d:1");
  check_generated<double>("poisson2d:3x1");
  check_generated<double>("elasticity2d:1", 2);
  check_generated<double>("poisson2d:3x1", 2147483647);
}

TEST_CASE("what is wrong with a problem is said as by one process, on all ranks") {
  const auto refusal = [](const std::string& problem, int block_size = 1) {
    return thrown_by([&] { PartitionedMatrix<double>::generated(world(), problem, block_size); });
  };
  for (const char* const problem : {"poisson3d:0", "poison3d:8", "poisson3d:2000", "wathen:3"})
    CHECK(refusal(problem) == thrown_by([&] { (void)generate_problem(problem); }));
  CHECK_THAT(refusal("poisson3d:4", 0), ContainsSubstring("block_size must be at least 1"));
  if (world().size() == 1) return;
  const bool last = world().rank() == world().size() - 1;
  const std::string by = "rank " + std::to_string(world().size() - 1) + " and rank 0 do not";
  CHECK_THAT(refusal(last ? "poisson3d:5" : "poisson3d:4"),
             ContainsSubstring("ranks must agree on the problem: " + by));
  CHECK_THAT(refusal("poisson3d:4", last ? 2 : 1),
             ContainsSubstring("ranks must agree on block_size: " + by));
}
