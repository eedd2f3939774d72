#include "distributed/blocks_on_ranks.hpp"
#include "distributed/list_of_rows.hpp"

#include "distributed/distributed_test.hpp"

#include <bit>
#include <limits>
#include <set>
#include <tuple>

// Lists of rows and columns by which ranks are coupled.

using namespace cnc;
using namespace cnc::testing;

TEST_CASE("distinct numbers ascend and know their places, close together or far apart") {
  constexpr offset_t least = std::numeric_limits<offset_t>::min(),
                     most = std::numeric_limits<offset_t>::max();
  std::vector<std::vector<offset_t>> lists = {
      {}, {7}, {5, 5, 5}, {63, 64, 0, 127, 128}, {least, most}};
  for (const offset_t apart : {1, 3, 64, 300, 100000}) {
    lists.emplace_back();
    for (offset_t i = 0; i < 1000; ++i)
      lists.back().push_back(i * 7919 % 1000 * apart + i % 3 - offset_t(1) * apart);
  }
  for (const auto& list : lists) {
    const std::set<offset_t> expected(list.begin(), list.end());
    const detail::AscendingNumbers numbers(list);
    CHECK(numbers.list() == std::vector<offset_t>(expected.begin(), expected.end()));
    index_t place = 0, wrong = 0;
    for (const offset_t number : expected) wrong += numbers.place_of(number) != place++;
    CHECK(wrong == 0);
  }
}

TEST_CASE("a thread that comes to a row finds it in a list, mostly without reading memory") {
  struct Case {
    std::vector<index_t> rows;
    index_t whole_first, whole;
  };
  std::vector<index_t> ends;  // two planes
  for (index_t i = 0; i < 100; ++i) ends.push_back(i);
  for (index_t i = 900; i < 1000; ++i) ends.push_back(i);
  for (const Case& c : {Case{{}, 0, 0},
                        {{0}, 0, 0},
                        {{31}, 0, 31},
                        {{0, 1, 2}, 0, 0},
                        {{97, 98, 99}, 0, 97},
                        {{2, 40, 64, 95, 96}, 3, 37},
                        {ends, 100, 800}}) {
    const detail::ListOfRows list(c.rows);
    CHECK(list.whole_first == c.whole_first);
    CHECK(list.whole == c.whole);
    CHECK(list.last_row == (c.rows.empty() ? -1 : c.rows.back()));
    std::vector<index_t> found;
    for (index_t row = 0; row <= list.last_row; ++row) {
      const ListedRows& of_32 = list.listed[static_cast<std::size_t>(row / 32)];
      const std::uint32_t bit = std::uint32_t(1) << (row % 32);
      if ((of_32.has & bit) == 0) continue;
      CHECK(of_32.before + std::popcount(of_32.has & (bit - 1)) ==
            static_cast<index_t>(found.size()));
      CHECK((row < list.whole_first || row >= list.whole_first + list.whole));
      found.push_back(row);
    }
    CHECK(found == c.rows);
  }
}

TEST_CASE("blocks for other ranks arrive by rows and columns, and by ranks at each") {
  const int size = world().size(), rank = world().rank();
  detail::Channel& channel =
      *detail::PartitionAccess::halo(partitioned(generate_problem("poisson2d:4x4")))->channel;
  std::vector<detail::Crossings<double>::Entry> arrived;
  detail::Crossings<double> crossings(size, 2);
  // To each rank from every other, backwards, and some places twice.
  for (int to = 0; to < size; ++to)
    for (offset_t k = 60; k-- > 0 && to != rank;) {
      const double block[] = {double(rank), double(k)};
      crossings.add(static_cast<std::size_t>(to), 1000 * to + k % 7, k * k % 11, block);
    }
  channel.together([&] { arrived = crossings.exchanged(channel); });
  CHECK(arrived.size() == std::size_t(60 * (size - 1)));
  std::size_t wrong = 0;
  for (std::size_t e = 0; e < arrived.size(); ++e) {
    const auto& entry = arrived[e];
    const auto k = static_cast<offset_t>(entry.block[1]);
    wrong += entry.row != 1000 * rank + k % 7 || entry.column != k * k % 11;
    if (e == 0) continue;
    const auto& before = arrived[e - 1];
    wrong += std::tuple(before.row, before.column, before.block[0]) >
             std::tuple(entry.row, entry.column, entry.block[0]);
  }
  CHECK(wrong == 0);
}

TEST_CASE("what threads make of parts of a range is one behind the other") {
  for (const std::size_t n : {0, 1, 100, 1000, 5000}) {
    detail::SomeRows<double> empty;
    const auto made = detail::made_in_parts(
        n, empty, [](std::size_t begin, std::size_t end, detail::SomeRows<double>& rows) {
          for (std::size_t i = begin; i < end; ++i) {
            rows.rows.push_back(static_cast<index_t>(i));
            for (std::size_t k = 0; k < i % 3; ++k) {
              rows.columns.push_back(static_cast<index_t>(i + k));
              rows.values.push_back(double(i));
            }
            rows.offsets.push_back(static_cast<index_t>(rows.columns.size()));
          }
        });
    CHECK(made.rows.size() == n);
    std::size_t wrong = made.offsets.size() != n + 1, at = 0;
    for (std::size_t i = 0; i < n && wrong == 0; ++i) {
      wrong += made.rows[i] != static_cast<index_t>(i);
      for (std::size_t k = 0; k < i % 3; ++k, ++at)
        wrong +=
            made.columns.at(at) != static_cast<index_t>(i + k) || made.values.at(at) != double(i);
      wrong += made.offsets[i + 1] != static_cast<index_t>(at);
    }
    CHECK(wrong == 0);
  }
}
