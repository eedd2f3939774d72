#include "progress.hpp"

#include "terminal.hpp"
#include "timing.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>

namespace cnc::cli {

ProgressLine::ProgressLine(bool wanted) : shown_(wanted && error_stream_is_terminal()) {}

bool ProgressLine::due() const { return shown_ && now() - last_ > 0.1; }

void ProgressLine::show(const std::string& text) {
  if (!shown_) return;
  std::cerr << '\r' << text << "\033[K" << std::flush;
  dirty_ = true;
  last_ = now();
}

void ProgressLine::clear() {
  if (dirty_) std::cerr << "\r\033[K" << std::flush;
  dirty_ = false;
}

std::string bar(double share, int width) {
  if (!(share >= 0)) share = 0;
  const int full = static_cast<int>(std::lround(std::min(share, 1.0) * width));
  std::string text;
  for (int k = 0; k < width; ++k) text += k < full ? glyph("█", "#") : glyph("░", ".");
  return text;
}

}  // namespace cnc::cli
