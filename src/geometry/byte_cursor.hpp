#pragma once

#include "io/byte_source.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>

namespace cnc::geometry {

/// A source in small pieces.
class ByteCursor {
 public:
  static constexpr std::size_t largest_piece = 64;

  explicit ByteCursor(detail::ByteSource& source) : source_(source), buffer_(new char[capacity]) {}

  /// The next n bytes, n <= largest_piece; null where there are fewer. Valid until the next call.
  const char* take(std::size_t n) {
    if (end_ - begin_ < n) refill();
    if (end_ - begin_ < n) return nullptr;
    begin_ += n;
    return buffer_.get() + begin_ - n;
  }

  /// False where there are fewer than n.
  bool skip(offset_t n) {
    while (n > 0) {
      if (begin_ == end_) refill();
      if (begin_ == end_) return false;
      const auto part = std::min(n, static_cast<offset_t>(end_ - begin_));
      begin_ += static_cast<std::size_t>(part);
      n -= part;
    }
    return true;
  }

 private:
  static constexpr std::size_t capacity = std::size_t{1} << 18;

  void refill() {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    end_ += source_.read(buffer_.get() + end_, capacity - end_);
  }

  detail::ByteSource& source_;
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

/// The number whose bytes stand at `p`, in the order of a file.
template <class T>
T load(const char* p, std::endian order) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, p, sizeof(T));
  if (order != std::endian::native) std::reverse(bytes, bytes + sizeof(T));
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

}  // namespace cnc::geometry
