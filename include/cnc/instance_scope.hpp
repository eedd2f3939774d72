#pragma once

#include <Kokkos_Core.hpp>

namespace cnc {

namespace detail {
/// What the innermost scope of this thread names, null outside of any.
template <class Exec>
const Exec*& scoped_instance() {
  thread_local const Exec* instance = nullptr;
  return instance;
}

/// The instance on which this thread allocates and sets up: the innermost scope's, else Kokkos' default one.
template <class Exec>
Exec instance() {
  const Exec* const scoped = scoped_instance<Exec>();
  return scoped != nullptr ? *scoped : Exec();
}
}  // namespace detail

/// While it lives, what this thread allocates, copies, converts or sets up through cnc in the memory of Exec
/// happens on `exec`, and so on the device of its stream. Without one, that is Kokkos' default instance, on the
/// first device. Context and Solver open one for themselves; open one to convert or copy a matrix for a second
/// device:
///
///     cnc::InstanceScope scope(exec_of_device_1);
///     const auto A = cnc::copy_to<Space>(host_A);
///
/// Keeps a reference to `exec`, which must outlive it. Scopes of a thread end in the reverse order.
template <class Exec>
class InstanceScope {
 public:
  /// Opens it.
  explicit InstanceScope(const Exec& exec) : before_(detail::scoped_instance<Exec>()) {
    detail::scoped_instance<Exec>() = &exec;
  }
  ~InstanceScope() { detail::scoped_instance<Exec>() = before_; }
  InstanceScope(const InstanceScope&) = delete;
  InstanceScope& operator=(const InstanceScope&) = delete;

 private:
  const Exec* before_;
};

}  // namespace cnc
