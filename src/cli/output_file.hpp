#pragma once

#include <functional>
#include <iosfwd>
#include <string>

namespace cnc::cli {

/// Checks before the work starts that `path` can be written afterwards: its directory exists and is
/// writable, and what is there already, if anything, is a regular file. "" and "-" pass.
/// Errors   IoError naming the file and the reason.
void check_writable(const std::string& path);

/// Writes to standard output for "-", else the whole file or nothing (write_file_atomically).
/// Errors   IoError.
void write_output(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace cnc::cli
