#pragma once

#include <cnc/bcsr_matrix.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace cnc::perf {

/// Numbers in (-1, 1) that float holds exactly, so that every precision works on the same vector.
template <class V>
Vector<V> random_vector(index_t n, std::uint64_t state) {
  Vector<V> x("x", static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.extent(0); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    x(i) = static_cast<V>(static_cast<float>(state >> 40) * 0x1p-23f - 1);
  }
  return x;
}

/// y = A x of the reference backend under double vectors, and the bound |A| |x| of every row.
struct ExpectedProduct {
  Vector<double> y;
  Vector<double> bound;
  index_t longest_row = 0;
};

/// x is random_vector(A.cols, seed).
template <class M>
ExpectedProduct expected_product(const CsrMatrix<M>& A, std::uint64_t seed);

/// Largest |y - expected| / (|A| |x|) over the rows.
/// Errors   Error naming `who` when it exceeds what summation in V can explain in any order: the
///          longest row's length (and a few more) times eps.
template <class V>
double check_product(const ExpectedProduct& expected, const Vector<V>& y, const std::string& who);

/// max |x - expected| / max |expected|.
/// Errors   Error naming `who` when it is not below `tolerance`.
template <class V>
double check_close(const Vector<double>& expected, const Vector<V>& x, double tolerance,
                   const std::string& who);

/// |found - expected| / |expected|, for numbers that are not zero.
/// Errors   as check_close.
double check_number(double expected, double found, double tolerance, const std::string& who);

}  // namespace cnc::perf
