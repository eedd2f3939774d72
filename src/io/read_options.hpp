#pragma once

#include <cstddef>

namespace cnc::detail {

/// What tests and the fuzzer turn and the public readers leave alone.
struct ReadOptions {
  std::size_t window_bytes = 0;    ///< text held at a time; 0 chooses by the number of threads
  std::size_t chunk_bytes = 4096;  ///< the least text that is worth a thread of its own
  int threads = 0;                 ///< 0: all that set-up code uses
  std::size_t memory_limit =
      0;  ///< bytes that entries and result may take together; 0: what the system has left
  bool verify_checksum = true;  ///< of a binary cache

  int thread_count() const;
  std::size_t window() const;
};

}  // namespace cnc::detail
