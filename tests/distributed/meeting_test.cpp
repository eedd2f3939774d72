#include "support/catch.hpp"

#include "solve/meeting.hpp"

#include <cnc/contract/methods.hpp>

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

using namespace cnc;
using namespace cnc::detail;

// What devices do in their queues, done by threads: one for each rank, in memory that all of them reach.

namespace {

constexpr int ranks = 3;

/// Slots of all ranks, as devices that reach each other have them.
struct SlotsOfAll {
  std::vector<SumsOfRank> of[ranks];
  std::vector<PlaceThere<SumsOfRank>> theirs[ranks];
  std::uint32_t lost = 0;

  SlotsOfAll() {
    for (int r = 0; r < ranks; ++r) of[r].resize(2 * ranks);
    for (int r = 0; r < ranks; ++r)
      for (int other = 0; other < ranks; ++other) theirs[r].push_back({of[other].data() + 2 * r});
  }
  Meeting meeting(int rank, std::uint32_t number) {
    return {ranks, theirs[rank].data(), of[rank].data(), number, &lost};
  }
};

template <class Work>
void on_each_rank(const Work& work) {
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) threads.emplace_back([&work, r] { work(r); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("meetings of devices add up in the order of ranks, round after round") {
  SlotsOfAll slots;
  constexpr std::uint32_t first = 0xfffffff0u;  // numbers wrap around
  constexpr int rounds = 200;
  std::vector<double> found[ranks];
  // Slots of the number before, as if it had always gone on.
  for (auto& of : slots.of)
    for (SumsOfRank& slot : of) slot.number = first - 1;
  on_each_rank([&](int r) {
    for (int k = 0; k < rounds; ++k) {
      double sums[2] = {0.1 * (r + 1) + k, 1e17 * (r - 1) + k};
      slots.meeting(r, first + static_cast<std::uint32_t>(k)).add_up(sums, 2);
      found[r].insert(found[r].end(), sums, sums + 2);
    }
  });
  CHECK(slots.lost == 0);
  for (int k = 0; k < rounds; ++k) {
    double expected[2] = {};
    for (int r = 0; r < ranks; ++r) {
      expected[0] = r == 0 ? 0.1 + k : expected[0] + (0.1 * (r + 1) + k);
      expected[1] = r == 0 ? -1e17 + k : expected[1] + (1e17 * (r - 1) + k);
    }
    for (int r = 0; r < ranks; ++r)
      for (std::size_t j = 0; j < 2; ++j)
        CHECK(found[r][2 * static_cast<std::size_t>(k) + j] == expected[j]);
  }
}

TEST_CASE("scalars after a meeting are those that the host works out") {
  for (int m = 0; m < method_count; ++m) {
    const MethodFacts& facts = method_facts(static_cast<Method>(m));
    for (int k = 0; k < facts.iteration_phases; ++k) {
      const PhaseFacts& phase = facts.iteration[k];
      if (phase.sums.count == 0) continue;
      INFO(facts.name << ", phase " << k);
      SlotsOfAll slots;
      MethodScalars before, after_own;
      for (int j = 0; j < max_method_scalars; ++j) before[j] = 1.5 + j;
      before.first = 0;
      after_own = before;
      const double halo_dot = 0.25;
      double total[3] = {};
      MethodScalars scalars[ranks], kept[ranks];
      for (int r = 0; r < ranks; ++r) {
        scalars[r] = after_own;
        kept[r] = before;
        for (int j = 0; j < phase.sums.count; ++j) {
          const int at = phase.sums.at[j];
          scalars[r][at] = 2 + 0.5 * r + j;
          total[j] += scalars[r][at] + (phase.is_product && at == phase.with_scalar ? halo_dot : 0);
        }
      }
      MethodScalars expected = phase.is_product ? after_own : before;
      if (phase.is_product)
        for (int j = 0; j < phase.sums.count; ++j) expected[phase.sums.at[j]] = total[j];
      else
        phase.take_sums(expected, total);
      on_each_rank([&](int r) {
        AddUpPhase<double>{slots.meeting(r, 1),
                           &scalars[r],
                           &kept[r],
                           phase.sums,
                           {m, PhaseGroup::iteration, k},
                           phase.is_product,
                           phase.with_scalar,
                           phase.is_product ? &halo_dot : nullptr}(0);
      });
      CHECK(slots.lost == 0);
      for (int r = 0; r < ranks; ++r) {
        CHECK(std::memcmp(&scalars[r], &expected, sizeof expected) == 0);
        CHECK(std::memcmp(&kept[r], &expected, sizeof expected) == 0);
      }
    }
  }
}

TEST_CASE("a breakdown stays what it was, and a rank that does not come is missed") {
  SlotsOfAll slots;
  MethodScalars broken[ranks], kept[ranks];
  for (MethodScalars& s : broken) s.breakdown = Breakdown::zero_divisor;
  const PhaseFacts& phase = method_facts(Method::pcg).iteration[0];
  on_each_rank([&](int r) {
    AddUpPhase<double>{slots.meeting(r, 1), &broken[r],        &kept[r], phase.sums, {},
                       phase.is_product,    phase.with_scalar, nullptr}(0);
  });
  for (const MethodScalars& s : broken) CHECK(s.breakdown == Breakdown::zero_divisor);
  CHECK(slots.lost == 0);
  double sums[1] = {1};
  Meeting alone = slots.meeting(0, 2);
  alone.looks = 100;
  alone.add_up(sums, 1);
  CHECK(slots.lost == 1);
}
