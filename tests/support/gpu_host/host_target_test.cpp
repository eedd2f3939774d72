// The host target of the shared GPU kernels, with kernels of its own: what it promises to them, and that it
// notices what a GPU would not forgive.

#include "support/catch.hpp"

#include <cnc/error.hpp>

#include <gpu/resident_launch.hpp>
#include <gpu/resident_schedule.hpp>
#include <gpu/table.hpp>
#include <target/launch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

namespace gpu = cnc::gpu;
using cnc::index_t;
using cnc::Queue;
using namespace cnc::methods;

namespace {

// Every thread reads what its mirror image wrote, several times over.
CNC_GPU_KERNEL(256) mirror(int rounds, double* out) {
  CNC_GPU_SHARED double values[256];
  const int own = gpu::thread_index();
  const int other = gpu::block_threads() - 1 - own;
  double value = own + 1000.0 * gpu::block_index();
  for (int round = 0; round < rounds; ++round) {
    values[own] = value;
    gpu::block_barrier();
    value = values[other];
    gpu::block_barrier();
  }
  out[gpu::block_index() * gpu::block_threads() + own] = value;
}

template <int wave>
CNC_GPU_KERNEL(256)
shuffles(std::int64_t* down, float* exclusive_or, double* sums) {
  const int own = gpu::thread_index();
  down[own] = gpu::shuffle_down<wave>(std::int64_t(own), 5);
  exclusive_or[own] = gpu::shuffle_xor<wave>(float(own), 3);
  // Waves need not keep step with each other.
  for (int extra = 0; extra < own / wave; ++extra) (void)gpu::shuffle_xor<wave>(own, 1);
  double sum = own;
  for (int delta = wave / 2; delta > 0; delta /= 2) sum += gpu::shuffle_down<wave>(sum, delta);
  gpu::block_barrier();
  if (own % wave == 0) sums[own / wave] = sum;
}

// Sums by tree in dynamic shared memory; the block that finishes last adds the blocks' sums.
CNC_GPU_KERNEL(256)
sum_of(index_t n, const double* x, double* partials, std::uint32_t* ticket, double* result) {
  auto* const tree = gpu::dynamic_shared<double>();
  CNC_GPU_SHARED bool last;
  const int own = gpu::thread_index();
  const index_t step = gpu::grid_blocks() * gpu::block_threads();
  double sum = 0;
  for (index_t i = gpu::block_index() * gpu::block_threads() + own; i < n; i += step) sum += x[i];
  tree[own] = sum;
  gpu::block_barrier();
  for (int half = gpu::block_threads() / 2; half > 0; half /= 2) {
    if (own < half) tree[own] += tree[own + half];
    gpu::block_barrier();
  }
  if (own == 0) {
    partials[gpu::block_index()] = tree[0];
    last = gpu::take_ticket(ticket) + 1 == static_cast<std::uint32_t>(gpu::grid_blocks());
  }
  gpu::block_barrier();
  if (!last || own != 0) return;
  *result = std::accumulate(partials, partials + gpu::grid_blocks(), 0.0);
  *ticket = 0;
}

CNC_GPU_KERNEL(256) unwritten_shared(double* seen) {
  const int own = gpu::thread_index();
  auto* const shared = gpu::dynamic_shared<double>();
  seen[gpu::block_index() * gpu::block_threads() + own] = shared[own];
  gpu::block_barrier();
  shared[own] = 1;
}

// Every block announces a number and waits for everybody's, again and again.
CNC_GPU_KERNEL(256)
all_to_all(int rounds, std::uint32_t* arrived, const double* input, double* data, double* sums) {
  const index_t own = gpu::block_index();
  const int thread = gpu::thread_index();
  for (int round = 1; round <= rounds; ++round) {
    double* const plane = data + (round % 2) * gpu::grid_blocks();
    if (thread == gpu::block_threads() - 1) {
      plane[own] = gpu::load_cached(input + own) * round;
      gpu::add_release(arrived, 1);
    }
    if (thread == 0)
      while (gpu::load_acquire(arrived) < static_cast<std::uint32_t>(round * gpu::grid_blocks()))
        gpu::pause();
    gpu::block_barrier();
    if (thread == 0)
      for (index_t block = 0; block < gpu::grid_blocks(); ++block)
        sums[own] += gpu::load_remote(plane + block);
    gpu::block_barrier();
  }
}

CNC_GPU_KERNEL(256) add(double value, index_t n, double* x) {
  const index_t i = gpu::block_index() * gpu::block_threads() + gpu::thread_index();
  if (i < n) x[i] += gpu::load_once(&value);
}

CNC_GPU_KERNEL(256) leaves_before_barrier() {
  if (gpu::thread_index() == 7) return;
  gpu::block_barrier();
}
CNC_GPU_KERNEL(256) leaves_before_shuffle() {
  if (gpu::thread_index() == 63) return;
  (void)gpu::shuffle_down<64>(1.0, 1);
}
CNC_GPU_KERNEL(256) meets_elsewhere() {
  if (gpu::thread_index() < 16)
    gpu::block_barrier();
  else
    (void)gpu::shuffle_xor<32>(1.0, 1);
}
CNC_GPU_KERNEL(256) shuffles_differently() {
  (void)gpu::shuffle_xor<32>(1.0, gpu::thread_index() < 16 ? 1 : 2);
}
CNC_GPU_KERNEL(256) shuffles_in_part_of_a_wave() { (void)gpu::shuffle_xor<64>(1.0, 1); }
CNC_GPU_KERNEL(256) waits_for_another_block(std::uint32_t* word) {
  while (gpu::load_acquire(word) == 0) gpu::pause();
}

/// What a child process says on its standard error before it aborts; "survived" when it does not.
template <class Body>
std::string last_words(const Body& body) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    dup2(ends[1], STDERR_FILENO);
    body();
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 256> part;
  for (ssize_t got; (got = read(ends[0], part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? text : "survived";
}

bool contains(const std::string& text, const char* part) {
  INFO(text);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

template <int wave>
void check_shuffles() {
  constexpr int threads = 192;
  std::vector<std::int64_t> down(threads);
  std::vector<float> exclusive_or(threads);
  std::vector<double> sums(threads / wave);
  for (int repeat = 0; repeat < 8; ++repeat) {
    gpu::launch("shuffles", Queue(), {.blocks = 1, .threads = threads}, shuffles<wave>, down.data(),
                exclusive_or.data(), sums.data());
    for (int i = 0; i < threads; ++i) {
      CHECK(down[i] == (i % wave + 5 < wave ? i + 5 : i));
      CHECK(exclusive_or[i] == float(i ^ 3));
    }
    for (int w = 0; w < threads / wave; ++w) CHECK(sums[w] == wave * (w * wave + (wave - 1) / 2.0));
  }
}

}  // namespace

TEST_CASE("host target: threads of a block meet at barriers") {
  for (const int threads : {1, 2, 31, 64, 256}) {
    constexpr index_t blocks = 5;
    std::vector<double> out(static_cast<std::size_t>(blocks * threads));
    gpu::launch("mirror", Queue(), {.blocks = blocks, .threads = threads}, mirror, 3, out.data());
    for (index_t block = 0; block < blocks; ++block)
      for (int i = 0; i < threads; ++i)
        CHECK(out[block * threads + i] == 1000.0 * block + threads - 1 - i);
  }
}

TEST_CASE("host target: shuffles in waves of 32") { check_shuffles<32>(); }
TEST_CASE("host target: shuffles in waves of 64") { check_shuffles<64>(); }

TEST_CASE("host target: blocks run in any order, the last one finishes a sum") {
  constexpr index_t n = 10000;
  constexpr int threads = 128;
  const gpu::Grid grid{.blocks = 7, .threads = threads, .shared_bytes = threads * sizeof(double)};
  std::vector<double> x(n);
  std::iota(x.begin(), x.end(), 0.0);
  const gpu::DeviceBuffer partials(0, 7 * sizeof(double));
  const gpu::PinnedBuffer ticket(0, sizeof(std::uint32_t));
  for (int repeat = 0; repeat < 20; ++repeat) {
    double sum = 0;
    gpu::launch("sum", Queue(), grid, sum_of, n, x.data(), partials.as<double>(),
                ticket.as<std::uint32_t>(), &sum);
    CHECK(sum == 0.5 * n * (n - 1));
  }
}

TEST_CASE("host target: dynamic shared memory holds no numbers at first") {
  std::vector<double> seen(3 * 64, 0.0);
  gpu::launch("unwritten", Queue(),
              {.blocks = 3, .threads = 64, .shared_bytes = 64 * sizeof(double)}, unwritten_shared,
              seen.data());
  for (const double value : seen) CHECK(std::isnan(value));
}

TEST_CASE("host target: resident blocks wait for each other") {
  constexpr int rounds = 200;
  const index_t blocks = gpu::resident_blocks(Queue(), all_to_all, 128, 0);
  REQUIRE(blocks > 1);
  std::vector<double> input(static_cast<std::size_t>(blocks));
  std::iota(input.begin(), input.end(), 1.0);
  for (int repeat = 0; repeat < 10; ++repeat) {
    std::uint32_t arrived = 0;
    std::vector<double> data(2 * input.size()), sums(input.size());
    gpu::launch_resident("all_to_all", Queue(), {.blocks = blocks, .threads = 128}, all_to_all,
                         rounds, &arrived, input.data(), data.data(), sums.data());
    for (const double sum : sums)
      CHECK(sum == blocks * (blocks + 1) / 2 * (rounds * (rounds + 1) / 2));
  }
}

TEST_CASE("host target: a graph runs when it is replayed") {
  constexpr index_t n = 100;
  using enum gpu::Recorder;
  const auto recorder = GENERATE(launches, another_stream, own_stream);
  std::vector<double> x(n, 5.0);
  const Queue queue;
  const gpu::Graph graph(queue, recorder, [&](const Queue& recording) {
    CHECK((recording.stream == queue.stream) == (recorder != another_stream));
    CHECK((recording.graph != nullptr) == (recorder == launches));
    gpu::fill_bytes(recording, x.data(), 0, sizeof(double));
    gpu::launch("add", recording, {.blocks = 4, .threads = 32}, add, 2.0, n, x.data());
    const auto of_others = [&] { gpu::enqueue(recording, [](const Queue&) {}); };
    if (recorder == launches) {
      CHECK_THROWS_AS(gpu::synchronize(recording), cnc::UnsupportedOperation);
      CHECK_THROWS_AS(of_others(), cnc::UnsupportedOperation);
    } else {
      CHECK_THROWS_AS(gpu::synchronize(recording), cnc::DeviceError);
      CHECK_NOTHROW(of_others());
    }
  });
  CHECK(x[0] == 5);
  for (int replay = 1; replay <= 3; ++replay) {
    graph.replay(queue);
    gpu::synchronize(queue);
    CHECK(x[0] == 2);
    CHECK(x[1] == 5 + 2 * replay);
  }
  const auto replay_twice = [&](const Queue& recording) {
    graph.replay(recording);
    graph.replay(recording);
  };
  if (recorder == launches) {
    CHECK_THROWS_AS(gpu::Graph(queue, recorder, replay_twice), cnc::UnsupportedOperation);
    return;
  }
  const gpu::Graph nested(queue, recorder, replay_twice);
  CHECK(x[1] == 11);
  nested.replay(queue);
  CHECK(x[1] == 15);
}

TEST_CASE("host target: buffers are not zero unless they say so") {
  const gpu::DeviceBuffer device(0, 16);
  const gpu::PinnedBuffer pinned(0, 16);
  for (int i = 0; i < 16; ++i) {
    CHECK(device.as<unsigned char>()[i] == 0xcd);
    CHECK(pinned.as<unsigned char>()[i] == 0);
  }
}

TEST_CASE("host target: launches that a device refuses") {
  double x = 0;
  const auto add_to_x = [&x](const gpu::Grid& grid) {
    gpu::launch("add", Queue(), grid, add, 1.0, 1, &x);
  };
  CHECK_THROWS_AS(add_to_x({.blocks = 1, .threads = 0}), cnc::DeviceError);
  CHECK_THROWS_AS(add_to_x({.blocks = 1, .threads = 1025}), cnc::DeviceError);
  const std::size_t most = gpu::device_facts(0).shared_bytes;
  CHECK_THROWS_AS(add_to_x({.blocks = 1, .threads = 1, .shared_bytes = most + 1}),
                  cnc::DeviceError);
  CHECK(gpu::resident_blocks(Queue(), add, 128, most + 1) == 0);
  const index_t too_many = gpu::resident_blocks(Queue(), add, 128, most) + 1;
  CHECK_THROWS_AS(
      gpu::launch_resident("add", Queue(), {.blocks = too_many, .threads = 128}, add, 1.0, 1, &x),
      cnc::DeviceError);
  void (*const nothing)() = nullptr;
  CHECK_THROWS_AS(gpu::launch("nothing", Queue(), {.blocks = 1, .threads = 1}, nothing),
                  cnc::DeviceError);
  add_to_x({.blocks = 0, .threads = 1});
  CHECK(x == 0);
  add_to_x({.blocks = 1, .threads = 1024, .shared_bytes = most});
  CHECK(x == 1);
}

template <int wave>
int compiled_for(const Queue&, int number) {
  return 1000 * wave + number;
}

TEST_CASE("an entry of several is the one for the waves of the queue's device") {
  const auto entry = gpu::EntryByWave<gpu::Waves<32, 64>, compiled_for<32>, compiled_for<64>>::call;
  Queue queue;
  CHECK(entry(queue, 7) == 32007);
  queue.device = 1;
  CHECK(entry(queue, 7) == 64007);
  CHECK(gpu::EntryByWave<gpu::Waves<32>, compiled_for<32>>::call(queue, 7) == 32007);
}

// Phases of methods that there are not, by what they read and write alone.
enum Vector { vector_a, vector_b, vector_c };
struct WritesA : PassDefaults {
  static constexpr VectorSet reads = set_of(vector_a, vector_c), writes = set_of(vector_a);
};
struct SumsAndWritesA : WritesA {
  static constexpr ScalarList sums = list_of(0);
};
struct FormsA : WritesA {
  static constexpr VectorSet operand_reads = set_of(vector_a, vector_c);
};
struct SumsAndWritesC : PassDefaults {
  static constexpr VectorSet reads = set_of(vector_b), writes = set_of(vector_c);
  static constexpr ScalarList sums = list_of(0);
};
template <class... Phase>
struct Iterates {
  using Iteration = Phases<Phase...>;
  using Finish = void;
};

TEST_CASE("resident runs wait where their phases say so, and nowhere else") {
  using Plain = Product<vector_a, vector_b>;
  using WithDot = Product<vector_a, vector_b, Dot<vector_a, 1>>;

  // What a product gathers is written just before: nobody may begin before all are done.
  constexpr auto written = gpu::resident_schedule<Iterates<WritesA, WithDot, SumsAndWritesC>>();
  CHECK(written.phase[1].meets_grid);
  CHECK_FALSE(written.phase[2].meets_grid);
  CHECK(written.doubled == 0);
  CHECK(written.on_chip == set_of(vector_b, vector_c));

  // It is written while others may still gather it: to a second vector, and the sum is the only barrier.
  constexpr auto overlapping = gpu::resident_schedule<Iterates<Plain, SumsAndWritesA>>();
  CHECK(overlapping.phase[1].turns == set_of(vector_a));
  CHECK_FALSE(overlapping.phase[1].meets_grid);
  CHECK(overlapping.phase[1].meets_block);
  CHECK(overlapping.doubled == set_of(vector_a));
  // With a sum in between, the one vector is enough.
  constexpr auto apart = gpu::resident_schedule<Iterates<WithDot, SumsAndWritesA>>();
  CHECK(apart.doubled == 0);

  // The operand is formed on the way: no barrier, but the old one is still in use.
  constexpr auto formed = gpu::resident_schedule<Iterates<FormsA, WithDot, SumsAndWritesC>>();
  CHECK(formed.phase[0].postponed);
  CHECK(formed.phase[1].forms);
  CHECK_FALSE(formed.phase[1].meets_grid);
  CHECK(formed.phase[1].turns == set_of(vector_a));
  CHECK(formed.gathered == set_of(vector_a, vector_c));
  CHECK(formed.on_chip == set_of(vector_b));
  CHECK(formed.carried == set_of(vector_a, vector_c));

  // Nothing is kept for M^-1 r, which r stands for where M is one number.
  using Recurrence = cnc::methods::CgSingleReduction<double>;
  constexpr auto kept = gpu::resident_schedule<Recurrence>(),
                 implied = gpu::resident_schedule<Recurrence, true>();
  CHECK(kept.gathered == set_of(Recurrence::z));
  CHECK(kept.on_chip ==
        set_of(Recurrence::r, Recurrence::q, Recurrence::p, Recurrence::x, Recurrence::s));
  CHECK(implied.gathered == set_of(Recurrence::r));
  CHECK(implied.on_chip == set_of(Recurrence::q, Recurrence::p, Recurrence::x, Recurrence::s));
  CHECK((kept.doubled | implied.doubled) == 0);
}

TEST_CASE("vectors without room on chip are left to the second-level cache where they stay there") {
  gpu::DeviceFacts facts;
  facts.cache_bytes = std::size_t(50) << 20;
  const double bytes = sizeof(double);
  CHECK(gpu::stay_in_cache(2, 100. * 100 * 100 * bytes, facts));
  CHECK(gpu::stay_in_cache(3, 110. * 110 * 110 * bytes, facts));
  CHECK_FALSE(gpu::stay_in_cache(3, 120. * 120 * 120 * bytes, facts));
}

TEST_CASE("host target: lanes that do not meet end the process") {
  const auto words = [](int threads, void (*kernel)()) {
    return last_words(
        [&] { gpu::launch("op_name", Queue(), {.blocks = 1, .threads = threads}, kernel); });
  };
  contains(words(64, leaves_before_barrier), "op_name: block 0 of 1, thread ");
  contains(words(64, leaves_before_barrier), "returned from the kernel");
  contains(words(64, leaves_before_shuffle), "returned from the kernel");
  contains(words(64, meets_elsewhere), "waits in");  // which of them says so depends on who starts
  contains(words(32, shuffles_differently), "another shuffle");
  contains(words(96, shuffles_in_part_of_a_wave), "last wave is not full");
  std::uint32_t word = 0;
  contains(last_words([&] {
             gpu::launch("op_name", Queue(), {.blocks = 1, .threads = 2}, waits_for_another_block,
                         &word);
           }),
           "waits for another block");
}
