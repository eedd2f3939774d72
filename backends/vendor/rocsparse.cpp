#include "vendor/rocsparse.hpp"

#include "hip/hip.hpp"

#include <cnc/error.hpp>

#include <hip/hip_runtime_api.h>
#include <rocsparse/rocsparse.h>

#include <list>
#include <map>
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

/// A number that no other allocation of this process has or will have, even at the same address.
unsigned long long allocation_id(const void* pointer) {
  unsigned long long id = 0;
  check(hipPointerGetAttribute(&id, HIP_POINTER_ATTRIBUTE_BUFFER_ID, const_cast<void*>(pointer)),
        "hipPointerGetAttribute");
  return id;
}

/// What an analysis depends on. Values may change in place; a pattern does not.
struct Pattern {
  index_t rows, cols, entries;
  const index_t* offsets;
  const index_t* columns;
  bool is_double;
  unsigned long long offsets_id, columns_id;
  bool operator==(const Pattern&) const = default;
};

/// The function for V of the two that the library has.
template <class V, class F32, class F64>
constexpr auto pick(F32* f32, F64* f64) {
  if constexpr (std::is_same_v<V, float>)
    return f32;
  else
    return f64;
}

/// The library's notes on one matrix.
class Analysis {
 public:
  Analysis() { check(rocsparse_create_mat_info(&info_), "rocsparse_create_mat_info"); }
  ~Analysis() { (void)rocsparse_destroy_mat_info(info_); }
  Analysis(const Analysis&) = delete;
  Analysis& operator=(const Analysis&) = delete;
  rocsparse_mat_info get() const { return info_; }

 private:
  rocsparse_mat_info info_ = nullptr;
};

/// One device's handle, and the matrices that were multiplied lately. Never destroyed: at the end of the
/// process the driver may be gone before a destructor runs.
class Library {
 public:
  static Library& of(int device) {
    static auto& libraries = *new std::map<int, Library>;
    return libraries[device];
  }

  Library() {
    check(rocsparse_create_handle(&handle_), "rocsparse_create_handle");
    check(rocsparse_create_mat_descr(&general_), "rocsparse_create_mat_descr");
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  template <bool adaptive, class V>
  void multiply(const Queue& queue, V alpha, const BcsrOperand<V>& A, const V* x, V beta, V* y) {
    check(rocsparse_set_stream(handle_, static_cast<hipStream_t>(queue.stream)),
          "rocsparse_set_stream");
    rocsparse_mat_info info = nullptr;
    if constexpr (adaptive) info = analysis(A).get();
    check(pick<V>(rocsparse_scsrmv, rocsparse_dcsrmv)(handle_, rocsparse_operation_none, A.rows,
                                                      A.cols, A.blocks, &alpha, general_, A.values,
                                                      A.row_offsets, A.columns, info, x, &beta, y),
          "rocsparse_csrmv");
  }

 private:
  static constexpr std::size_t most_matrices = 8;

  template <class V>
  const Analysis& analysis(const BcsrOperand<V>& A) {
    const Pattern pattern = {A.rows,
                             A.cols,
                             A.blocks,
                             A.row_offsets,
                             A.columns,
                             std::is_same_v<V, double>,
                             allocation_id(A.row_offsets),
                             allocation_id(A.columns)};
    for (auto known = known_.begin(); known != known_.end(); ++known) {
      if (!(known->first == pattern)) continue;
      known_.splice(known_.begin(), known_, known);
      return known_.front().second;
    }
    known_.emplace_front();
    known_.front().first = pattern;
    check(pick<V>(rocsparse_scsrmv_analysis, rocsparse_dcsrmv_analysis)(
              handle_, rocsparse_operation_none, A.rows, A.cols, pattern.entries, general_,
              A.values, A.row_offsets, A.columns, known_.front().second.get()),
          "rocsparse_csrmv_analysis");
    if (known_.size() > most_matrices) known_.pop_back();
    return known_.front().second;
  }

  rocsparse_handle handle_ = nullptr;
  rocsparse_mat_descr general_ = nullptr;
  std::list<std::pair<Pattern, Analysis>> known_;  ///< the latest first
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

template <bool adaptive, class V>
void spmv(const Queue& queue, V alpha, const BcsrOperand<V>& A, const V* x, V beta, V* y) {
  if (A.block_size != 1)
    throw UnsupportedOperation("backend 'rocsparse' offers spmv for block size 1 only");
  if (A.rows == 0) return;
  // The library returns at once from a matrix without entries, which leaves y unscaled.
  if (A.blocks == 0)
    throw UnsupportedOperation("backend 'rocsparse' offers no spmv for a matrix without entries");
  static std::mutex turn;  // a call changes handle and list
  const std::lock_guard lock(turn);
  const DeviceScope scope(queue.device);
  Library::of(queue.device).multiply<adaptive>(queue, alpha, A, x, beta, y);
}

Availability availability() {
  const Availability device = hip_backend.availability();
  if (!device.usable) return device;
  const std::string version =
      std::to_string(ROCSPARSE_VERSION_MAJOR) + "." + std::to_string(ROCSPARSE_VERSION_MINOR);
  return {true, device.detail + ", rocSPARSE " + version};
}

template <bool adaptive>
constexpr Backend backend(const char* name, const char* description) {
  return {.name = name,
          .description = description,
          .memory = MemorySpace::device,
          .yardstick = true,
          .availability = availability,
          .matrix_f32 = {.bcsr = {.spmv = spmv<adaptive, float>}},
          .matrix_f64 = {.bcsr = {.spmv = spmv<adaptive, double>}}};
}

}  // namespace
}  // namespace rocsparse

constexpr Backend rocsparse_backend =
    rocsparse::backend<true>("rocsparse", "rocSPARSE: CSR SpMV with its analysis, to compare with");
constexpr Backend rocsparse_stream_backend = rocsparse::backend<false>(
    "rocsparse-stream", "rocSPARSE: CSR SpMV without analysis, to compare with");

}  // namespace cnc
