#include "png_image.hpp"

#include "output_file.hpp"

#include <cnc/error.hpp>

#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <ostream>

namespace cnc::cli {
namespace {

using Colour = std::array<unsigned char, 3>;

/// A cell of the cube of colours, and how many pixels are in it.
struct Cell {
  Colour colour;
  long pixels = 0;
};

/// Five bits of each component.
std::size_t cell_of(const unsigned char* rgb) {
  return static_cast<std::size_t>((rgb[0] >> 3) << 10 | (rgb[1] >> 3) << 5 | rgb[2] >> 3);
}

/// Cells next to each other that become one colour.
struct Box {
  std::size_t begin = 0, end = 0;
  int axis = 0, extent = 0;  ///< along which it is longest
  long pixels = 0;

  Box(const std::vector<Cell>& cells, std::size_t first, std::size_t last)
      : begin(first), end(last) {
    Colour low = {255, 255, 255}, high = {0, 0, 0};
    for (std::size_t k = begin; k < end; ++k) {
      pixels += cells[k].pixels;
      for (std::size_t c = 0; c < 3; ++c) {
        low[c] = std::min(low[c], cells[k].colour[c]);
        high[c] = std::max(high[c], cells[k].colour[c]);
      }
    }
    for (std::size_t c = 0; c < 3; ++c)
      if (high[c] - low[c] > extent) {
        extent = high[c] - low[c];
        axis = static_cast<int>(c);
      }
  }
  /// How much would be gained by cutting it.
  double weight() const { return extent * std::sqrt(static_cast<double>(pixels)); }
};

/// Boxes of about equally many pixels and small extent: Heckbert's median cut, 1982.
std::vector<Box> boxes_of(std::vector<Cell>& cells, std::size_t most) {
  std::vector<Box> boxes = {Box(cells, 0, cells.size())};
  while (boxes.size() < most) {
    const auto largest =
        std::max_element(boxes.begin(), boxes.end(),
                         [](const Box& a, const Box& b) { return a.weight() < b.weight(); });
    if (largest->extent == 0) break;
    const Box box = *largest;
    const auto axis = static_cast<std::size_t>(box.axis);
    std::sort(cells.begin() + static_cast<std::ptrdiff_t>(box.begin),
              cells.begin() + static_cast<std::ptrdiff_t>(box.end),
              [axis](const Cell& a, const Cell& b) { return a.colour[axis] < b.colour[axis]; });
    std::size_t middle = box.begin + 1;
    for (long before = cells[box.begin].pixels; middle + 1 < box.end && 2 * before < box.pixels;
         ++middle)
      before += cells[middle].pixels;
    *largest = Box(cells, box.begin, middle);
    boxes.emplace_back(cells, middle, box.end);
  }
  return boxes;
}

/// The picture with 256 colours at most.
struct Palette {
  std::vector<png_byte> colours;  ///< [3 count]
  std::vector<png_byte> pixels;
};

Palette palette_of(const std::vector<unsigned char>& rgb) {
  constexpr std::size_t cube = 32 * 32 * 32;
  std::vector<long> count(cube, 0);
  std::vector<std::array<long, 3>> sum(cube, {0, 0, 0});
  for (std::size_t k = 0; k < rgb.size(); k += 3) {
    const std::size_t cell = cell_of(&rgb[k]);
    ++count[cell];
    for (std::size_t c = 0; c < 3; ++c) sum[cell][c] += rgb[k + c];
  }
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < cube; ++i) {
    if (count[i] == 0) continue;
    Cell cell{{}, count[i]};
    for (std::size_t c = 0; c < 3; ++c)
      cell.colour[c] = static_cast<unsigned char>(sum[i][c] / count[i]);
    cells.push_back(cell);
  }
  Palette palette;
  std::vector<png_byte> index(cube, 0);
  const std::vector<Box> boxes = boxes_of(cells, 256);
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    std::array<long, 3> mean = {0, 0, 0};
    for (std::size_t k = boxes[b].begin; k < boxes[b].end; ++k) {
      index[cell_of(cells[k].colour.data())] = static_cast<png_byte>(b);
      for (std::size_t c = 0; c < 3; ++c) mean[c] += cells[k].pixels * cells[k].colour[c];
    }
    for (const long part : mean)
      palette.colours.push_back(static_cast<png_byte>(part / boxes[b].pixels));
  }
  palette.pixels.reserve(rgb.size() / 3);
  for (std::size_t k = 0; k < rgb.size(); k += 3) palette.pixels.push_back(index[cell_of(&rgb[k])]);
  return palette;
}

void encode(const std::string& path, png_image& image, const void* pixels, const void* colours) {
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::vector<char> file(size);
  if (png_image_write_to_memory(&image, file.data(), &size, 0, pixels, 0, colours) == 0)
    throw IoError(path, 0, std::string("cannot encode the picture: ") + image.message);
  write_output(
      path, [&](std::ostream& out) { out.write(file.data(), static_cast<std::streamsize>(size)); });
}

png_image image_of(int width, int height, png_uint_32 format) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = format;
  return image;
}

}  // namespace

void write_png(const std::string& path, const std::vector<unsigned char>& rgb, int width,
               int height) {
  png_image image = image_of(width, height, PNG_FORMAT_RGB);
  encode(path, image, rgb.data(), nullptr);
}

void write_small_png(const std::string& path, const std::vector<unsigned char>& rgb, int width,
                     int height) {
  if (rgb.empty()) return write_png(path, rgb, width, height);
  const Palette palette = palette_of(rgb);
  png_image image = image_of(width, height, PNG_FORMAT_RGB_COLORMAP);
  image.colormap_entries = static_cast<png_uint_32>(palette.colours.size() / 3);
  encode(path, image, palette.pixels.data(), palette.colours.data());
}

}  // namespace cnc::cli
