#pragma once

#include <cstddef>
#include <streambuf>
#include <vector>

namespace cnc::detail {

/// Stream buffer over a file descriptor that remembers the system's reason when a write fails.
class DescriptorBuffer final : public std::streambuf {
 public:
  explicit DescriptorBuffer(int descriptor);

  /// Writes what is held back. Returns 0 or the errno of the first failure.
  int finish();

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* data, std::streamsize n) override;
  int sync() override;

 private:
  bool write_all(const char* data, std::size_t n);
  bool flush_buffer();

  int descriptor_;
  int error_ = 0;
  std::vector<char> buffer_;
};

}  // namespace cnc::detail
