#pragma once

#include <cnc/contract/backend.hpp>

#include "solve/tally.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace cnc::detail {

/// Operations that come up again and again, each sequence of them under a key that says all that it depends on. A backend
/// that records replays them: launches take longer than their work on all but large systems.
template <class Key>
class Recorded {
 public:
  /// Whether the backend records at all, and has not failed to.
  bool offered(const Backend& backend) const { return backend.record != nullptr && !failed_; }
  void forget() { known_.clear(); }

  /// enqueue(null) enqueues the operations, enqueue(&queue) on a queue that records them. True: they were replayed instead.
  template <class Enqueue>
  bool run(const Backend& backend, const Queue& queue, const Key& key, Tally& tally,
           Enqueue enqueue) {
    const auto at =
        std::find_if(known_.begin(), known_.end(), [&](const auto& one) { return one.key == key; });
    const offset_t before = tally.backend_calls;
    if (at == known_.end()) {
      if (known_.size() >= most) known_.clear();
      enqueue(nullptr);
      known_.push_back({key, tally.backend_calls - before, nullptr});
      return false;
    }
    if (at->recording == nullptr) {
      try {
        at->recording = backend.record(
            queue, [](void* f, const Queue& on) { (*static_cast<Enqueue*>(f))(&on); }, &enqueue);
      } catch (const Error&) {
      }
      tally.backend_calls = before;
    }
    if (at->recording == nullptr) {
      failed_ = true;
      enqueue(nullptr);
      return false;
    }
    at->recording->replay(queue);
    tally.backend_calls += at->calls;
    return true;
  }

 private:
  struct One {
    Key key;
    offset_t calls;
    std::unique_ptr<Recording> recording;  ///< made when they come up again
  };
  /// More come up only where matrices or preconditioners keep changing.
  static constexpr std::size_t most = 64;
  std::vector<One> known_;
  bool failed_ = false;
};

}  // namespace cnc::detail
