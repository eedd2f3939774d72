#include "io/text_sink.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <ostream>
#include <string>

#include <zlib.h>

namespace cnc::detail {

namespace {

class PlainSink final : public TextSink {
 public:
  explicit PlainSink(std::ostream& out) : out_(out) {}
  void put(std::string_view text) override {
    out_.write(text.data(), static_cast<std::streamsize>(text.size()));
  }

 private:
  std::ostream& out_;
};

class GzipSink final : public TextSink {
 public:
  explicit GzipSink(std::ostream& out) : out_(out), output_(std::size_t{1} << 18, '\0') {
    constexpr int gzip = 16 + MAX_WBITS;
    constexpr int memory_level = 9;
    // Digits hardly shrink further with more effort: the default level is seven times slower for a
    // tenth less.
    if (::deflateInit2(&stream_, Z_BEST_SPEED, Z_DEFLATED, gzip, memory_level,
                       Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;
  ~GzipSink() override { ::deflateEnd(&stream_); }

  void put(std::string_view text) override {
    while (!text.empty()) {
      const std::size_t part = std::min<std::size_t>(text.size(), std::numeric_limits<uInt>::max());
      // zlib's interface has no const, but it does not write to its input.
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
      stream_.avail_in = static_cast<uInt>(part);
      deflate_all(Z_NO_FLUSH);
      text.remove_prefix(part);
    }
  }
  void finish() override { deflate_all(Z_FINISH); }

 private:
  void deflate_all(int flush) {
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(output_.data());
      stream_.avail_out = static_cast<uInt>(output_.size());
      ::deflate(&stream_, flush);
      out_.write(output_.data(), static_cast<std::streamsize>(output_.size() - stream_.avail_out));
    } while (stream_.avail_out == 0);
  }

  std::ostream& out_;
  std::string output_;
  z_stream stream_{};
};

}  // namespace

std::unique_ptr<TextSink> text_sink(std::string_view path, std::ostream& out) {
  constexpr std::string_view suffix = ".gz";
  if (path.size() >= suffix.size() && path.substr(path.size() - suffix.size()) == suffix) {
    return std::make_unique<GzipSink>(out);
  }
  return std::make_unique<PlainSink>(out);
}

}  // namespace cnc::detail
