#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace cnc::cli {

/// Checks before the work starts that `path` can be written afterwards: its directory exists and is
/// writable, and what is there already, if anything, is a regular file. "" and "-" pass.
/// Errors   IoError naming the file and the reason.
void check_writable(const std::string& path);

/// check_writable for each, and no two of them, and none of them and an input, are one file: the
/// second result would replace the first, or x the matrix it solves.
/// Errors   IoError; InvalidArgument naming the file.
void check_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs);

/// Errors   IoError when there is no such file, it is a directory, or it may not be read.
void check_readable(const std::string& path);

/// Writes to standard output for "-", else the whole file or nothing (write_file_atomically).
/// Errors   IoError.
void write_output(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace cnc::cli
