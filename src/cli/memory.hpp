#pragma once

#include <cnc/context.hpp>

#include <string>
#include <type_traits>
#include <vector>

namespace cnc::cli {

/// "host" or "device".
inline const char* to_string(MemorySpace memory) {
  return memory == MemorySpace::host ? "host" : "device";
}

/// A --memory option: "host", "device", or something else ("", "all") for both.
inline bool admits(const std::string& option, MemorySpace memory) {
  return (option != "host" && option != "device") || option == to_string(memory);
}

/// The backend's own memory when its name is found in one alone; else host, unless `option` says device.
inline MemorySpace memory_of_backend(const std::string& name, const std::string& option) {
  if (option == "device") return MemorySpace::device;
  if (option == "host" || name == "auto") return MemorySpace::host;
  for (const Backend* backend : backends())
    if (backend->name == name && backend->memory == MemorySpace::host) return MemorySpace::host;
  for (const Backend* backend : backends())
    if (backend->name == name) return MemorySpace::device;
  return MemorySpace::host;  // not built or unknown: find_backend says which
}

/// What a context is made with.
struct ContextRequest {
  std::string backend = "auto";
  MemorySpace memory = MemorySpace::host;
  int threads = 0;
  int block_threads = 0;
};

/// use(context) with a context in the memory asked for.
/// Errors   as Context.
template <class Use>
decltype(auto) with_context(const ContextRequest& request, const Use& use) {
#ifdef CNC_KOKKOS_HAS_DEVICE
  if (request.memory == MemorySpace::device) {
    Context<Kokkos::DefaultExecutionSpace> ctx(request.backend, request.threads);
    ctx.set_block_threads(request.block_threads);
    return use(ctx);
  }
#endif
  (void)find_backend(request.backend, request.memory);  // says why there is no such device context
  Context<> ctx(request.backend, request.threads);
  return use(ctx);
}

/// body(std::type_identity<Exec>()) for the execution space of each memory that contexts can be in.
template <class Body>
void for_each_memory(const Body& body) {
  body(std::type_identity<Kokkos::DefaultHostExecutionSpace>());
#ifdef CNC_KOKKOS_HAS_DEVICE
  body(std::type_identity<Kokkos::DefaultExecutionSpace>());
#endif
}

}  // namespace cnc::cli
