#pragma once

#include <iosfwd>
#include <memory>
#include <string_view>

namespace cnc::detail {

/// Text that goes to a stream, plain or compressed.
class TextSink {
 public:
  virtual ~TextSink() = default;
  virtual void put(std::string_view text) = 0;
  /// Writes what is still held back. Nothing may be put afterwards.
  virtual void finish() {}
};

/// A sink that compresses when the name of the file ends in ".gz".
std::unique_ptr<TextSink> text_sink(std::string_view path, std::ostream& out);

}  // namespace cnc::detail
