#include <assemble/families.hpp>
#include <assemble/star_stencil.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace cnc::detail {
namespace {

GridExtents position(const GridExtents& n, index_t row) {
  return {row % n[0], row / n[0] % n[1], row / n[0] / n[1]};
}

/// How many of the points i - 1, i, i + 1 lie in [0, n).
index_t neighbours_and_self(index_t i, index_t n) { return 1 + (i > 0) + (i + 1 < n); }

double star_nonzeros(const GridExtents& n) {
  const double rows = static_cast<double>(n[0]) * n[1] * n[2];
  double nonzeros = rows;
  for (const index_t extent : n) {
    nonzeros += 2 * (rows - rows / extent);
  }
  return nonzeros;
}

/// diagonal(row, at), and coupling(row, neighbour, axis) with a point before or after it.
template <class Diagonal, class Coupling>
ProblemRows star_rows(const ProblemText& text, const GridExtents& n, const Diagonal& diagonal,
                      const Coupling& coupling) {
  text.check_size(static_cast<double>(n[0]) * n[1] * n[2], star_nonzeros(n));
  const index_t rows = n[0] * n[1] * n[2];
  const GridExtents stride = {1, n[0], n[0] * n[1]};
  const auto count = [=](index_t row) {
    const GridExtents at = position(n, row);
    return neighbours_and_self(at[0], n[0]) + neighbours_and_self(at[1], n[1]) +
           neighbours_and_self(at[2], n[2]) - 2;
  };
  const auto fill = [=](index_t row, index_t* columns, double* values) {
    const GridExtents at = position(n, row);
    const auto put = [&](index_t column, double value) {
      *columns++ = column;
      *values++ = value;
    };
    for (std::size_t axis = 3; axis-- > 0;) {
      if (at[axis] > 0) {
        put(row - stride[axis], coupling(row, row - stride[axis], axis));
      }
    }
    put(row, diagonal(row, at));
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (at[axis] + 1 < n[axis]) {
        put(row + stride[axis], coupling(row, row + stride[axis], axis));
      }
    }
  };
  return rows_by(rows, "star stencil", count, fill);
}

/// A number in [0, 1) without a pattern: the finalizer of SplitMix64 (Steele, Lea & Flood 2014).
double scattered(index_t point) {
  auto bits = static_cast<std::uint64_t>(point) + 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return std::ldexp(static_cast<double>((bits ^ (bits >> 31)) >> 11), -53);
}

}  // namespace

ProblemRows star_stencil(const ProblemText& text, const GridExtents& n,
                         const StarStencil& stencil) {
  return star_rows(
      text, n, [=](index_t, const GridExtents&) { return stencil.diagonal; },
      [=](index_t row, index_t neighbour, std::size_t axis) {
        return neighbour < row ? stencil.lower[axis] : stencil.upper[axis];
      });
}

ProblemRows poisson2d(const ProblemText& text) {
  const std::vector<index_t> n = text.extents(0);
  if (n.size() > 2) {
    text.fail("a rectangle has one or two sizes");
  }
  return star_stencil(text, {n.front(), n.back(), 1}, {4, {-1, -1, 0}, {-1, -1, 0}});
}

ProblemRows poisson3d(const ProblemText& text) {
  const std::vector<index_t> n = text.extents(0);
  if (n.size() != 1 && n.size() != 3) {
    text.fail("a box has one or three sizes");
  }
  return star_stencil(text, {n.front(), n[n.size() / 2], n.back()},
                      {6, {-1, -1, -1}, {-1, -1, -1}});
}

ProblemRows anisotropic2d(const ProblemText& text) {
  const index_t n = text.extent(0);
  const double eps = text.number(1, std::numeric_limits<double>::min());
  return star_stencil(text, {n, n, 1}, {2 + 2 * eps, {-1, -eps, 0}, {-1, -eps, 0}});
}

ProblemRows diffusion3d(const ProblemText& text) {
  const index_t n = text.extent(0);
  const double contrast = text.number(1, 1);
  const auto resistance = [=](index_t cell) { return std::pow(contrast, -scattered(cell)); };
  const auto between = [=](index_t cell, index_t neighbour) {
    return 2 / (resistance(cell) + resistance(neighbour));  // the same from both sides
  };
  const auto diagonal = [=](index_t row, const GridExtents& at) {
    const GridExtents stride = {1, n, n * n};
    const double to_boundary = 2 / resistance(row);  // which is half a cell away
    double sum = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      sum += at[axis] > 0 ? between(row, row - stride[axis]) : to_boundary;
      sum += at[axis] + 1 < n ? between(row, row + stride[axis]) : to_boundary;
    }
    return sum;
  };
  return star_rows(text, {n, n, n}, diagonal, [=](index_t row, index_t neighbour, std::size_t) {
    return -between(row, neighbour);
  });
}

ProblemRows stencil27(const ProblemText& text) {
  const index_t n = text.extent(0);
  const double size = n;
  const double pairs = 3 * size - 2;
  text.check_size(size * size * size, pairs * pairs * pairs);
  const GridExtents extents = {n, n, n};
  const auto count = [=](index_t row) {
    const GridExtents at = position(extents, row);
    return neighbours_and_self(at[0], n) * neighbours_and_self(at[1], n) *
           neighbours_and_self(at[2], n);
  };
  const auto fill = [=](index_t row, index_t* columns, double* values) {
    const GridExtents at = position(extents, row);
    for (index_t z = std::max(at[2] - 1, 0); z <= std::min(at[2] + 1, n - 1); ++z) {
      for (index_t y = std::max(at[1] - 1, 0); y <= std::min(at[1] + 1, n - 1); ++y) {
        for (index_t x = std::max(at[0] - 1, 0); x <= std::min(at[0] + 1, n - 1); ++x) {
          const index_t column = x + n * (y + n * z);
          *columns++ = column;
          *values++ = column == row ? 26 : -1;
        }
      }
    }
  };
  return rows_by(n * n * n, "stencil27", count, fill);
}

}  // namespace cnc::detail
