#pragma once

#include <functional>
#include <string>

namespace cnc::detail {

/// Where the control groups of the system are mounted, and the text of /proc/self/cgroup.
inline constexpr const char* control_group_root = "/sys/fs/cgroup";
std::string control_group_membership();

/// Calls visit(directory, version) for the group that `membership` names for the controller and for every
/// group above it, up to the mount. Inside a container some of these directories do not exist.
void for_each_control_group(
    const std::string& membership, const std::string& root, const std::string& controller,
    const std::function<void(const std::string& directory, int version)>& visit);

}  // namespace cnc::detail
