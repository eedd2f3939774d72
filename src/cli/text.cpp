#include "text.hpp"

#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace cnc::cli {

std::string print(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string text(length > 0 ? static_cast<std::size_t>(length) : 0, '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}

std::string count_text(long long n) {
  std::string text = std::to_string(n);
  const std::size_t first = n < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string seconds_text(double seconds) {
  if (!(seconds >= 0)) return "-";
  const char* unit = seconds < 1e-3 ? "us" : seconds < 1 ? "ms" : "s";
  const double value = seconds * (seconds < 1e-3 ? 1e6 : seconds < 1 ? 1e3 : 1);
  const int decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
  return print("%.*f %s", decimals, value, unit);
}

std::string bytes_text(double bytes) {
  const char* const units[] = {"B", "kB", "MB", "GB", "TB"};
  int unit = 0;
  while (bytes >= 999.5 && unit < 4) {
    bytes /= 1000;
    ++unit;
  }
  return print(unit == 0 || bytes >= 99.95 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text) width += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return width;
}

std::string pad_left(const std::string& text, std::size_t width) {
  const std::size_t have = display_width(text);
  return have < width ? std::string(width - have, ' ') + text : text;
}

std::string pad_right(const std::string& text, std::size_t width) {
  const std::size_t have = display_width(text);
  return have < width ? text + std::string(width - have, ' ') : text;
}

}  // namespace cnc::cli
