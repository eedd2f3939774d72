#pragma once

#include <nlohmann/json.hpp>

namespace cnc::perf {

/// Processor, cores, caches, memory, load; OpenMP's environment. What the system does not tell is
/// left out.
nlohmann::ordered_json describe_machine(int threads);

/// Version, commit, compiler, flags of the library and of the peers, peers and their versions.
/// An empty commit takes the one that was configured.
nlohmann::ordered_json describe_build(const std::string& commit);

}  // namespace cnc::perf
