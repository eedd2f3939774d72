#include "io/descriptor_buffer.hpp"

#include <cerrno>

#include <unistd.h>

namespace cnc::detail {

DescriptorBuffer::DescriptorBuffer(int descriptor)
    : descriptor_(descriptor), buffer_(std::size_t{1} << 18) {
  setp(buffer_.data(), buffer_.data() + buffer_.size());
}

int DescriptorBuffer::finish() {
  flush_buffer();
  return error_;
}

DescriptorBuffer::int_type DescriptorBuffer::overflow(int_type c) {
  if (!flush_buffer()) {
    return traits_type::eof();
  }
  if (!traits_type::eq_int_type(c, traits_type::eof())) {
    *pptr() = traits_type::to_char_type(c);
    pbump(1);
  }
  return traits_type::not_eof(c);
}

std::streamsize DescriptorBuffer::xsputn(const char* data, std::streamsize n) {
  if (n <= epptr() - pptr()) {
    traits_type::copy(pptr(), data, static_cast<std::size_t>(n));
    pbump(static_cast<int>(n));
    return n;
  }
  return flush_buffer() && write_all(data, static_cast<std::size_t>(n)) ? n : 0;
}

int DescriptorBuffer::sync() { return flush_buffer() ? 0 : -1; }

bool DescriptorBuffer::flush_buffer() {
  const bool good = write_all(pbase(), static_cast<std::size_t>(pptr() - pbase()));
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  return good;
}

bool DescriptorBuffer::write_all(const char* data, std::size_t n) {
  while (n > 0 && error_ == 0) {
    const ssize_t written = ::write(descriptor_, data, n);
    if (written >= 0) {
      data += written;
      n -= static_cast<std::size_t>(written);
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  return error_ == 0;
}

}  // namespace cnc::detail
