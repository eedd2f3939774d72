#include "io/memory_limit.hpp"

#include <cnc/vector.hpp>

namespace cnc::detail {

void check_memory(const std::string& name, double held, double bytes, const ReadOptions& options) {
  if (options.memory_limit == 0) return require_memory(name, bytes, MemorySpace::host);
  if (held + bytes > static_cast<double>(options.memory_limit))
    throw_out_of_memory(name, held + bytes, options.memory_limit);
}

}  // namespace cnc::detail
