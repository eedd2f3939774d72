#include <cnc/error.hpp>

#include "io/byte_source.hpp"
#include "io/system_error.hpp"
#include "parallel.hpp"

#include <algorithm>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cnc::detail {

namespace {

class FileSource final : public ByteSource {
 public:
  FileSource(const std::string& path, int threads) : path_(path), threads_(threads) {
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) {
      throw IoError(path, 0, "cannot open: " + system_reason(errno));
    }
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) {
      const int code = errno;
      ::close(descriptor_);
      throw IoError(path, 0, "cannot open: " + system_reason(code));
    }
    if (S_ISDIR(status.st_mode)) {
      ::close(descriptor_);
      throw IoError(path, 0, "is a directory");
    }
    seekable_ = S_ISREG(status.st_mode);
    size_ = seekable_ ? static_cast<offset_t>(status.st_size) : -1;
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override { ::close(descriptor_); }

  offset_t size() const override { return size_; }

 private:
  std::size_t read_more(char* to, std::size_t n) override {
    return seekable_ ? read_slices(to, n) : read_stream(to, n);
  }

  // One thread cannot copy out of the page cache as fast as several parse, so all of them copy.
  std::size_t read_slices(char* to, std::size_t n) {
    constexpr std::size_t worthwhile = std::size_t{1} << 20;
    const auto slices = static_cast<int>(
        std::clamp<std::size_t>(n / worthwhile, 1, static_cast<std::size_t>(threads_)));
    // A file that shrinks meanwhile ends at the first slice that came back short.
    std::vector<std::size_t> got(static_cast<std::size_t>(slices));
    std::vector<std::size_t> asked(got.size());
    parallel_ranges(
        static_cast<offset_t>(n), slices, [&](offset_t first, offset_t last, int slice) {
          asked[static_cast<std::size_t>(slice)] = static_cast<std::size_t>(last - first);
          got[static_cast<std::size_t>(slice)] =
              read_at(to + first, static_cast<std::size_t>(last - first), position_ + first);
        });
    std::size_t filled = 0;
    for (std::size_t slice = 0; slice < got.size(); ++slice) {
      filled += got[slice];
      if (got[slice] < asked[slice]) {
        break;
      }
    }
    position_ += static_cast<offset_t>(filled);
    return filled;
  }

  std::size_t read_at(char* to, std::size_t n, offset_t position) const {
    return read_until_full(n, [&](std::size_t filled) {
      return ::pread(descriptor_, to + filled, n - filled,
                     static_cast<off_t>(position) + static_cast<off_t>(filled));
    });
  }

  std::size_t read_stream(char* to, std::size_t n) const {
    return read_until_full(
        n, [&](std::size_t filled) { return ::read(descriptor_, to + filled, n - filled); });
  }

  template <class ReadSome>
  std::size_t read_until_full(std::size_t n, const ReadSome& read_some) const {
    std::size_t filled = 0;
    while (filled < n) {
      const ssize_t got = read_some(filled);
      if (got > 0) {
        filled += static_cast<std::size_t>(got);
      } else if (got == 0) {
        break;
      } else if (errno != EINTR) {
        throw IoError(path_, 0, "cannot read: " + system_reason(errno));
      }
    }
    return filled;
  }

  std::string path_;
  int threads_;
  int descriptor_ = -1;
  bool seekable_ = false;
  offset_t size_ = -1;
  offset_t position_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> open_file(const std::string& path, int threads) {
  return std::make_unique<FileSource>(path, threads);
}

}  // namespace cnc::detail
