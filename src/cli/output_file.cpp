#include "output_file.hpp"

#include <cnc/error.hpp>
#include <cnc/io.hpp>

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <iostream>
#include <system_error>

namespace cnc::cli {
namespace {

namespace fs = std::filesystem;

/// Both exist and are one, or they would be created under one name.
bool same_file(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  if (a == "-" || b == "-") return a == b;
  std::error_code error;
  if (fs::equivalent(a, b, error)) return true;
  const fs::path left = fs::weakly_canonical(a, error), right = fs::weakly_canonical(b, error);
  return !left.empty() && left == right;
}

}  // namespace

void check_writable(const std::string& path) {
  namespace fs = std::filesystem;
  if (path.empty() || path == "-") return;
  std::error_code error;
  const fs::file_status existing = fs::status(path, error);
  if (fs::is_directory(existing)) throw IoError(path, 0, "cannot write: is a directory");
  // Replacing /dev/null or a pipe by a regular file is never what was meant.
  if (fs::exists(existing) && !fs::is_regular_file(existing))
    throw IoError(path, 0, "cannot write: is not a regular file");
  fs::path directory = fs::path(behind_links(path)).parent_path();
  if (directory.empty()) directory = ".";
  if (!fs::is_directory(directory, error))
    throw IoError(path, 0, "cannot write: no directory '" + directory.string() + "'");
  if (access(directory.c_str(), W_OK) != 0)
    throw IoError(path, 0, "cannot write: " + std::generic_category().message(errno));
}

void check_outputs(const std::vector<std::string>& outputs,
                   const std::vector<std::string>& inputs) {
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    check_writable(outputs[k]);
    for (std::size_t j = 0; j < k; ++j)
      if (same_file(outputs[j], outputs[k]))
        throw InvalidArgument(outputs[k] + ": two results cannot go to one file");
    for (const std::string& input : inputs)
      if (same_file(input, outputs[k]))
        throw InvalidArgument(outputs[k] + ": an output would replace an input");
  }
}

void check_readable(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) throw IoError(path, 0, "is a directory");
  if (access(path.c_str(), R_OK) != 0)
    throw IoError(path, 0, "cannot open: " + std::generic_category().message(errno));
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
