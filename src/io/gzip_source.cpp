#include <cnc/error.hpp>

#include "io/byte_source.hpp"

#include <algorithm>
#include <limits>
#include <new>

#include <zlib.h>

namespace cnc::detail {

namespace {

// zlib's own gzread treats a file that ends early like a short one; here that is an error.
class GzipSource final : public ByteSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> packed, const std::string& name)
      : packed_(std::move(packed)), name_(name), input_(std::size_t{1} << 18, '\0') {
    constexpr int gzip_only = 16 + MAX_WBITS;
    if (::inflateInit2(&stream_, gzip_only) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override { ::inflateEnd(&stream_); }

 private:
  std::size_t read_more(char* to, std::size_t n) override {
    std::size_t filled = 0;
    while (filled < n && !ended_) {
      const auto room =
          static_cast<uInt>(std::min<std::size_t>(n - filled, std::numeric_limits<uInt>::max()));
      stream_.next_out = reinterpret_cast<Bytef*>(to + filled);
      stream_.avail_out = room;
      inflate_some();
      filled += room - stream_.avail_out;
    }
    return filled;
  }

  void inflate_some() {
    if (stream_.avail_in == 0 && !refill()) {
      throw IoError(name_, 0, "the compressed data ends early: the file is truncated");
    }
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      start_next_member();
    } else if (result == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      throw IoError(name_, 0,
                    std::string("the compressed data is damaged: ") +
                        (stream_.msg != nullptr ? stream_.msg : "not a gzip stream"));
    }
  }

  bool refill() {
    const std::size_t got = packed_->read(input_.data(), input_.size());
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(got);
    return got > 0;
  }

  // Members may follow one another; zeros after the last one are padding of tapes and block
  // devices.
  void start_next_member() {
    while (stream_.avail_in > 0 || refill()) {
      if (*stream_.next_in != 0) {
        ::inflateReset(&stream_);
        return;
      }
      ++stream_.next_in;
      --stream_.avail_in;
    }
    ended_ = true;
  }

  std::unique_ptr<ByteSource> packed_;
  std::string name_;
  std::string input_;
  z_stream stream_{};
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> open_gzip(std::unique_ptr<ByteSource> packed, const std::string& name) {
  return std::make_unique<GzipSource>(std::move(packed), name);
}

}  // namespace cnc::detail
