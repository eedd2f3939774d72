#pragma once

#include <cnc/backend.hpp>
#include <cnc/vector.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>

namespace cnc {

namespace detail {
#if defined(KOKKOS_HAS_SHARED_HOST_PINNED_SPACE)
using PinnedSpace = Kokkos::SharedHostPinnedSpace;
#elif defined(KOKKOS_ENABLE_CUDA)
using PinnedSpace = Kokkos::CudaHostPinnedSpace;
#elif defined(KOKKOS_ENABLE_HIP)
using PinnedSpace = Kokkos::Experimental::HIPHostPinnedSpace;
#else
using PinnedSpace = Kokkos::HostSpace;
#endif

/// Memory that the host and kernels in Space both reach.
template <class Space>
using SharedSpace = std::conditional_t<is_host_space<Space>, Kokkos::HostSpace, PinnedSpace>;

/// Exec(), which ends the process in some versions when Kokkos is not initialised.
template <class Exec>
Exec default_instance() {
  require_kokkos("Context");
  return Exec();
}

/// The vendor's stream of an execution-space instance and the number of its device; null, 0 on a host.
template <class Exec>
void set_stream(Queue& queue, const Exec& exec) {
  if constexpr (requires { exec.cuda_stream(); }) {
    queue.stream = exec.cuda_stream();
    queue.device = exec.cuda_device();
  } else if constexpr (requires { exec.hip_stream(); }) {
    queue.stream = exec.hip_stream();
    queue.device = exec.hip_device();
  }
}

/// Throws InvalidArgument naming the largest number unless it is 0 to largest_threads().
void require_threads(int threads);
}  // namespace detail

/// Where operations run: an execution-space instance (stream), a backend, and scratch.
///
/// The memory space is a type (Exec::memory_space), the kernel set a value: in one process contexts
/// with different backends work side by side on the same views. A context is not shared between
/// threads; several contexts may be used at once, on a device each on a stream of its own: construct
/// the execution-space instance from the stream.
template <class Exec = Kokkos::DefaultHostExecutionSpace>
class Context {
  static_assert(std::is_same_v<Exec, Kokkos::DefaultHostExecutionSpace> ||
                    std::is_same_v<Exec, Kokkos::DefaultExecutionSpace>,
                "backends are built for Kokkos' default host and default execution spaces");

 public:
  using execution_space = Exec;  ///< where operations run
  using memory_space = typename Exec::memory_space;
  /// Which of the two memories that is.
  static constexpr MemorySpace memory =
      detail::is_host_space<memory_space> ? MemorySpace::host : MemorySpace::device;

  /// Host contexts use `threads` threads (0: default_threads()).
  /// Errors   as find_backend; InvalidArgument (threads < 0 or > largest_threads(), Kokkos is not initialised);
  ///          OutOfMemory.
  explicit Context(std::string_view backend = "auto", int threads = 0,
                   const Exec& exec = detail::default_instance<Exec>())
      : Context(find_backend(backend, memory), threads, exec) {}
  /// The same for a literal.
  explicit Context(const char* backend, int threads = 0,
                   const Exec& exec = detail::default_instance<Exec>())
      : Context(std::string_view(backend), threads, exec) {}
  /// With a backend that need not be in the registry: it works in this memory and is usable.
  /// Errors   InvalidArgument (threads, a backend for other memory, Kokkos is not initialised);
  ///          OutOfMemory.
  explicit Context(const Backend& backend, int threads = 0,
                   const Exec& exec = detail::default_instance<Exec>());
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Backend& backend() const { return *backend_; }            ///< the one chosen
  const Exec& execution_space_instance() const { return exec_; }  ///< the stream
  int threads() const { return queue_.threads; }                  ///< of a host backend
  /// Scalars that a thread of a host backend must have to itself before it is woken (default 16384).
  /// Results do not depend on it.
  /// Errors   InvalidArgument (scalars < 1).
  void set_least_work(double scalars) {
    require(scalars >= 1, "Context: least work must be at least 1");
    queue_.least_work = scalars;
  }
  /// Threads per block of a device backend's kernels, 0 for what its tuning table says. For measuring;
  /// sums may then be taken in another order.
  /// Errors   InvalidArgument (not 0, 32, 64, ... 1024).
  void set_block_threads(int threads) {
    require(threads >= 0 && threads <= 1024 && threads % 32 == 0,
            "Context: threads per block must be a multiple of 32, 1024 at most");
    queue_.block_threads = threads;
  }

  /// Makes sure that reductions over n rows have their scratch. Allocates when n grows.
  /// Errors   OutOfMemory; the scratch is then as before.
  void reserve(index_t n);

  /// What backends receive. Scratch covers the last reserve.
  const Queue& queue() const { return queue_; }

  /// The backend's operations on vectors of V.
  template <class V>
  const VectorOps<V>& vectors() const {
    return vector_ops<V>(*backend_);
  }
  /// The backend's operations with the format of an operand on vectors of V.
  template <class V, class Operand>
  const MatrixOps<Operand, V>& matrices(const Operand&) const {
    return matrix_ops<Operand, V>(*backend_);
  }

  /// Waits until everything enqueued is done.
  void fence() const { exec_.fence(); }

  /// Slots for results of reductions, in memory that host and backend both reach.
  static constexpr int result_slots = 4;
  /// One of them.
  double* result_slot(int slot = 0) const { return results_.data() + slot; }
  /// Waits for everything enqueued; what is in the slots holds until something is written there again.
  const double* read_results() const {
    exec_.fence();
    return results_.data();
  }
  /// The same for the first slot.
  double read_result() const { return read_results()[0]; }

 private:
  Exec exec_;
  const Backend* backend_;
  Queue queue_;
  Vector<double, memory_space> partials_;
  Vector<double, detail::SharedSpace<memory_space>> results_;
  Vector<std::uint32_t, memory_space> tickets_;
};

/// A context of the host unless the type says otherwise.
Context()->Context<>;
/// The same with a backend.
Context(const char*)->Context<>;

/// Threads that a host context uses when none are asked for: OMP_NUM_THREADS if that is set; else as many
/// as the calling thread's affinity and the time quota of the process (control groups, versions 1 and 2,
/// rounded up) give it processors, and no more than omp_set_num_threads said.
int default_threads();

/// The most threads that a context takes: beyond it an OpenMP library ends the process when the system refuses
/// a thread. Eight for each processor of the machine, 256 at least.
int largest_threads();

template <class Exec>
Context<Exec>::Context(const Backend& backend, int threads, const Exec& exec)
    : exec_(exec), backend_(&backend) {
  detail::require_threads(threads);
  require(backend.memory == memory, "Context: the backend works in other memory");
  queue_.threads = threads == 0 ? default_threads() : threads;
  queue_.execution_space = &exec_;
  detail::set_stream(queue_, exec_);
  const InstanceScope scope(exec_);
  results_ = zeroed<double, detail::SharedSpace<memory_space>>("cnc::results", result_slots);
  tickets_ = zeroed<std::uint32_t, memory_space>("cnc::tickets", ticket_slots);
  queue_.tickets = tickets_.data();
}

template <class Exec>
void Context<Exec>::reserve(index_t n) {
  const auto slots = static_cast<std::size_t>(reduction_slots(n));
  if (partials_.extent(0) < slots) {
    exec_.fence();  // nothing may still use the old ones
    const InstanceScope scope(exec_);
    partials_ = uninitialized<double, memory_space>("cnc::partials", slots);
  }
  queue_.partials = partials_.data();
}

namespace detail {
/// The entry, or UnsupportedOperation naming backend and operation when the backend does not offer it.
template <class Function>
Function offered(Function entry, const Backend& backend, const char* operation) {
  if (entry == nullptr)
    throw UnsupportedOperation(std::string("backend '") + backend.name + "' does not offer " +
                               operation + " for this format and precision");
  return entry;
}

/// Checks at the public door that a view is what kernels expect: rank 1, reachable by the context,
/// contiguous, and of the given length.
template <class Exec, class View>
void check_vector(const View& view, index_t n, const char* text) {
  static_assert(View::rank == 1, "vectors are views of rank 1");
  static_assert(Kokkos::SpaceAccessibility<Exec, typename View::memory_space>::accessible,
                "the context's execution space cannot reach this vector");
  require(view.extent(0) == static_cast<std::size_t>(n), text);
  require(view.span_is_contiguous(), "vectors must be contiguous, not strided views");
}
}  // namespace detail

}  // namespace cnc
