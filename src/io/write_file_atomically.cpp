#include <cnc/io.hpp>

#include "io/descriptor_buffer.hpp"
#include "io/system_error.hpp"
#include "io/unnamed_file.hpp"

#include <filesystem>
#include <ostream>

#include <fcntl.h>
#include <unistd.h>

namespace cnc {

namespace {

namespace fs = std::filesystem;

using Write = std::function<void(std::ostream&)>;

void write_to_descriptor(const std::string& path, int descriptor, const Write& write) {
  detail::DescriptorBuffer buffer(descriptor);
  std::ostream out(&buffer);
  write(out);
  const int error = buffer.finish();
  if (error != 0) {
    throw IoError(path, 0, "cannot write: " + detail::system_reason(error));
  }
  if (!out) {
    throw IoError(path, 0, "cannot write: the output stream failed");
  }
}

/// Devices and pipes have no earlier contents to protect, and must not be replaced by a file.
void write_in_place(const std::string& path, const Write& write) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) {
    throw IoError(path, 0, "cannot open for writing: " + detail::system_reason(errno));
  }
  try {
    write_to_descriptor(path, descriptor, write);
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  if (::close(descriptor) != 0) {
    throw IoError(path, 0, "cannot write: " + detail::system_reason(errno));
  }
}

}  // namespace

std::string behind_links(const std::string& path) {
  constexpr int most_links = 40;  // as many as the system follows
  fs::path target = path;
  std::error_code error;
  for (int links = 0; fs::is_symlink(target, error); ++links) {
    if (links == most_links) {
      throw IoError(path, 0, "cannot write: too many symbolic links, or links in a circle");
    }
    const fs::path next = fs::read_symlink(target, error);
    if (error) {
      throw IoError(path, 0, "cannot read the symbolic link: " + error.message());
    }
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  return target.string();
}

void write_file_atomically(const std::string& path, const Write& write) {
  const std::string target = behind_links(path);
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (fs::is_directory(status)) {
    throw IoError(path, 0, "cannot write: it is a directory");
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    write_in_place(path, write);
    return;
  }
  detail::UnnamedFile file(target);
  write_to_descriptor(path, file.descriptor(), write);
  file.publish();
}

}  // namespace cnc
