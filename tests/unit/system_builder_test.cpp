#include "support/catch.hpp"
#include "support/sanitized.hpp"
#include "support/set_up_threads.hpp"
#include "system_calls.hpp"

#include <assemble/entry_map.hpp>
#include <cnc/system_builder.hpp>
#include <cnc/triplets.hpp>
#include <parallel.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <stdexcept>

using namespace cnc;
using namespace cnc::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

SystemOptions of_equations(index_t equations = 0, int right_hand_sides = 1) {
  return {RowKind::equations, equations, right_hand_sides, false};
}

template <class T>
void lock_all(SystemBuilder<T>& builder, const Locked& locked) {
  for (const auto& [variable, values] : locked) {
    const std::vector<T> narrow(values.begin(), values.end());
    builder.lock(variable, std::span<const T>(narrow));
  }
}

/// Whether two builders have the same system, bit by bit.
template <class T>
bool same_system(const SystemBuilder<T>& x, const SystemBuilder<T>& y) {
  const auto bits = [](const auto& a, const auto& b) {
    return a.size() == b.size() &&
           (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
  };
  return same_entries(x.matrix().row_offsets, y.matrix().row_offsets) &&
         same_entries(x.matrix().columns, y.matrix().columns) &&
         bits(x.matrix().values, y.matrix().values) &&
         bits(x.right_hand_sides(), y.right_hand_sides());
}

template <class T>
void check_random(index_t variables, const SystemOptions& options, const Locked& locked, int chunks,
                  int calls, std::uint64_t seed, double rounding = 0) {
  CAPTURE(variables, options.equations, options.right_hand_sides, locked.size(), chunks, seed);
  const Calls first = random_calls(variables, options, chunks, calls, seed);
  SystemBuilder<T> builder(variables, options);
  lock_all(builder, locked);
  make_all(first, builder);
  CHECK_FALSE(builder.was_refreshed());
  CHECK(is_expected(builder, ExpectedSystem(variables, options, locked, first), rounding));

  const T* const values = builder.matrix().values.data();
  const T* const b = builder.right_hand_sides().data();
  const Calls second = with_other_values(first);
  Locked other = locked;
  for (auto& [variable, its] : other)
    for (double& value : its) value = 0.25 - value;
  lock_all(builder, other);
  make_all(second, builder);
  CHECK(builder.was_refreshed());
  CHECK(builder.matrix().values.data() == values);
  CHECK(builder.right_hand_sides().data() == b);
  CHECK(is_expected(builder, ExpectedSystem(variables, options, other, second), rounding));

  SystemBuilder<T> fresh(variables, options);
  lock_all(fresh, other);
  make_all(second, fresh);
  CHECK(same_system(builder, fresh));
}

const Locked no_locks;

Locked some_locks(index_t variables, int right_hand_sides) {
  Locked locked;
  for (index_t v = 1; v < variables; v += 3)
    for (int k = 0; k < right_hand_sides; ++k) locked[v].push_back(0.5 * k - 0.125 * (v % 5));
  return locked;
}

}  // namespace

TEMPLATE_TEST_CASE("systems of random calls are what dense sums say, first and refreshed", "",
                   float, double) {
  using T = TestType;
  for (const index_t variables : {1, 5, 40, 700}) {
    for (const int chunks : {1, 4}) {
      for (const int rhs : {1, 3}) {
        const auto seed = static_cast<std::uint64_t>(variables * 10 + chunks);
        SystemOptions options;
        options.right_hand_sides = rhs;
        for (const Locked& locked : {no_locks, some_locks(variables, rhs)}) {
          check_random<T>(variables, options, locked, chunks, 300, seed);
          check_random<T>(variables, of_equations(0, rhs), locked, chunks, 300, seed);
          check_random<T>(variables, of_equations(2 * variables, rhs), locked, chunks, 300, seed);
        }
      }
    }
  }
}

TEST_CASE("rows are normalised by their free coefficients, then scaled") {
  for (const Locked& locked : {no_locks, some_locks(30, 2)}) {
    SystemOptions options = of_equations(10, 2);
    options.normalize_rows = true;
    check_random<double>(30, options, locked, 3, 200, 7, 1e-13);
    options.rows = RowKind::variables;
    options.equations = 0;
    check_random<double>(30, options, locked, 3, 200, 8, 1e-13);
  }
}

TEST_CASE("the norm of a row does not overflow, and a row without one is left alone") {
  SystemOptions options = of_equations();
  options.normalize_rows = true;
  SystemBuilder<double> builder(2, options);
  builder.lock(1, 2.0);
  builder.begin();
  for (const double size : {1e300, 1e-300}) {
    builder.chunk().begin_row();
    builder.chunk().coefficient(0, 3 * size);
    builder.chunk().coefficient(0, -4 * size);
    builder.chunk().right_hand_side(10 * size);
    builder.chunk().end_row();
  }
  builder.chunk().begin_row();  // locked alone: no norm
  builder.chunk().coefficient(1, 3);
  builder.chunk().right_hand_side(10);
  builder.chunk().scale(2);
  builder.chunk().end_row();
  builder.chunk().begin_row();  // nothing
  builder.chunk().end_row();
  builder.finish();
  const auto& A = builder.matrix();
  REQUIRE(A.rows == 4);
  REQUIRE(entries(A.row_offsets) == std::vector<index_t>{0, 1, 2, 2, 2});
  const auto b = builder.right_hand_side();
  for (const std::size_t i : {0, 1}) {
    CHECK(A.values(i) == Approx(-0.2).epsilon(1e-14));
    CHECK(b(i) == Approx(2).epsilon(1e-14));
  }
  CHECK(b(2) == 20 - 12);
  CHECK(b(3) == 0);
}

TEST_CASE("entries at one place are summed in the order of calls, then of chunks") {
  // In float 2^24 + 1 rounds back to 2^24, so the order shows in the sum.
  const float big = 16777216;
  SystemBuilder<float> builder(1);
  const auto sum = [&](const std::vector<std::vector<float>>& chunks) {
    builder.begin(static_cast<int>(chunks.size()));
    // The order in which chunks are filled does not matter.
    for (std::size_t k = chunks.size(); k-- > 0;) {
      for (const float value : chunks[k]) {
        builder.chunk(static_cast<int>(k)).add(0, 0, value);
        builder.chunk(static_cast<int>(k)).add_right_hand_side(0, value);
      }
    }
    builder.finish();
    CHECK(builder.right_hand_side()(0) == builder.matrix().values(0));
    return builder.matrix().values(0);
  };
  CHECK(sum({{1, 1, big}}) == big + 2);
  CHECK(sum({{1, big, 1}}) == big);
  CHECK(builder.was_refreshed());
  CHECK(sum({{1, 1}, {big}}) == big + 2);
  CHECK(sum({{big, 1}, {1}}) == big);
  CHECK(builder.was_refreshed());
  // A negative zero stays one.
  CHECK(std::signbit(sum({{-0.0f, -0.0f}, {-0.0f}})));
}

TEMPLATE_TEST_CASE("the number of threads changes no bit", "", float, double) {
  using T = TestType;
  const index_t n = 6000;
  const offset_t count = 20000;
  SystemOptions options = of_equations(n, 2);
  options.normalize_rows = true;
  const auto fill = [&](double turn) {
    return [turn](SystemChunk<T>& chunk, offset_t e) {
      Random random(static_cast<std::uint64_t>(e));
      const index_t first = random.below(n), second = random.below(n);
      const auto value = [&] { return static_cast<T>(random.value() * turn / 3); };
      for (const index_t i : {first, second, first / 3})
        for (const index_t j : {second, first, second / 3}) chunk.add(i, j, value());
      chunk.add_right_hand_side(second, value(), static_cast<int>(e % 2));
      chunk.begin_row();
      for (int k = 0; k < 5; ++k) chunk.coefficient(random.below(n), value());
      chunk.right_hand_side(value(), 1);
      chunk.end_row();
    };
  };
  const auto assembled = [&](SystemBuilder<T>& builder, int threads, double turn) {
    const Threads scope(threads);
#ifdef _OPENMP
    REQUIRE(detail::set_up_threads() == threads);
#endif
    builder.assemble(count, fill(turn));
  };
  const auto locked_builder = [&] {
    SystemBuilder<T> builder(n, options);
    for (index_t v = 3; v < n; v += 11) builder.lock(v, static_cast<T>(v) / 7);
    return builder;
  };
  SystemBuilder<T> one = locked_builder(), one_refreshed = locked_builder();
  assembled(one, 1, 1);
  assembled(one_refreshed, 1, 1);
  assembled(one_refreshed, 1, 1.75);
  REQUIRE(one_refreshed.was_refreshed());
  REQUIRE_FALSE(same_system(one, one_refreshed));
  for (const int threads :
       {7, 3, 2}) {  // the most first: LLVM's library loses a team that it makes larger
    INFO(threads << " threads");
    SystemBuilder<T> other = locked_builder();
    assembled(other, threads, 1);
    CHECK(same_system(other, one));
    assembled(other, threads, 1.75);
    CHECK(other.was_refreshed());
    CHECK(same_system(other, one_refreshed));
    SystemBuilder<T> fresh = locked_builder();
    assembled(fresh, threads, 1.75);
    CHECK(same_system(fresh, one_refreshed));
  }
}

TEST_CASE("streams of several segments and long rows agree with triplets") {
  // Row 5 is met by every second entry, of which each column comes often.
  const index_t n = 3000;
  std::vector<Triplet<double>> list;
  Random random(5);
  for (int k = 0; k < 400000; ++k)
    list.push_back({k % 2 == 0 ? 5 : random.below(n), random.below(n), random.value() / 3});
  SystemBuilder<double> builder(n);
  for (const double turn : {1.0, 3.0}) {
    builder.begin(2);
    for (std::size_t k = 0; k < list.size(); ++k) {
      list[k].value *= turn;
      builder.chunk(k < 150000 ? 0 : 1).add(list[k].row, list[k].col, list[k].value);
    }
    builder.finish();
    CHECK(same_matrix(builder.matrix(), csr_from_triplets<double>(n, n, list)));
  }
  CHECK(builder.was_refreshed());
}

TEST_CASE("other calls are another pattern, wherever they begin to differ") {
  const index_t n = 50;
  using Chunk = std::vector<Call>;
  const std::pair<const char*, void (*)(Chunk&, std::size_t)> changes[] = {
      {"another place",
       [](Chunk& calls, std::size_t at) {
         calls[at] = AddCall{3, 48, 0.5};
       }},
      {"one more",
       [](Chunk& calls, std::size_t at) {
         calls.insert(calls.begin() + static_cast<std::ptrdiff_t>(at), AddCall{3, 48, 0.5});
       }},
      {"fewer", [](Chunk& calls, std::size_t at) { calls.resize(at); }},
      {"more at the end",
       [](Chunk& calls, std::size_t) {
         calls.emplace_back(AddCall{3, 48, 0.5});
       }},
  };
  const Calls before = random_calls(n, {}, 3, 100, 1);
  for (const auto& [name, change] : changes) {
    for (const std::size_t at : {0u, 40u, 99u}) {
      for (const std::size_t chunk : {0u, 1u, 2u}) {
        CAPTURE(name, at, chunk);
        SystemBuilder<double> builder(n);
        make_all(before, builder);
        const CsrMatrix<double> old = builder.matrix();
        const auto old_values = entries(old.values);
        Calls changed = with_other_values(before);
        change(changed[chunk], at);
        make_all(changed, builder);
        CHECK_FALSE(builder.was_refreshed());
        CHECK(is_expected(builder, ExpectedSystem(n, {}, no_locks, changed)));
        const bool left_alone = entries(old.values) == old_values;
        CHECK(left_alone);
        make_all(with_other_values(changed), builder);
        CHECK(builder.was_refreshed());
      }
    }
  }
}

TEST_CASE("other numbers of chunks and of appended rows are another pattern") {
  SystemBuilder<double> builder(2, of_equations());
  const auto assembled_rows = [&](int chunks, int without_entries) {
    builder.begin(chunks);
    builder.chunk(chunks - 1).begin_row();
    builder.chunk(chunks - 1).coefficient(1, 2);
    builder.chunk(chunks - 1).end_row();
    for (int k = 0; k < without_entries; ++k) {
      builder.chunk().begin_row();
      builder.chunk().end_row();
    }
    builder.finish();
    CHECK(builder.matrix().rows == 1 + without_entries);
    CHECK(builder.right_hand_side().extent(0) == static_cast<std::size_t>(1 + without_entries));
    return builder.was_refreshed();
  };
  CHECK_FALSE(assembled_rows(1, 0));
  CHECK(assembled_rows(1, 0));
  CHECK_FALSE(assembled_rows(1, 2));
  CHECK(assembled_rows(1, 2));
  CHECK_FALSE(assembled_rows(3, 2));
  CHECK(entries(builder.matrix().row_offsets) == std::vector<index_t>{0, 0, 0, 1});
  CHECK_FALSE(assembled_rows(2, 2));
  CHECK_FALSE(assembled_rows(1, 1));
}

TEST_CASE("an assembly that is begun again leaves the pattern where its calls agreed") {
  const Calls calls = random_calls(20, {}, 2, 50, 4);
  SystemBuilder<double> builder(20);
  make_all(calls, builder);
  builder.begin(2);
  std::visit([&](const auto& call) { make(call, builder.chunk()); }, calls[0][0]);
  make_all(calls, builder);
  CHECK(builder.was_refreshed());

  const ExpectedSystem expected(20, {}, no_locks, calls);
  builder.begin(2);
  builder.chunk(1).add(19, 19, 1);
  CHECK(is_expected(builder, expected));  // as the last finish left it
  make_all(calls, builder);
  CHECK_FALSE(builder.was_refreshed());
  CHECK(is_expected(builder, expected));
}

TEST_CASE("which variables are locked is part of the pattern, their values are not") {
  const index_t n = 40;
  const Calls calls = random_calls(n, {}, 2, 200, 3);
  SystemBuilder<double> builder(n);
  Locked locked;
  const auto check = [&](bool refreshed) {
    make_all(calls, builder);
    CHECK(builder.was_refreshed() == refreshed);
    CHECK(is_expected(builder, ExpectedSystem(n, {}, locked, calls)));
    CHECK(builder.free_variables() == n - static_cast<index_t>(locked.size()));
  };
  const auto lock = [&](index_t v, double value) {
    builder.lock(v, value);
    locked[v] = {value};
  };
  const auto unlock = [&](index_t v) {
    builder.unlock(v);
    locked.erase(v);
  };
  check(false);
  lock(3, 0.5);
  check(false);
  lock(3, -0.25);
  check(true);
  unlock(3);
  unlock(3);
  CHECK_FALSE(builder.is_locked(3));
  lock(3, 2);
  CHECK(builder.is_locked(3));
  check(true);
  lock(7, 1);
  check(false);
  unlock(3);
  lock(8, 0.5);  // as many as before
  check(false);
  unlock(7);
  unlock(8);
  check(false);
}

TEST_CASE("values come together and apart") {
  SystemBuilder<double> builder(5, of_equations(1, 2));
  builder.lock(1, 7.0);
  const std::vector<double> two = {3, 4};
  builder.lock(3, std::span<const double>(two));
  // Also before there is a system.
  CHECK(builder.free_variables() == 3);
  CHECK(builder.column_of(4) == 2);
  for (int round = 0; round < 2; ++round) {
    CHECK(builder.column_of(0) == 0);
    CHECK(builder.column_of(1) == -1);
    CHECK(builder.column_of(2) == 1);
    const std::vector<double> all = {10, 11, 12, 13, 14};
    std::vector<double> free(3), back(5);
    builder.gather(all, free);
    CHECK(free == std::vector<double>{10, 12, 14});
    builder.scatter(free, back);
    CHECK(back == std::vector<double>{10, 7, 12, 3, 14});
    builder.scatter(free, back, 1);
    CHECK(back == std::vector<double>{10, 7, 12, 4, 14});
    builder.begin();
    builder.finish();
    builder.unlock(1);  // not before the next finish
    CHECK(builder.free_variables() == 3);
    builder.lock(1, 7.0);
  }
  std::vector<double> five(5), four(4);
  CHECK_THROWS_WITH(builder.gather(five, four), ContainsSubstring("4 unknowns, there are 5 and 3"));
  CHECK_THROWS_AS(builder.scatter(four, five), InvalidArgument);
  std::vector<double> three(3);
  CHECK_THROWS_WITH(builder.scatter(three, five, 2), ContainsSubstring("right-hand side 2"));
}

TEST_CASE("systems of nothing") {
  SystemBuilder<double> none(0);
  none.begin();
  none.finish();
  CHECK(none.matrix().rows == 0);
  CHECK(none.matrix().cols == 0);
  none.assemble(0, [](SystemChunk<double>&, offset_t) {});
  CHECK(none.was_refreshed());

  SystemBuilder<double> empty(3);
  empty.begin();
  empty.finish();
  CHECK(entries(empty.matrix().row_offsets) == std::vector<index_t>(4, 0));
  CHECK(entries(empty.right_hand_side()) == std::vector<double>(3, 0));

  SystemBuilder<double> locked(2);
  locked.lock(0, 1.0);
  locked.lock(1, 1.0);
  locked.begin();
  locked.chunk().add(0, 1, 5);
  locked.chunk().add_right_hand_side(1, 5);
  locked.finish();
  CHECK(locked.matrix().rows == 0);
  CHECK(locked.free_variables() == 0);

  SystemBuilder<double> rows(2, of_equations());
  rows.lock(0, 1.0);
  rows.lock(1, 2.0);
  rows.begin();
  rows.chunk().begin_row();
  rows.chunk().coefficient(1, 5);
  rows.chunk().end_row();
  rows.finish();
  CHECK(rows.matrix().rows == 1);
  CHECK(rows.matrix().cols == 0);
  CHECK(rows.right_hand_side()(0) == -10);

  SystemBuilder<double> one(1);
  one.begin();
  one.chunk().add(0, 0, 5);
  one.finish();
  CHECK(entries(one.matrix().values) == std::vector<double>{5});
}

TEST_CASE("NaN and infinity pass through") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  SystemBuilder<double> builder(2);
  builder.lock(1, nan);
  builder.begin();
  builder.chunk().add(0, 0, std::numeric_limits<double>::infinity());
  builder.chunk().add(0, 1, 1);
  builder.finish();
  CHECK(std::isinf(builder.matrix().values(0)));
  CHECK(std::isnan(builder.right_hand_side()(0)));
}

TEST_CASE("layouts take the values of a refresh") {
  const index_t n = 60;
  const auto fill = [](double turn) {
    return [turn](SystemChunk<double>& chunk, offset_t e) {
      const auto i = static_cast<index_t>(e);
      const std::vector<double> block = {3 * turn, 1, 1, 2 * turn};
      chunk.add_block(i, i, 2, block.data());
      if (i > 0) chunk.add_block(i, i - 1, 2, block.data());
      if (i > 0) chunk.add_block(i - 1, i, 2, block.data());
    };
  };
  for (const char* format : {"auto", "csr", "bcsr:2", "bsell:1", "bsell:2", "dia"}) {
    INFO(format);
    SystemBuilder<double> builder(n);
    builder.assemble(n / 2, fill(1));
    Matrix<double> layout = builder.layout(parse_format(format));
    builder.assemble(n / 2, fill(-0.5));
    REQUIRE(builder.was_refreshed());
    builder.refresh(layout);
    CHECK(same_matrix(to_csr(layout), builder.matrix()));

    builder.assemble(n / 2 - 1, fill(1));  // another pattern, which the old one holds
    REQUIRE_FALSE(builder.was_refreshed());
    builder.begin();
    builder.chunk().add(0, n - 1, 1);
    builder.finish();
    CHECK_THROWS_AS(builder.refresh(layout), InvalidArgument);
    builder.lock(0, 1.0);
    builder.begin();
    builder.finish();
    CHECK_THROWS_WITH(builder.refresh(layout),
                      ContainsSubstring("the layout is 60 x 60, the matrix 59 x 59"));
  }
}

TEST_CASE("what a body throws comes out, and the next assembly is whole") {
  const offset_t count = 5000;
  SystemBuilder<double> builder(count);
  const auto fill = [](offset_t bad) {
    return [bad](SystemChunk<double>& chunk, offset_t i) {
      if (i >= bad) throw std::runtime_error("at " + std::to_string(i));
      chunk.add(static_cast<index_t>(i), static_cast<index_t>(i), 2);
    };
  };
  CHECK_THROWS_WITH(builder.assemble(count, fill(0)), "at 0");
  CHECK_THROWS_AS(builder.matrix(), InvalidArgument);
  CHECK_THROWS_AS(builder.chunk(), InvalidArgument);
  CHECK_THROWS_AS(builder.finish(), InvalidArgument);
  builder.assemble(count, fill(count));
  CHECK(builder.matrix().nonzeros == count);
  CHECK_THROWS_WITH(builder.assemble(count, fill(4000)), "at 4000");
  builder.assemble(count, fill(count));
  CHECK(builder.matrix().nonzeros == count);
  CHECK_THROWS_WITH(builder.assemble(count,
                                     [](SystemChunk<double>& chunk, offset_t i) {
                                       if (i == 0) chunk.begin_row(0);
                                     }),
                    ContainsSubstring("row"));
  builder.assemble(count, fill(count));
  CHECK(builder.matrix().nonzeros == count);
}

TEST_CASE("what does not belong is refused and named, and leaves the chunk alone") {
  CHECK_THROWS_AS(SystemBuilder<double>(-1), InvalidArgument);
  CHECK_THROWS_AS(SystemBuilder<double>(2, of_equations(-1)), InvalidArgument);
  CHECK_THROWS_AS(SystemBuilder<double>(2, of_equations(0, 0)), InvalidArgument);
  CHECK_THROWS_AS(SystemBuilder<double>(2, of_equations(0, 65)), InvalidArgument);
  CHECK_THROWS_AS(SystemBuilder<double>(2, {RowKind::variables, 3, 1, false}), InvalidArgument);

  SystemBuilder<double> builder(5, of_equations(4, 2));
  const auto refused = [](const auto& call, const std::string& text) {
    CHECK_THROWS_WITH(call(), ContainsSubstring("SystemBuilder: " + text));
    CHECK_THROWS_AS(call(), InvalidArgument);
  };
  refused([&] { builder.matrix(); }, "matrix: no system");
  refused([&] { builder.right_hand_side(); }, "right_hand_side: no system");
  refused([&] { builder.right_hand_sides(); }, "right_hand_sides: no system");
  refused([&] { (void)builder.layout({}); }, "layout: no system");
  refused([&] { builder.lock(5, 1.0); }, "lock: variable 5 is out of range");
  refused([&] { builder.lock(-1, 1.0); }, "lock: variable -1");
  refused([&] { builder.lock(0, std::span<const double>()); }, "lock: 0 values for 2");
  refused([&] { builder.unlock(5); }, "unlock: variable 5");
  refused([&] { (void)builder.is_locked(5); }, "is_locked: variable 5");
  refused([&] { (void)builder.column_of(5); }, "column_of: variable 5");
  refused([&] { builder.chunk(); }, "chunk: no assembly");
  refused([&] { builder.finish(); }, "finish: no assembly");
  refused([&] { builder.begin(0); }, "begin: 0 chunks");
  refused([&] { builder.assemble(-1, [](auto&, offset_t) {}); }, "assemble: the count");

  builder.begin(2);
  refused([&] { builder.chunk(2); }, "chunk: 2 is out of range");
  refused([&] { builder.chunk(-1); }, "chunk: -1");
  SystemChunk<double>& chunk = builder.chunk(1);
  const std::vector<double> four(4, 1), none;
  chunk.add(0, 0, 1);
  refused([&] { chunk.add(4, 0, 1); }, "add: row 4 is out of range (0 to 3) (chunk 1)");
  refused([&] { chunk.add(-1, 0, 1); }, "add: row -1");
  refused([&] { chunk.add(0, 5, 1); }, "add: variable 5 is out of range (0 to 4)");
  refused([&] { chunk.add(0, -1, 1); }, "add: variable -1");
  refused([&] { chunk.add_block(1, 2, 2, four.data()); }, "add_block: block (1, 2) of size 2");
  refused([&] { chunk.add_block(2, 1, 2, four.data()); }, "add_block: block (2, 1)");
  refused([&] { chunk.add_block(-1, 1, 2, four.data()); }, "add_block: block (-1, 1)");
  refused([&] { chunk.add_block(1, 1 << 30, 4, four.data()); }, "add_block: block (1, ");
  refused([&] { chunk.add_block(0, 0, 0, four.data()); }, "add_block: the block size");
  const std::vector<index_t> good = {0, 1}, bad = {0, 5}, missing = {0, -1};
  refused([&] { chunk.add_block(bad, good, four.data()); }, "add_block: row 5");
  refused([&] { chunk.add_block(missing, good, four.data()); }, "add_block: row -1");
  refused([&] { chunk.add_block(good, bad, four.data()); }, "add_block: variable 5");
  refused([&] { chunk.add_block(good, missing, four.data()); }, "add_block: variable -1");
  refused([&] { chunk.add_block(std::vector<index_t>(40000, 0), good, four.data()); },
          "add_block: the block has more than 32768");
  refused([&] { chunk.add_right_hand_side(4, 1); }, "add_right_hand_side: row 4");
  refused([&] { chunk.add_right_hand_side(0, 1, 2); }, "add_right_hand_side: right-hand side 2");
  refused([&] { chunk.add_right_hand_side(0, 1, -1); }, "add_right_hand_side: right-hand side -1");
  refused([&] { chunk.coefficient(0, 1); }, "coefficient: no row has begun");
  refused([&] { chunk.right_hand_side(1); }, "right_hand_side: no row");
  refused([&] { chunk.scale(1); }, "scale: no row");
  refused([&] { chunk.end_row(); }, "end_row: no row");
  refused([&] { chunk.begin_row(4); }, "begin_row: row 4");
  chunk.begin_row(2);
  chunk.coefficient(4, 3);
  refused([&] { chunk.add(0, 0, 1); },
          "add: a row has begun and was not ended (chunk 1, in row 2)");
  refused([&] { chunk.add_block(0, 0, 2, four.data()); }, "add_block: a row has begun");
  refused([&] { chunk.add_right_hand_side(0, 1); }, "add_right_hand_side: a row has begun");
  refused([&] { chunk.begin_row(); }, "begin_row: a row has begun");
  refused([&] { chunk.begin_row(0); }, "begin_row: a row has begun");
  refused([&] { chunk.coefficient(5, 1); }, "coefficient: variable 5");
  refused([&] { chunk.right_hand_side(1, 2); }, "right_hand_side: right-hand side 2");
  refused([&] { builder.finish(); },
          "finish: a row has begun and was not ended (chunk 1, in row 2)");
  chunk.end_row();
  chunk.begin_row();
  refused([&] { builder.finish(); },
          "finish: a row has begun and was not ended (chunk 1, in its appended row 0)");
  chunk.coefficient(1, 5);
  chunk.end_row();
  builder.finish();
  refused([&] { chunk.add(0, 0, 1); }, "add: no assembly has begun");
  refused([&] { chunk.begin_row(0); }, "begin_row: no assembly has begun");
  refused([&] { chunk.coefficient(0, 1); }, "coefficient: no assembly has begun");
  refused([&] { builder.right_hand_side(2); }, "right_hand_side: 2 is out of range");
  CHECK(same_matrix(builder.matrix(),
                    literal_csr<double>(5, 5, {0, 1, 1, 2, 2, 3}, {0, 4, 1}, {1, 3, 5})));

  SystemBuilder<double> of_variables(5);
  of_variables.begin();
  refused([&] { of_variables.chunk().begin_row(); }, "begin_row: rows of variables have a number");
}

TEST_CASE("a builder that is moved takes its assembly along") {
  SystemBuilder<double> first(2);
  first.begin();
  first.chunk().add(1, 1, 3);
  SystemBuilder<double> second = std::move(first);
  second.chunk().add(0, 1, 2);
  second.finish();
  CHECK(entries(second.matrix().values) == std::vector<double>{2, 3});
  first = std::move(second);
  CHECK(first.variables() == 2);
  CHECK(first.options().rows == RowKind::variables);
  CHECK(first.matrix().nonzeros == 2);
}

TEMPLATE_TEST_CASE("positions of 64 bits make the same map", "", std::uint32_t, std::uint64_t) {
  // Bigger positions than 32 bits hold are too many for a test: the bound that asks for them is given instead.
  const bool wide = std::is_same_v<TestType, std::uint64_t>;
  const std::vector<index_t> rows = {1, 0, 1, -1, 1}, columns = {2, 0, 0, 1, 2};
  const detail::SortedEntries sorted =
      detail::sort_entries({{rows.data(), columns.data(), 5, 10, 2}}, {3, 3, nullptr, false},
                           wide ? offset_t(1) << 40 : 15);
  const auto& map = std::get<detail::EntryMap<TestType>>(sorted.map);
  const TestType first = detail::SumMap<TestType>::first;
  CHECK(std::vector<TestType>(map.sources.get(), map.sources.get() + 5) ==
        std::vector<TestType>{11 | first, 12 | first, 10 | first, 14, 13 | first});
  CHECK(entries(sorted.row_offsets) == std::vector<index_t>{0, 1, 3, 4});
  CHECK(entries(sorted.columns) == std::vector<index_t>{0, 0, 2, 1});
}

TEST_CASE("what an appended row left is no place for other calls") {
  // In the stream its entries have negative rows, and right-hand sides negative columns.
  SystemBuilder<double> builder(3, of_equations(2));
  const auto begin_as_before = [&] {
    builder.begin();
    builder.chunk().begin_row();
    builder.chunk().coefficient(1, 2);
    builder.chunk().end_row();
  };
  begin_as_before();
  builder.chunk().begin_row();
  builder.chunk().coefficient(1, 2);
  builder.chunk().right_hand_side(3);
  builder.chunk().end_row();
  builder.chunk().add_right_hand_side(1, 7);
  builder.finish();

  begin_as_before();
  const std::vector<index_t> row = {-2}, variable = {1}, right_hand_side = {-1};
  const double value = 1;
  CHECK_THROWS_AS(builder.chunk().add(-2, 1, value), InvalidArgument);
  CHECK_THROWS_AS(builder.chunk().add_block(row, variable, &value), InvalidArgument);
  builder.chunk().begin_row();
  builder.chunk().coefficient(1, 5);
  CHECK_THROWS_AS(builder.chunk().coefficient(-1, value), InvalidArgument);
  builder.chunk().right_hand_side(3);
  builder.chunk().end_row();
  const std::vector<index_t> first = {1};
  CHECK_THROWS_AS(builder.chunk().add_block(first, right_hand_side, &value), InvalidArgument);
  builder.chunk().add_right_hand_side(1, 7);
  builder.finish();
  CHECK(builder.was_refreshed());
  CHECK(entries(builder.matrix().values) == std::vector<double>{2, 5});
}

TEST_CASE("keys that need more than 32 bits make the same matrix") {
  // Two rows of a bucket whose columns are far apart, in a matrix with many rows and few entries.
  const index_t n = 40000000;
  SystemBuilder<double> builder(n, of_equations(n));
  std::vector<Triplet<double>> list;
  Random random(9);
  for (int k = 0; k < 3000; ++k)
    list.push_back({random.below(n), k % 3 == 0 ? random.below(50) : random.below(n), 0.5});
  builder.begin();
  for (const auto& entry : list) builder.chunk().add(entry.row, entry.col, entry.value);
  builder.finish();
  CHECK(same_matrix(builder.matrix(), csr_from_triplets<double>(n, n, list)));
}

TEST_CASE("fewer chunks leave their memory to the others") {
  SystemBuilder<double> builder(10);
  for (const int chunks : {9, 2, 9, 1}) {
    builder.begin(chunks);
    for (int k = 0; k < chunks; ++k)
      for (int i = 0; i < 30000; ++i) builder.chunk(k).add(i % 10, k, 1);
    builder.finish();
    REQUIRE(builder.matrix().nonzeros == 10 * chunks);
    for (const double value : entries(builder.matrix().values)) REQUIRE(value == 3000);
  }
}

TEST_CASE("what does not fit into memory is refused, and nothing is lost") {
  // The address space of this process stands for the memory of a small machine.
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  if (before.rlim_cur != RLIM_INFINITY || is_sanitized)
    CNC_SKIP("the address space is limited already, or a sanitizer has taken most of it");
  const auto leave = [&](std::size_t megabytes) {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const std::size_t used = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const rlimit small{used + (megabytes << 20), before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_AS, &small) == 0);
  };
  const auto caught = [&](const auto& call) {
    std::string text = "granted";
    try {
      call();
    } catch (const OutOfMemory& error) {
      text = error.what();
    }
    setrlimit(RLIMIT_AS, &before);
    return text;
  };
  detail::parallel_for(offset_t(1) << 20,
                       [](offset_t) {});  // starts threads, whose stacks are no subject here
  SystemBuilder<double> builder(1000);
  builder.begin();
  offset_t added = 0;
  leave(30);
  CHECK_THAT(caught([&] {
               for (; added < 50000000; ++added)
                 builder.chunk().add(static_cast<index_t>(added % 1000), 5, 1);
             }),
             ContainsSubstring("SystemBuilder"));
  CHECK(added > 100000);
  for (; added < 2000000 || added % 1000 != 0; ++added)
    builder.chunk().add(static_cast<index_t>(added % 1000), 5, 1);
  leave(10);
  CHECK_THAT(caught([&] { builder.finish(); }), ContainsSubstring("SystemBuilder: finish"));
  CHECK_THROWS_AS(builder.matrix(), InvalidArgument);
  builder.finish();
  CHECK(entries(builder.matrix().values) ==
        std::vector<double>(1000, static_cast<double>(added / 1000)));
}
