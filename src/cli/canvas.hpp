#pragma once

#include <string>
#include <vector>

namespace cnc::cli {

/// A black-and-white picture made of characters: Braille patterns (2 x 4 dots each) where the
/// terminal shows Unicode, else one '*' per character.
class Canvas {
 public:
  Canvas(int columns, int lines, bool braille);

  int width() const { return columns_ * dots_across(); }  ///< dots
  int height() const { return lines_ * dots_down(); }     ///< dots
  int lines() const { return lines_; }

  /// Out-of-range dots are ignored. y counts from the top.
  void set(int x, int y);
  /// A vertical stroke between two heights, so that a curve has no gaps.
  void stroke(int x, int y_from, int y_to);

  std::string line(int index) const;

 private:
  int dots_across() const { return braille_ ? 2 : 1; }
  int dots_down() const { return braille_ ? 4 : 1; }

  int columns_;
  int lines_;
  bool braille_;
  std::vector<unsigned char> cells_;  ///< [lines columns] bits of the Braille pattern
};

}  // namespace cnc::cli
