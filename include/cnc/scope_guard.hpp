#pragma once

namespace cnc {

/// Keeps Kokkos alive for as long as it lives: initialises it, and finalises it at the end of the scope. Does
/// nothing at all where the host program has initialised Kokkos before: that program then finalises it.
///
/// Everything that holds Kokkos memory (vectors, matrices, contexts, solvers) must be made after the
/// guard and destroyed before it. A guard that is the first object of main() does that.
class [[nodiscard]] ScopeGuard {
 public:
  /// Kokkos takes its settings from the environment.
  /// Errors   InvalidArgument (Kokkos has been finalised, which it does not survive; Kokkos 3 cannot tell).
  ScopeGuard();
  /// Kokkos also takes its settings from its arguments (--kokkos-num-threads=4), which it removes from argv.
  /// Errors   as above.
  ScopeGuard(int& argc, char** argv);
  ~ScopeGuard();

  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;

  /// Whether this guard initialised Kokkos, and will finalise it.
  bool owns_kokkos() const { return owns_kokkos_; }

 private:
  bool owns_kokkos_ = false;
};

}  // namespace cnc
