#include "support/gpu_host/processor.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>

#ifdef CNC_GPU_HOST_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace cnc::gpu::inline host::machine {

namespace {
constexpr std::align_val_t shared_alignment{16};
/// Pauses after which a block that cannot be waiting for another one is taken to do so.
constexpr unsigned patience = 1u << 20;
}  // namespace

constinit thread_local Processor* Processor::current_ = nullptr;

Processor& Processor::mine() {
  thread_local Processor processor;
  return processor;
}

Processor::Processor()
    : shared_(static_cast<std::byte*>(::operator new(max_shared_bytes, shared_alignment))) {}

Processor::~Processor() {
#ifdef CNC_GPU_HOST_ASAN
  __asan_unpoison_memory_region(shared_, max_shared_bytes);
#endif
  ::operator delete(shared_, shared_alignment);
}

void Processor::run(const BlockTask& task) {
  task_ = task;
  started_ = finished_ = in_barrier_ = 0;
  pauses_ = 0;
  wave_ = group_lanes;
  groups_.fill({});
  ready_begin_ = ready_end_ = 0;
#ifdef CNC_GPU_HOST_ASAN
  __asan_unpoison_memory_region(shared_, task.shared_bytes);
  __asan_poison_memory_region(shared_ + task.shared_bytes, max_shared_bytes - task.shared_bytes);
#endif
  std::memset(shared_, 0xff, task.shared_bytes);  // NaN, in float and double

  current_ = this;
  switch_to(idle_fiber());
  current_ = nullptr;
}

// --- fibers -----------------------------------------------------------------------------------
// A fiber takes one lane after the other for as long as they return without having waited: kernels
// that meet nowhere need one fiber and no switch. A lane that waits keeps its fiber.

void Processor::work(void* self) {
  auto* const processor = static_cast<Processor*>(self);
  for (;;) processor->take_lanes();
}

void Processor::take_lanes() {
  while (started_ < task_.threads) {
    const int turn = started_++;
    lane_ = task_.descending ? task_.threads - 1 - turn : turn;
    fiber_of_[static_cast<std::size_t>(lane_)] = running_;
    (*task_.lane)();
    finish_lane();
  }
  idle_.push_back(running_);
  if (finished_ == task_.threads)
    switch_to(root_);
  else
    resume_next();
}

void Processor::finish_lane() {
  if (in_barrier_ > 0)
    fail("returned from the kernel while others of its block wait in block_barrier");
  if (count(wave_, &Group::exchanging) > 0)
    fail("returned from the kernel while others of its wave wait in a shuffle");
  ++groups_[static_cast<std::size_t>(lane_ / group_lanes)].finished;
  ++finished_;
}

void Processor::suspend() {
  if (started_ < task_.threads)
    switch_to(idle_fiber());
  else
    resume_next();
}

void Processor::resume_next() {
  if (ready_begin_ == ready_end_) fail("was the last to run, and others wait for ever");
  lane_ = ready_[ready_begin_++ % max_block_threads];
  Fiber& fiber = *fiber_of_[static_cast<std::size_t>(lane_)];
  if (&fiber != running_) switch_to(fiber);
}

/// Makes the lanes [first, last) ready, but for the one that runs: it goes on by itself.
void Processor::release(int first, int last) {
  for (int lane = first; lane < last; ++lane)
    if (lane != lane_) ready_[ready_end_++ % max_block_threads] = lane;
}

void Processor::switch_to(Fiber& fiber) {
  Fiber& from = *running_;
  running_ = &fiber;
  from.switch_to(fiber);
}

Fiber& Processor::idle_fiber() {
  if (idle_.empty()) {
    fibers_.push_back(std::make_unique<Fiber>(work, this, static_cast<int>(fibers_.size())));
    return *fibers_.back();
  }
  Fiber& fiber = *idle_.back();
  idle_.pop_back();
  return fiber;
}

// --- where lanes meet -------------------------------------------------------------------------

int Processor::count(int wave, int Group::*what) {
  const Group* const groups = wave_groups(wave);
  return wave == group_lanes ? groups[0].*what : groups[0].*what + groups[1].*what;
}

void Processor::barrier() {
  if (finished_ > 0)
    fail("waits in block_barrier, but others of its block have returned from the kernel");
  if (count(wave_, &Group::exchanging) > 0)
    fail("waits in block_barrier while others of its wave wait in a shuffle");
  ++groups_[static_cast<std::size_t>(lane_ / group_lanes)].in_barrier;
  if (++in_barrier_ < task_.threads) return suspend();
  in_barrier_ = 0;
  for (Group& group : groups_) group.in_barrier = 0;
  release(0, task_.threads);
}

void Processor::meet_wave(int wave, Exchange kind, int argument) {
  if (task_.threads % wave != 0) fail("shuffles in a block whose last wave is not full");
  wave_ = wave;
  if (count(wave, &Group::finished) > 0)
    fail("waits in a shuffle, but others of its wave have returned from the kernel");
  if (count(wave, &Group::in_barrier) > 0)
    fail("waits in a shuffle while others of its wave wait in block_barrier");

  Group& own = groups_[static_cast<std::size_t>(lane_ / group_lanes)];
  Group* const groups = wave_groups(wave);
  const int members = wave / group_lanes;
  for (Group* group = groups; group != groups + members; ++group)
    if (group->exchanging > 0 && (group->kind != kind || group->argument != argument))
      fail("waits in another shuffle than others of its wave");
  own.kind = kind;
  own.argument = argument;
  ++own.exchanging;
  if (count(wave, &Group::exchanging) < wave) return suspend();
  for (Group* group = groups; group != groups + members; ++group) {
    group->exchanging = 0;
    ++group->exchanges;
  }
  const int first = lane_ / wave * wave;
  release(first, first + wave);
}

void Processor::pause() {
  ++pauses_;
  if (!task_.resident && pauses_ > patience)
    fail("waits for another block, which need not run before this one has ended");
  const bool alone = ready_begin_ == ready_end_ && started_ == task_.threads;
  if (alone || pauses_ % 64 == 0) std::this_thread::yield();
  if (alone) return;
  ready_[ready_end_++ % max_block_threads] = lane_;
  suspend();
}

void Processor::pause_for_peer() { std::this_thread::yield(); }

void Processor::fail(const char* text) const {
  std::fprintf(stderr, "gpu-host: %s: block %d of %d, thread %d of %d %s\n", task_.operation,
               static_cast<int>(task_.block), static_cast<int>(task_.blocks), lane_, task_.threads,
               text);
  std::abort();
}

}  // namespace cnc::gpu::inline host::machine
