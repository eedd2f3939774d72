#include "io/unnamed_file.hpp"

#include <cnc/error.hpp>

#include "io/system_error.hpp"

#include <cstdint>
#include <random>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cnc::detail {

namespace {

constexpr mode_t usual_permissions = 0666;  // less what the user's mask takes away

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::string temporary_name(const std::string& target) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::random_device random;
  std::string name = target + ".cnc-";
  for (int k = 0; k < 8; ++k) {
    name += digits[random() % digits.size()];
  }
  return name + ".tmp";
}

}  // namespace

UnnamedFile::UnnamedFile(const std::string& target) : target_(target) {
  open_without_name(directory_of(target));
  if (descriptor_ < 0) {
    open_with_name();
  }
  struct stat status {};
  if (::stat(target.c_str(), &status) == 0) {
    // Not all file systems have permissions, and the owner may be somebody else: best effort.
    [[maybe_unused]] const int ignored = ::fchmod(descriptor_, status.st_mode & 0777);
  }
}

UnnamedFile::~UnnamedFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
  if (!name_.empty()) {
    ::unlink(name_.c_str());
  }
}

void UnnamedFile::open_without_name([[maybe_unused]] const std::string& directory) {
#ifdef O_TMPFILE
  // Without /proc the file could not be given its name later.
  if (::access("/proc/self/fd", X_OK) == 0) {
    descriptor_ = ::open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, usual_permissions);
  }
#endif
}

void UnnamedFile::open_with_name() {
  do {
    name_ = temporary_name(target_);
    descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, usual_permissions);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) {
    const int code = errno;
    name_.clear();
    throw IoError(target_, 0, "cannot create: " + system_reason(code));
  }
}

void UnnamedFile::give_name() {
  const std::string open_file = "/proc/self/fd/" + std::to_string(descriptor_);
  int result = 0;
  do {
    name_ = temporary_name(target_);
    result = ::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, name_.c_str(), AT_SYMLINK_FOLLOW);
  } while (result != 0 && errno == EEXIST);
  if (result != 0) {
    const int code = errno;
    name_.clear();
    throw IoError(target_, 0, "cannot create: " + system_reason(code));
  }
}

void UnnamedFile::publish() {
  check(::fsync(descriptor_) == 0, "cannot write to disk: ");
  if (name_.empty()) {
    give_name();
  }
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  check(closed == 0, "cannot write to disk: ");
  // A link cannot replace an existing file, a rename can.
  check(::rename(name_.c_str(), target_.c_str()) == 0, "cannot rename the finished file: ");
  name_.clear();

  // The new name too should outlive a loss of power; a file system that cannot do it is no failure.
  const int directory = ::open(directory_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    ::fsync(directory);
    ::close(directory);
  }
}

void UnnamedFile::check(bool good, const char* what) const {
  if (!good) {
    throw IoError(target_, 0, what + system_reason(errno));
  }
}

}  // namespace cnc::detail
