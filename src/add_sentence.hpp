#pragma once

#include <string>

namespace cnc::detail {

/// "a", "b" -> "a; b"
inline void add_sentence(std::string& text, const std::string& sentence) {
  if (!text.empty()) text += "; ";
  text += sentence;
}

}  // namespace cnc::detail
