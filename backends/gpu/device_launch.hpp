#pragma once

#include <cnc/error.hpp>

#include <gpu/runtime.hpp>

#include <string>

// Launches for targets whose compilers know <<< >>> and whose run-time libraries have the same functions under
// names that differ in their prefix. Their <target/launch.hpp> says which, and includes this:
//
//   CNC_GPU_API(name)   the function, type or constant of the library
//   CNC_GPU_VENDOR      the prefix as a text, which is also the backend's name

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

/// Enqueues the kernel on the queue's stream. A grid without blocks does nothing.
template <class... Parameters, class... Arguments>
void launch(const char* operation, const Queue& queue, const Grid& grid,
            void (*kernel)(Parameters...), const Arguments&... arguments) {
  if (grid.blocks <= 0) return;
  const DeviceScope scope(queue.device);
  kernel<<<static_cast<unsigned>(grid.blocks), static_cast<unsigned>(grid.threads),
           grid.shared_bytes, stream_of(queue)>>>(arguments...);
  check(CNC_GPU_API(GetLastError)(), operation);
}

/// Blocks of this kernel that are resident on the whole device at one time, with that much dynamic
/// shared memory each; 0 when not even one fits. Grants the kernel all shared memory that there is: the grant
/// is the process's, and another thread may be about to launch the same kernel with more.
template <class... Parameters>
index_t resident_blocks(const Queue& queue, void (*kernel)(Parameters...), int threads,
                        std::size_t shared_bytes) {
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

/// As launch, for kernels whose blocks wait for each other: all of them run at the same time, or the
/// launch fails. The caller has asked resident_blocks.
template <class... Parameters, class... Arguments>
void launch_resident(const char* operation, const Queue& queue, const Grid& grid,
                     void (*kernel)(Parameters...), const Arguments&... arguments) {
  const DeviceScope scope(queue.device);
  const auto start = [&](Parameters... parameters) {
    void* pointers[] = {static_cast<void*>(&parameters)...};
    check(CNC_GPU_API(LaunchCooperativeKernel)(
              reinterpret_cast<const void*>(kernel), dim3(static_cast<unsigned>(grid.blocks)),
              dim3(static_cast<unsigned>(grid.threads)), pointers,
              static_cast<unsigned>(grid.shared_bytes), stream_of(queue)),
          operation);
  };
  start(arguments...);
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
