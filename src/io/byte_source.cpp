#include "io/byte_source.hpp"

#include <algorithm>
#include <cstring>

namespace cnc::detail {

namespace {

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string_view text)
      : text_(text), size_(static_cast<offset_t>(text.size())) {}

  offset_t size() const override { return size_; }

 private:
  std::size_t read_more(char* to, std::size_t n) override {
    const std::size_t taken = std::min(n, text_.size());
    std::copy_n(text_.data(), taken, to);
    text_.remove_prefix(taken);
    return taken;
  }

  std::string_view text_;
  offset_t size_;
};

}  // namespace

std::size_t ByteSource::read(char* to, std::size_t n) {
  const std::size_t taken = std::min(n, peeked_.size());
  std::copy_n(peeked_.data(), taken, to);
  peeked_.erase(0, taken);
  return taken == n ? n : taken + read_more(to + taken, n - taken);
}

std::string_view ByteSource::peek(std::size_t n) {
  const std::size_t held = peeked_.size();
  if (held < n) {
    peeked_.resize(n);
    peeked_.resize(held + read_more(peeked_.data() + held, n - held));
  }
  return std::string_view(peeked_).substr(0, n);
}

std::unique_ptr<ByteSource> open_memory(std::string_view text) {
  return std::make_unique<MemorySource>(text);
}

std::unique_ptr<ByteSource> unpack(std::unique_ptr<ByteSource> source, const std::string& name) {
  if (source->peek(2) == "\x1f\x8b") {
    return open_gzip(std::move(source), name);
  }
  return source;
}

}  // namespace cnc::detail
