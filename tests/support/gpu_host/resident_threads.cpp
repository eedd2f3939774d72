#include "support/gpu_host/resident_threads.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace cnc::gpu::inline host::machine {

namespace {

class ResidentThreads {
 public:
  ~ResidentThreads() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void run(index_t blocks, const std::function<void(index_t)>& block) {
    const std::lock_guard one_group(group_);
    {
      const std::lock_guard lock(mutex_);
      while (static_cast<index_t>(threads_.size()) < blocks - 1)
        threads_.emplace_back([this, number = static_cast<index_t>(threads_.size() + 1),
                               seen = round_] { serve(number, seen); });
      block_ = &block;
      blocks_ = blocks;
      running_ = blocks - 1;
      ++round_;
    }
    changed_.notify_all();
    block(0);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return running_ == 0; });
  }

 private:
  /// Runs block `number` of every round after `seen` that has so many.
  void serve(index_t number, unsigned seen) {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return closing_ || round_ != seen; });
      if (closing_) return;
      seen = round_;
      if (number >= blocks_) continue;
      lock.unlock();
      (*block_)(number);
      lock.lock();
      if (--running_ == 0) changed_.notify_all();
    }
  }

  std::mutex group_;
  std::mutex mutex_;  ///< guards all below
  std::condition_variable changed_;
  std::vector<std::thread> threads_;
  const std::function<void(index_t)>* block_ = nullptr;
  index_t blocks_ = 0;
  index_t running_ = 0;
  unsigned round_ = 0;
  bool closing_ = false;
};

}  // namespace

void run_resident(index_t blocks, const std::function<void(index_t)>& block) {
  static ResidentThreads threads;
  threads.run(blocks, block);
}

}  // namespace cnc::gpu::inline host::machine
