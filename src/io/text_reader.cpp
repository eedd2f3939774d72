#include "io/text_reader.hpp"

#include <cnc/error.hpp>

#include <algorithm>
#include <cstring>

namespace cnc::detail {

namespace {

// No sensible file has longer lines; a binary file may well have none at all.
constexpr std::size_t longest_line = std::size_t{1} << 20;

std::size_t useful_window(const ByteSource& source, std::size_t wanted) {
  const offset_t size = source.size();
  if (size < 0) {
    return wanted;
  }
  return std::min(wanted, static_cast<std::size_t>(size) + 1);
}

}  // namespace

TextReader::TextReader(ByteSource& source, const std::string& name, std::size_t window_bytes)
    : source_(source),
      name_(name),
      capacity_(useful_window(source, window_bytes)),
      buffer_(new char[capacity_ + 1]) {}

bool TextReader::next_line(std::string_view& line) {
  if (begin_ == end_) {
    load();
  }
  if (begin_ == end_) {
    return false;
  }
  const char* first = buffer_.get() + begin_;
  const auto* last = static_cast<const char*>(std::memchr(first, '\n', end_ - begin_));
  line = std::string_view(first, static_cast<std::size_t>(last - first));
  begin_ += line.size() + 1;
  ++lines_;
  return true;
}

std::string_view TextReader::next_window() {
  if (begin_ == end_) {
    load();
  }
  const std::string_view window(buffer_.get() + begin_, end_ - begin_);
  begin_ = end_;
  return window;
}

void TextReader::load() {
  std::memmove(buffer_.get(), buffer_.get() + end_, filled_ - end_);
  filled_ -= end_;
  begin_ = end_ = 0;
  std::size_t searched = 0;
  while (end_ == 0 && !exhausted_) {
    if (filled_ == capacity_) {
      grow();
    }
    searched = filled_;
    const std::size_t room = capacity_ - filled_;
    const std::size_t got = source_.read(buffer_.get() + filled_, room);
    filled_ += got;
    exhausted_ = got < room;
    const std::string_view fresh(buffer_.get() + searched, filled_ - searched);
    const std::size_t last = fresh.rfind('\n');
    if (last != std::string_view::npos) {
      end_ = searched + last + 1;
    }
  }
  if (exhausted_ && filled_ > end_) {
    buffer_[filled_++] = '\n';
    end_ = filled_;
  }
}

void TextReader::grow() {
  if (capacity_ >= longest_line) {
    throw IoError(name_, lines_ + 1,
                  "the line is longer than " + std::to_string(longest_line) + " bytes");
  }
  const std::size_t larger = std::min(2 * capacity_, std::max(longest_line, capacity_));
  std::unique_ptr<char[]> buffer(new char[larger + 1]);
  std::memcpy(buffer.get(), buffer_.get(), filled_);
  buffer_ = std::move(buffer);
  capacity_ = larger;
}

}  // namespace cnc::detail
