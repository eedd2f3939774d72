#pragma once

#include <cnc/contract/types.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace cnc::detail {

/// Bytes in order, from a file, from memory, or out of a gzip stream.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Fills [to, to + n) as far as the source goes: less than n means that it has ended.
  /// Errors   IoError.
  std::size_t read(char* to, std::size_t n);

  /// The next n bytes (fewer at the end) without taking them.
  std::string_view peek(std::size_t n);

  /// Bytes of the whole source; -1 when that is known only at its end.
  virtual offset_t size() const { return -1; }

 private:
  virtual std::size_t read_more(char* to, std::size_t n) = 0;

  std::string peeked_;
};

/// Errors   IoError (missing, unreadable, a directory). Large reads are spread over `threads`.
std::unique_ptr<ByteSource> open_file(const std::string& path, int threads);

/// The text must outlive the source.
std::unique_ptr<ByteSource> open_memory(std::string_view text);

/// What a gzip stream unpacks to, all members of it. Reading throws IoError (damaged, truncated).
std::unique_ptr<ByteSource> open_gzip(std::unique_ptr<ByteSource> packed, const std::string& name);

/// open_gzip when the first bytes say gzip, whatever the name says; else the source itself.
std::unique_ptr<ByteSource> unpack(std::unique_ptr<ByteSource> source, const std::string& name);

}  // namespace cnc::detail
