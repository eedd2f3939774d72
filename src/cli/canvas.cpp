#include "canvas.hpp"

#include <algorithm>

namespace cnc::cli {

Canvas::Canvas(int columns, int lines, bool braille)
    : columns_(columns),
      lines_(lines),
      braille_(braille),
      cells_(static_cast<std::size_t>(columns) * static_cast<std::size_t>(lines)) {}

void Canvas::set(int x, int y) {
  // Bit of each dot in U+2800..U+28FF: columns first for three lines, then the lowest line.
  static constexpr unsigned char bits[4][2] = {
      {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  if (x < 0 || y < 0 || x >= width() || y >= height()) return;
  const auto cell = static_cast<std::size_t>(y / dots_down()) * static_cast<std::size_t>(columns_) +
                    static_cast<std::size_t>(x / dots_across());
  cells_[cell] =
      static_cast<unsigned char>(cells_[cell] | (braille_ ? bits[y % 4][x % 2] : bits[0][0]));
}

void Canvas::stroke(int x, int y_from, int y_to) {
  const int top = std::max(std::min(y_from, y_to), 0);
  const int bottom = std::min(std::max(y_from, y_to), height() - 1);
  for (int y = top; y <= bottom; ++y) set(x, y);
}

std::string Canvas::line(int index) const {
  std::string text;
  for (int k = 0; k < columns_; ++k) {
    const unsigned bits =
        cells_[static_cast<std::size_t>(index) * static_cast<std::size_t>(columns_) +
               static_cast<std::size_t>(k)];
    if (bits == 0) {
      text += ' ';
    } else if (!braille_) {
      text += '*';
    } else {  // U+2800 + bits in UTF-8
      text += '\xE2';
      text += static_cast<char>(0xA0 + (bits >> 6));
      text += static_cast<char>(0x80 + (bits & 0x3F));
    }
  }
  return text;
}

}  // namespace cnc::cli
