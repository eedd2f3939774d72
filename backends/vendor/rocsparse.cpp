#include "vendor/rocsparse.hpp"

#include "hip/hip.hpp"

#include <cnc/contract/error.hpp>

#include <hip/hip_runtime_api.h>
#include <rocsparse/rocsparse.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>

namespace cnc {
namespace rocsparse {
namespace {

void check(hipError_t code, const char* operation) {
  if (code != hipSuccess) throw DeviceError(operation, "rocsparse", hipGetErrorString(code));
}
void check(rocsparse_status code, const char* operation) {
  if (code != rocsparse_status_success)
    throw DeviceError(operation, "rocsparse", "status " + std::to_string(static_cast<int>(code)));
}

/// The function for V of the two that the library has.
template <class V, class F32, class F64>
constexpr auto pick(F32* f32, F64* f64) {
  if constexpr (std::is_same_v<V, float>)
    return f32;
  else
    return f64;
}

/// The library's notes on one matrix.
template <class V>
class Analysis final : public MatrixPlan {
 public:
  explicit Analysis(const BcsrOperand<V>& A) : offsets_(A.row_offsets), columns_(A.columns) {
    check(rocsparse_create_mat_info(&info_), "rocsparse_create_mat_info");
  }
  ~Analysis() override { (void)rocsparse_destroy_mat_info(info_); }
  Analysis(const Analysis&) = delete;
  Analysis& operator=(const Analysis&) = delete;
  rocsparse_mat_info get() const { return info_; }
  bool is_of(const BcsrOperand<V>& A) const {
    return offsets_ == A.row_offsets && columns_ == A.columns;
  }

 private:
  const index_t* offsets_;
  const index_t* columns_;
  rocsparse_mat_info info_ = nullptr;
};

/// One device's handle. Never destroyed: at the end of the process the driver may be gone before a destructor runs.
struct Library {
  static Library& of(int device) {
    static auto& libraries = *new std::map<int, Library>;
    return libraries[device];
  }

  Library() {
    check(rocsparse_create_handle(&handle), "rocsparse_create_handle");
    check(rocsparse_create_mat_descr(&general), "rocsparse_create_mat_descr");
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  rocsparse_handle handle = nullptr;
  rocsparse_mat_descr general = nullptr;
};

/// Makes a device current for as long as it lives.
class DeviceScope {
 public:
  explicit DeviceScope(int device) {
    check(hipGetDevice(&before_), "hipGetDevice");
    check(hipSetDevice(device), "hipSetDevice");
  }
  ~DeviceScope() { (void)hipSetDevice(before_); }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_ = 0;
};

/// One call into the library of the queue's device, on its stream. Calls take turns: each changes the handle.
class Call {
 public:
  explicit Call(const Queue& queue)
      : lock_(turn_), scope_(queue.device), library_(Library::of(queue.device)) {
    check(rocsparse_set_stream(library_.handle, static_cast<hipStream_t>(queue.stream)),
          "rocsparse_set_stream");
  }
  const Library* operator->() const { return &library_; }

 private:
  inline static std::mutex turn_;
  std::lock_guard<std::mutex> lock_;
  DeviceScope scope_;
  Library& library_;
};

template <class V>
std::unique_ptr<MatrixPlan> plan(const Queue& queue, const BcsrOperand<V>& A) {
  if (A.block_size != 1 || A.blocks == 0) return nullptr;
  auto analysis = std::make_unique<Analysis<V>>(A);
  const Call call(queue);
  check(pick<V>(rocsparse_scsrmv_analysis, rocsparse_dcsrmv_analysis)(
            call->handle, rocsparse_operation_none, A.rows, A.cols, A.blocks, call->general,
            A.values, A.row_offsets, A.columns, analysis->get()),
        "rocsparse_csrmv_analysis");
  return analysis;
}

template <bool adaptive, class V>
void spmv(const Queue& queue, V alpha, const BcsrOperand<V>& A, const V* x, V beta, V* y) {
  if (A.block_size != 1)
    throw UnsupportedOperation("backend 'rocsparse' offers spmv for block size 1 only");
  if (A.rows == 0) return;
  // The library returns at once from a matrix without entries, which leaves y unscaled.
  if (A.blocks == 0)
    throw UnsupportedOperation("backend 'rocsparse' offers no spmv for a matrix without entries");
  rocsparse_mat_info info = nullptr;
  if constexpr (adaptive) {
    const auto* const planned = dynamic_cast<const Analysis<V>*>(A.plan);
    if (planned == nullptr || !planned->is_of(A))
      throw InvalidArgument(
          "backend 'rocsparse': a product needs the plan of its matrix (plan_spmv)");
    info = planned->get();
  }
  const Call call(queue);
  check(pick<V>(rocsparse_scsrmv, rocsparse_dcsrmv)(
            call->handle, rocsparse_operation_none, A.rows, A.cols, A.blocks, &alpha, call->general,
            A.values, A.row_offsets, A.columns, info, x, &beta, y),
        "rocsparse_csrmv");
}

Availability availability() {
  const Availability device = hip_backend.availability();
  if (!device.usable) return device;
  const std::string version =
      std::to_string(ROCSPARSE_VERSION_MAJOR) + "." + std::to_string(ROCSPARSE_VERSION_MINOR);
  return {true, device.detail + ", rocSPARSE " + version};
}

template <bool adaptive, class M, class V>
constexpr MatrixTable<M, V> matrix_table() {
  MatrixTable<M, V> table;
  if constexpr (std::is_same_v<M, V>) {
    auto& ops = table.template of<BcsrOperand<M>>();
    ops.spmv = spmv<adaptive, V>;
    if (adaptive) ops.plan = plan<V>;
  }
  return table;
}

template <bool adaptive>
constexpr Backend backend(const char* name, const char* description) {
  return {.name = name,
          .description = description,
          .memory = MemorySpace::device,
          .baseline = true,
          .availability = availability,
          .matrices =
              for_precisions([]<class M, class V>() { return matrix_table<adaptive, M, V>(); })};
}

}  // namespace
}  // namespace rocsparse

constexpr Backend rocsparse_backend =
    rocsparse::backend<true>("rocsparse", "rocSPARSE: CSR SpMV with its analysis, to compare with");
constexpr Backend rocsparse_stream_backend = rocsparse::backend<false>(
    "rocsparse-stream", "rocSPARSE: CSR SpMV without analysis, to compare with");

}  // namespace cnc
