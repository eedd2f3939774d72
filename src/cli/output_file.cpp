#include "output_file.hpp"

#include <cnc/error.hpp>
#include <cnc/io.hpp>

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <iostream>
#include <system_error>

namespace cnc::cli {

void check_writable(const std::string& path) {
  namespace fs = std::filesystem;
  if (path.empty() || path == "-") return;
  std::error_code error;
  const fs::file_status existing = fs::status(path, error);
  if (fs::is_directory(existing)) throw IoError(path, 0, "cannot write: is a directory");
  // Replacing /dev/null or a pipe by a regular file is never what was meant.
  if (fs::exists(existing) && !fs::is_regular_file(existing))
    throw IoError(path, 0, "cannot write: is not a regular file");
  fs::path directory = fs::path(path).parent_path();
  if (directory.empty()) directory = ".";
  if (!fs::is_directory(directory, error))
    throw IoError(path, 0, "cannot write: no directory '" + directory.string() + "'");
  if (access(directory.c_str(), W_OK) != 0)
    throw IoError(path, 0, "cannot write: " + std::generic_category().message(errno));
}

void write_output(const std::string& path, const std::function<void(std::ostream&)>& write) {
  if (path == "-") {
    write(std::cout);
    std::cout.flush();
  } else {
    write_file_atomically(path, write);
  }
}

}  // namespace cnc::cli
