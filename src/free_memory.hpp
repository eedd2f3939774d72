#pragma once

#include <cstddef>
#include <string>

namespace cnc::detail {

/// Bytes that this process can still take without being ended for it: the least of what the system calls
/// available (with swap), what its control groups leave, and what its address space may still grow by.
/// unknown_bytes where nobody tells.
std::size_t free_host_bytes();

/// What the control groups of a process leave, page cache of files counted as free. `membership` is the text of
/// /proc/self/cgroup and `root` where the groups are mounted; versions 1 and 2 are read, and every group up to
/// the root counts. Groups that are not mounted are passed over, as inside a container. unknown_bytes where no
/// group has a limit.
std::size_t free_group_bytes(const std::string& membership, const std::string& root);

}  // namespace cnc::detail
