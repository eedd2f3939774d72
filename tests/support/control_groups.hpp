#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

namespace cnc::testing {

/// A tree of control groups as the kernel shows them, removed at the end.
class Groups {
 public:
  Groups() {
    std::string name = (std::filesystem::temp_directory_path() / "cnc-groups-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    root_ = name;
  }
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;
  ~Groups() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  std::string root() const { return root_.string(); }
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << '\n';
  }

 private:
  std::filesystem::path root_;
};

}  // namespace cnc::testing
