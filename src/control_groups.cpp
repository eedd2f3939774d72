#include "control_groups.hpp"

#include <fstream>
#include <iterator>
#include <sstream>

namespace cnc::detail {

std::string control_group_membership() {
  std::ifstream file("/proc/self/cgroup");
  return {std::istreambuf_iterator<char>(file), {}};
}

void for_each_control_group(
    const std::string& membership, const std::string& root, const std::string& controller,
    const std::function<void(const std::string& directory, int version)>& visit) {
  std::istringstream lines(membership);  // hierarchy:controllers:path, no controllers in version 2
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool listed = ("," + controllers + ",").find("," + controller + ",") != std::string::npos;
    if (!listed && !controllers.empty()) continue;
    const std::string mount = listed ? root + "/" + controller : root;
    std::string group = line.substr(second + 1);
    while (!group.empty() && group.back() == '/') group.pop_back();
    for (;;) {
      visit(mount + group, listed ? 1 : 2);
      const std::size_t slash = group.rfind('/');
      if (slash == std::string::npos) break;
      group.resize(slash);
    }
  }
}

}  // namespace cnc::detail
