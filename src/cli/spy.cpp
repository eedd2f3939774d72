#include "spy.hpp"

#include "canvas.hpp"
#include "png_image.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

namespace cnc::cli {
namespace {

constexpr int terminal_columns = 56;
constexpr int png_side = 1024;

SpyRaster raster_of_size(const CsrMatrix<double>& A, int width, int height) {
  SpyRaster raster{
      width, height,
      std::vector<offset_t>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height)), 1};
  if (A.rows == 0 || A.cols == 0) return raster;
  raster.capacity = (static_cast<double>(A.rows) / height) * (static_cast<double>(A.cols) / width);
  const index_t* offsets = A.row_offsets.data();
  const index_t* columns = A.columns.data();
  for (index_t i = 0; i < A.rows; ++i) {
    const offset_t row = static_cast<offset_t>(i) * height / A.rows * width;
    for (index_t k = offsets[i]; k < offsets[i + 1]; ++k)
      ++raster.counts[static_cast<std::size_t>(row +
                                               static_cast<offset_t>(columns[k]) * width / A.cols)];
  }
  return raster;
}

/// Side in pixels: the matrix's shape within a square of `limit`, one pixel at least.
int side(index_t own, index_t other, int limit) {
  const index_t longest = std::max(own, other);
  if (longest <= limit) return std::max<int>(own, 1);
  return std::max(1, static_cast<int>(std::lround(static_cast<double>(own) / longest * limit)));
}

/// Plain characters show density, as dots do not.
std::string density_line(const SpyRaster& raster, int line) {
  static constexpr char marks[] = ".:+*#@";
  std::string text;
  for (int x = 0; x < raster.width; ++x) {
    const offset_t count =
        raster.counts[static_cast<std::size_t>(line) * static_cast<std::size_t>(raster.width) +
                      static_cast<std::size_t>(x)];
    const double density = std::sqrt(std::min(1.0, static_cast<double>(count) / raster.capacity));
    text += count == 0 ? ' ' : marks[std::min(5, static_cast<int>(density * 6))];
  }
  return text;
}

void print_line(std::ostream& out, const std::string& text) {
  const std::string edge(glyph("│", "|"));
  out << "  " << styled(Style::dim, edge) << text << styled(Style::dim, edge) << '\n';
}

void print_border(std::ostream& out, int columns, std::string_view left, std::string_view right) {
  std::string text = "  " + std::string(left);
  for (int k = 0; k < columns; ++k) text += glyph("─", "-");
  out << styled(Style::dim, text + std::string(right)) << '\n';
}

void print_braille(std::ostream& out, const CsrMatrix<double>& A, int columns, int lines) {
  Canvas canvas(columns, lines, true);
  // A small matrix is drawn entry by entry rather than stretched over empty dots.
  const SpyRaster raster = raster_of_size(A, std::min(canvas.width(), std::max<int>(A.cols, 1)),
                                          std::min(canvas.height(), std::max<int>(A.rows, 1)));
  for (int y = 0; y < raster.height; ++y)
    for (int x = 0; x < raster.width; ++x)
      if (raster.counts[static_cast<std::size_t>(y) * static_cast<std::size_t>(raster.width) +
                        static_cast<std::size_t>(x)] > 0)
        canvas.set(x, y);
  for (int line = 0; line < lines; ++line) print_line(out, canvas.line(line));
}

std::vector<unsigned char> pixels_of(const SpyRaster& raster, int zoom) {
  const int width = raster.width * zoom;
  std::vector<unsigned char> pixels(
      static_cast<std::size_t>(width) * static_cast<std::size_t>(raster.height * zoom) * 3, 255);
  for (int y = 0; y < raster.height * zoom; ++y)
    for (int x = 0; x < width; ++x) {
      const offset_t count =
          raster
              .counts[static_cast<std::size_t>(y / zoom) * static_cast<std::size_t>(raster.width) +
                      static_cast<std::size_t>(x / zoom)];
      if (count == 0) continue;
      // The first entry already shows clearly; the rest of the scale is density.
      const double ink =
          0.35 + 0.65 * std::sqrt(std::min(1.0, static_cast<double>(count) / raster.capacity));
      unsigned char* pixel =
          &pixels[(static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                   static_cast<std::size_t>(x)) *
                  3];
      pixel[0] = static_cast<unsigned char>(255 - ink * 247);
      pixel[1] = static_cast<unsigned char>(255 - ink * 207);
      pixel[2] = static_cast<unsigned char>(255 - ink * 148);
    }
  return pixels;
}

}  // namespace

SpyRaster spy_raster(const CsrMatrix<double>& A, int limit) {
  return raster_of_size(A, side(A.cols, A.rows, limit), side(A.rows, A.cols, limit));
}

void print_spy(std::ostream& out, const CsrMatrix<double>& A) {
  if (A.rows == 0 || A.cols == 0) return;
  const bool braille = terminal().utf8;
  const int across = braille ? 2 : 1;
  // A character is about twice as high as it is wide: 2 x 4 dots, or one half of a square.
  const SpyRaster shape = spy_raster(A, terminal_columns * across);
  const int columns = std::max(1, (shape.width + across - 1) / across);
  const int dots_per_line = braille ? 4 : (A.rows > terminal_columns ? 2 : 1);
  const int lines = std::max(1, (shape.height + dots_per_line - 1) / dots_per_line);
  print_border(out, columns, glyph("┌", "+"), glyph("┐", "+"));
  if (braille) {
    print_braille(out, A, columns, lines);
  } else {
    const SpyRaster raster = raster_of_size(A, columns, lines);
    for (int line = 0; line < lines; ++line) print_line(out, density_line(raster, line));
  }
  print_border(out, columns, glyph("└", "+"), glyph("┘", "+"));
}

void write_spy_png(const std::string& path, const CsrMatrix<double>& A) {
  const SpyRaster raster = spy_raster(A, png_side);
  const int zoom = std::max(1, png_side / 2 / std::max(raster.width, raster.height));
  write_png(path, pixels_of(raster, zoom), raster.width * zoom, raster.height * zoom);
}

}  // namespace cnc::cli
