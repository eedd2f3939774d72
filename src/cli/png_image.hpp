#pragma once

#include <string>
#include <vector>

namespace cnc::cli {

/// Writes a picture as PNG: 8 bits each of red, green and blue, row by row from the top. "-" is standard output.
///
/// Shapes   rgb: [height width 3]
/// Errors   IoError.
void write_png(const std::string& path, const std::vector<unsigned char>& rgb, int width,
               int height);

/// The same with the 256 colours that suit it best: about a third of the size.
void write_small_png(const std::string& path, const std::vector<unsigned char>& rgb, int width,
                     int height);

}  // namespace cnc::cli
