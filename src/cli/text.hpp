#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cnc::cli {

/// snprintf into a string.
[[gnu::format(printf, 1, 2)]] std::string print(const char* format, ...);

/// "1,234,567"
std::string count_text(long long n);

/// Three digits with the unit that suits: "12.3 us", "1.20 s". Negative or NaN: "-".
std::string seconds_text(double seconds);

/// "24.2 MB", powers of ten.
std::string bytes_text(double bytes);

/// Columns that UTF-8 text takes on a terminal (every character here takes one).
std::size_t display_width(std::string_view text);

std::string pad_left(const std::string& text, std::size_t width);
std::string pad_right(const std::string& text, std::size_t width);

/// "s" when n is not 1.
inline const char* plural(long long n) { return n == 1 ? "" : "s"; }

}  // namespace cnc::cli
