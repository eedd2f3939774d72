#pragma once

#include "conformance/device_arena.hpp"
#include "conformance/guarded_vector.hpp"

#include <cnc/context.hpp>
#include <cnc/matrix.hpp>
#include <cnc/preconditioner.hpp>

#include <type_traits>
#include <utility>
#include <vector>

namespace cnc::testing {

/// A queue for n rows whose scratch is as small as the contract allows, and walled. It also brings
/// operands into the backend's memory: queue(x) is where the backend finds what the host has in x. For a
/// host backend that is x itself; for a device backend a copy, which finish() copies back.
class TestQueue {
 public:
  TestQueue(const Backend& backend, index_t n, int threads)
      : on_device_(backend.memory == MemorySpace::device), partials_(partials_for(n)) {
    queue_.execution_space = &exec_;
    queue_.threads = threads;
    queue_.least_work = 1;  // small as the matrices are, their work is shared out
#ifdef CNC_KOKKOS_HAS_DEVICE
    if (on_device_) {
      DeviceArena& arena = DeviceArena::instance();
      arena.release_all();
      queue_.execution_space = &arena.exec();
      detail::set_stream(queue_, arena.exec());
    }
#endif
    queue_.partials = (*this)(partials_);
    queue_.tickets = array(tickets_, ticket_slots);
  }
  ~TestQueue() {
    if (partials_.size() == least_reduction_slots) spare_partials().push_back(std::move(partials_));
  }
  TestQueue(const TestQueue&) = delete;
  TestQueue& operator=(const TestQueue&) = delete;

  operator const Queue&() const { return queue_; }

  template <class V>
  V* operator()(GuardedVector<V>& x) const {
    return array(x.storage(), x.storage_size()) + x.first();
  }
  template <class V>
  const V* operator()(const GuardedVector<V>& x) const {
    return array(x.storage(), x.storage_size()) + x.first();
  }
  /// A single number or struct that the backend writes.
  template <class T>
  requires std::is_trivially_copyable_v<T> T* operator()(T& value) const {
    return array(&value, 1);
  }
  template <class T, class... Traits>
  auto operator()(const Kokkos::View<T*, Traits...>& view) const {
    return array(view.data(), view.extent(0));
  }
  /// The operand of a matrix.
  template <class T>
  BcsrOperand<T> operator()(const BcsrMatrix<T>& A) const {
    BcsrOperand<T> operand = A.operand();
    operand.row_offsets = (*this)(A.row_offsets);
    operand.columns = (*this)(A.columns);
    operand.short_columns = (*this)(A.short_columns);
    operand.value_table = table(A.value_table);
    operand.values = constant(A.values);
    return operand;
  }
  template <class T>
  BsellOperand<T> operator()(const BsellMatrix<T>& A) const {
    BsellOperand<T> operand = A.operand();
    operand.slice_offsets = (*this)(A.slice_offsets);
    operand.columns = (*this)(A.columns);
    operand.short_columns = (*this)(A.short_columns);
    operand.value_table = table(A.value_table);
    operand.row_permutation = (*this)(A.row_permutation);
    operand.values = constant(A.values);
    return operand;
  }
  template <class T>
  DiaOperand<T> operator()(const DiaMatrix<T>& A) const {
    DiaOperand<T> operand = A.operand();
    operand.offsets = (*this)(A.offsets);
    operand.values = constant(A.values);
    return operand;
  }

  template <class V>
  PreconditionerOperand<V> operator()(const Preconditioner<V>& M) const {
    PreconditionerOperand<V> operand = M.operand();
    operand.inverse = constant(M.inverse);
    operand.transposed_inverse = constant(M.transposed_inverse);
    return operand;
  }

  /// Memory for a history, which host and backend both reach; finish() copies it into x.
  double* shared(GuardedVector<double>& x) const {
#ifdef CNC_KOKKOS_HAS_DEVICE
    if (on_device_) {
      shared_ = Vector<double, detail::PinnedSpace>("shared", x.storage_size());
      std::copy(x.storage(), x.storage() + x.storage_size(), shared_.data());
      shared_by_ = &x;
      return shared_.data() + x.first();
    }
#endif
    return x.data();
  }

  /// Waits, and brings back what the backend may have written.
  void finish() const {
    exec_.fence();
#ifdef CNC_KOKKOS_HAS_DEVICE
    if (!on_device_) return;
    DeviceArena& arena = DeviceArena::instance();
    arena.exec().fence();
    for (const Written& piece : written_) arena.download(piece.host, piece.device, piece.bytes);
    if (shared_by_ != nullptr)
      std::copy(shared_.data(), shared_.data() + shared_.extent(0), shared_by_->storage());
#endif
  }
  /// Whether the operations used their scratch only, and left the tickets at zero. After finish().
  bool walls_intact() const {
    return partials_.walls_intact() &&
           std::all_of(tickets_, tickets_ + ticket_slots,
                       [](std::uint32_t ticket) { return ticket == 0; });
  }

 private:
  struct Written {
    void* host;
    const void* device;
    std::size_t bytes;
  };

  /// Scratch of queues before, for later ones: to fill it, or only to get it, takes longer than many an operation where tests
  /// are sanitized.
  static std::vector<GuardedVector<double>>& spare_partials() {
    thread_local std::vector<GuardedVector<double>> spare;
    return spare;
  }
  /// None of them a number.
  static GuardedVector<double> partials_for(index_t n) {
    static const GuardedVector<double> least(least_reduction_slots, Alignment::odd);
    if (reduction_slots(n) != least.size()) return {reduction_slots(n), Alignment::odd};
    std::vector<GuardedVector<double>>& spare = spare_partials();
    if (spare.empty()) return least;
    GuardedVector<double> partials = std::move(spare.back());
    spare.pop_back();
    partials = least;
    return partials;
  }
  template <class T>
  T* array(T* host, std::size_t n) const {
#ifdef CNC_KOKKOS_HAS_DEVICE
    if (on_device_ && n > 0) {
      void* const device = DeviceArena::instance().upload(host, n * sizeof(T));
      if constexpr (!std::is_const_v<T>) written_.push_back({host, device, n * sizeof(T)});
      return static_cast<T*>(device);
    }
#endif
    (void)n;
    return host;
  }
  template <class T>
  ValueTableOperand<T> table(const ValueTable<T>& A) const {
    return {constant(A.codes), constant(A.values)};
  }
  template <class View>
  auto constant(const View& view) const {
    return array(static_cast<const typename View::non_const_value_type*>(view.data()),
                 view.extent(0));
  }

  Kokkos::DefaultHostExecutionSpace exec_;
  [[maybe_unused]] bool on_device_;
  GuardedVector<double> partials_;
  std::uint32_t tickets_[ticket_slots] = {};
  Queue queue_;
  mutable std::vector<Written> written_;
#ifdef CNC_KOKKOS_HAS_DEVICE
  mutable Vector<double, detail::PinnedSpace> shared_;
  mutable GuardedVector<double>* shared_by_ = nullptr;
#endif
};

}  // namespace cnc::testing
