#pragma once

#include <cnc/contract/error.hpp>

#include <gpu/runtime.hpp>

#include <string>

// Launches for targets whose compilers know <<< >>> and whose run-time libraries have the same functions under
// names that differ in their prefix. Their <target/launch.hpp> says which, and includes this:
//
//   CNC_GPU_API(name)   the function, type or constant of the library
//   CNC_GPU_VENDOR      the prefix as a text, which is also the backend's name
//   CNC_GPU_OVERLAPS    defined where the library starts kernels while those before them end
//   CNC_GPU_OVERLAPS_IN_GRAPHS   defined where graphs that are put together node by node do so too

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Throws DeviceError naming the operation when `code` is an error.
inline void check(CNC_GPU_API(Error_t) code, const char* operation) {
  if (code == CNC_GPU_API(Success)) return;
  (void)CNC_GPU_API(GetLastError)();  // the next operation is not to blame
  throw DeviceError(
      operation, CNC_GPU_VENDOR,
      std::string(CNC_GPU_API(GetErrorName)(code)) + ": " + CNC_GPU_API(GetErrorString)(code));
}

/// Calls a function of the library and checks what it returns.
#define CNC_GPU_CALL(name, ...) check(CNC_GPU_API(name)(__VA_ARGS__), CNC_GPU_VENDOR #name)

/// Makes the queue's device current for as long as it lives.
class DeviceScope {
 public:
  explicit DeviceScope(int device) {
    CNC_GPU_CALL(GetDevice, &before_);
    if (before_ != device) {
      CNC_GPU_CALL(SetDevice, device);
      changed_ = true;
    }
  }
  ~DeviceScope() {
    if (changed_) (void)CNC_GPU_API(SetDevice)(before_);
  }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

inline CNC_GPU_API(Stream_t) stream_of(const Queue& queue) {
  return static_cast<CNC_GPU_API(Stream_t)>(queue.stream);
}

enum class Start {
  in_order,     ///< when what is before it has ended
  overlapping,  ///< where library and device can, while the kernel before it ends, which has let it
  resident,     ///< all blocks at the same time
};
/// Starts a kernel, or makes it a node of the graph that the queue names. Its own code is what counts: the last error of the
/// thread may be an old one of the caller's.
CNC_GPU_API(Error_t)
start(const Queue& queue, Start how, const CNC_GPU_API(KernelNodeParams) & kernel);

template <class... Parameters, class... Arguments>
CNC_GPU_API(Error_t)
start(const Queue& queue, Start how, const Grid& grid, void (*kernel)(Parameters...),
      const Arguments&... arguments) {
  const auto with_pointers = [&](Parameters... parameters) {
    void* pointers[] = {static_cast<void*>(&parameters)...};
    CNC_GPU_API(KernelNodeParams) all = {};
    all.func = reinterpret_cast<void*>(kernel);
    all.gridDim = dim3(static_cast<unsigned>(grid.blocks));
    all.blockDim = dim3(static_cast<unsigned>(grid.threads));
    all.sharedMemBytes = static_cast<unsigned>(grid.shared_bytes);
    all.kernelParams = pointers;
    return start(queue, how, all);
  };
  return with_pointers(arguments...);
}

/// Enqueues the kernel on the queue's stream. A grid without blocks does nothing.
template <class... Parameters, class... Arguments>
void launch(const char* operation, const Queue& queue, const Grid& grid,
            void (*kernel)(Parameters...), const Arguments&... arguments) {
  if (grid.blocks > 0) check(start(queue, Start::in_order, grid, kernel, arguments...), operation);
}

/// As launch, for kernels that wait_for_kernel_before: where library and device can, the kernel begins while the one before
/// it on the stream ends, which has let it.
template <class... Parameters, class... Arguments>
void launch_overlapping(const char* operation, const Queue& queue, const Grid& grid,
                        void (*kernel)(Parameters...), const Arguments&... arguments) {
  if (grid.blocks > 0)
    check(start(queue, Start::overlapping, grid, kernel, arguments...), operation);
}

/// Blocks of a kernel that may send what blocks on other devices wait for, while they wait themselves: those with so many on a
/// processor run at the same time, because a device starts blocks in the order of start_index(). No vendor promises that order; all
/// keep to it.
inline index_t senders(const Queue& queue, int on_processor) {
  return device_facts(queue.device).processors * on_processor;
}
/// As launch_overlapping: devices do so anyway.
template <class... Parameters, class... Arguments>
void launch_senders_first(const char* operation, const Queue& queue, const Grid& grid,
                          void (*kernel)(Parameters...), const Arguments&... arguments) {
  launch_overlapping(operation, queue, grid, kernel, arguments...);
}

/// Blocks of this kernel that are resident on the whole device at one time, with that much dynamic
/// shared memory each; 0 when not even one fits, or when the device cannot promise it. Grants the kernel all shared memory that there is: the grant
/// is the process's, and another thread may be about to launch the same kernel with more.
template <class... Parameters>
index_t resident_blocks(const Queue& queue, void (*kernel)(Parameters...), int threads,
                        std::size_t shared_bytes) {
  if (!device_facts(queue.device).cooperative) return 0;
  const DeviceScope scope(queue.device);
  const auto entry = reinterpret_cast<const void*>(kernel);
  CNC_GPU_API(FuncAttributes) attributes;
  CNC_GPU_CALL(FuncGetAttributes, &attributes, entry);
  const std::size_t all = device_facts(queue.device).shared_bytes;
  if (attributes.sharedSizeBytes + shared_bytes > all) return 0;
  CNC_GPU_CALL(FuncSetAttribute, entry, CNC_GPU_API(FuncAttributeMaxDynamicSharedMemorySize),
               static_cast<int>(all - attributes.sharedSizeBytes));
  int per_processor = 0;
  CNC_GPU_CALL(OccupancyMaxActiveBlocksPerMultiprocessor, &per_processor, entry, threads,
               shared_bytes);
  return per_processor * device_facts(queue.device).processors;
}

/// As launch, for kernels whose blocks wait for each other: all of them run at the same time, or nothing is
/// enqueued and the answer is false. The caller has asked resident_blocks; a device that is shared may still have
/// less room than it said.
template <class... Parameters, class... Arguments>
bool launch_resident(const char* operation, const Queue& queue, const Grid& grid,
                     void (*kernel)(Parameters...), const Arguments&... arguments) {
  const CNC_GPU_API(Error_t) code = start(queue, Start::resident, grid, kernel, arguments...);
  if (code == CNC_GPU_API(ErrorCooperativeLaunchTooLarge) ||
      code == CNC_GPU_API(ErrorNotSupported) || code == CNC_GPU_API(ErrorLaunchOutOfResources)) {
    (void)CNC_GPU_API(GetLastError)();
    return false;
  }
  check(code, operation);
  return true;
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
