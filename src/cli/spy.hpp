#pragma once

#include <cnc/bcsr_matrix.hpp>

#include <iosfwd>
#include <string>
#include <vector>

namespace cnc::cli {

/// Where the entries of a matrix are, at the resolution of a picture.
struct SpyRaster {
  int width = 0;
  int height = 0;
  std::vector<offset_t> counts;  ///< [height width] entries under each pixel
  double capacity = 1;           ///< entries that fit under one pixel
};

/// One pixel per entry at most; the longer side has at most `limit` pixels. O(nonzeros).
SpyRaster spy_raster(const CsrMatrix<double>& A, int limit);

/// Draws the pattern with characters.
void print_spy(std::ostream& out, const CsrMatrix<double>& A);

/// Writes the pattern as a PNG of up to 1024 pixels a side; darker is denser. Small matrices are
/// enlarged by a whole factor.
void write_spy_png(const std::string& path, const CsrMatrix<double>& A);

}  // namespace cnc::cli
