#pragma once

#include <string>

namespace cnc::cli {

/// A line on a terminal that is written over and over. Does nothing when standard error is none.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool shown() const { return shown_; }
  /// Whether the last text is old enough to be replaced (ten a second are enough for eyes).
  bool due() const;
  void show(const std::string& text);
  void clear();

 private:
  bool shown_;
  bool dirty_ = false;
  double last_ = 0;
};

/// A bar of `width` characters, `share` of it filled.
std::string bar(double share, int width);

}  // namespace cnc::cli
