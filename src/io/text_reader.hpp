#pragma once

#include "io/byte_source.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace cnc::detail {

/// Text of a source in windows of whole lines, each line ended by '\n' (the last one too, even if
/// the file lacks it). Only one window is held at a time.
class TextReader {
 public:
  TextReader(ByteSource& source, const std::string& name, std::size_t window_bytes);

  /// The next line without its end; false at the end of the text. Valid until the next call.
  bool next_line(std::string_view& line);

  /// All whole lines at hand that next_line has not taken, loading more if there are none. Empty at
  /// the end of the text. The caller counts its lines and says how many there were. Valid until the
  /// next call.
  std::string_view next_window();
  void add_lines(std::size_t lines) { lines_ += lines; }

  /// Lines handed out so far: the number of the current line.
  std::size_t line() const { return lines_; }
  const std::string& name() const { return name_; }

 private:
  void load();
  void grow();

  ByteSource& source_;
  std::string name_;
  std::size_t capacity_;
  std::unique_ptr<char[]> buffer_;  // capacity_ and one more for a missing last line end
  std::size_t begin_ = 0;           // whole lines: [begin_, end_)
  std::size_t end_ = 0;
  std::size_t filled_ = 0;  // the start of a line: [end_, filled_)
  std::size_t lines_ = 0;
  bool exhausted_ = false;
};

}  // namespace cnc::detail
