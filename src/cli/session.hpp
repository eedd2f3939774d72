#pragma once

#include <Kokkos_Core.hpp>

#include <memory>

namespace cnc::cli {

/// Kokkos, alive for as long as a subcommand works. Created after parsing, so that --help needs no
/// start-up and the thread count reaches everything that has threads.
class Session {
 public:
  /// threads 0: all that OpenMP would use.
  explicit Session(int threads);

 private:
  std::unique_ptr<Kokkos::ScopeGuard> guard_;
};

}  // namespace cnc::cli
