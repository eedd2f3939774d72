#pragma once

#include "cli/run_cnc.hpp"
#include "support/catch.hpp"
#include "surfaces.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <string>
#include <vector>

namespace cnc::test {

inline Run parameterize(const std::vector<std::string>& arguments) {
  return run_program(CNC_PARAMETERIZE_PATH, arguments);
}
inline Run smooth(const std::vector<std::string>& arguments) {
  return run_program(CNC_SMOOTH_PATH, arguments);
}

/// What follows each such word at the beginning of a line: "v", "vt", "f".
inline std::vector<std::string> lines_of(const std::string& text, const std::string& word) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (line.rfind(word + " ", 0) == 0) lines.push_back(line.substr(word.size() + 1));
    begin = end + 1;
  }
  return lines;
}

/// Every number of such lines.
inline std::vector<double> numbers_of(const std::vector<std::string>& lines) {
  std::vector<double> numbers;
  for (const std::string& line : lines) {
    const char* text = line.c_str();
    char* end = nullptr;
    for (double x = std::strtod(text, &end); end != text; x = std::strtod(text, &end)) {
      numbers.push_back(x);
      text = end;
    }
  }
  return numbers;
}

/// Width and height in the header of a PNG that is whole; zeros otherwise.
inline std::pair<unsigned, unsigned> size_of_png(const std::string& png) {
  const auto number = [&](std::size_t at) {
    unsigned value = 0;
    for (std::size_t k = 0; k < 4; ++k)
      value = value << 8 | static_cast<unsigned char>(png[at + k]);
    return value;
  };
  const bool whole = png.size() > 40 && png.rfind("\x89PNG\r\n\x1a\n", 0) == 0 &&
                     png.substr(png.size() - 8, 4) == "IEND";
  return whole ? std::pair(number(16), number(20)) : std::pair(0u, 0u);
}

/// A hill over a square.
inline Mesh hill(index_t n) {
  return grid(n, n, [](double s, double t) {
    return Point{s, t, 0.4 * std::sin(3 * s) * std::sin(3.1 * t)};
  });
}

}  // namespace cnc::test
