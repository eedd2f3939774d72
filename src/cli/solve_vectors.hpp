#pragma once

#include "mixed.hpp"
#include "vector_file.hpp"

#include <cnc/bcsr_matrix.hpp>
#include <cnc/io.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>

// Right-hand sides, start vectors and solutions as the command line names them.

namespace cnc::cli {

/// In [-1, 1).
inline double random_entry(std::uint64_t seed, std::uint64_t index) {
  return detail::unit_entry(seed * 0xD1342543DE82EF95u + index * detail::golden);
}

inline std::uint64_t parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size())
    throw InvalidArgument("--rhs random:" + text + ": the seed must be a whole number from 0");
  return seed;
}

/// Row sums are what A does to ones, so that x = 1 solves the system.
template <class V>
void fill_with_row_sums(const CsrMatrix<V>& A, const Vector<V>& b) {
  for (index_t i = 0; i < A.rows; ++i) {
    double sum = 0;
    for (index_t k = A.row_offsets(static_cast<std::size_t>(i));
         k < A.row_offsets(static_cast<std::size_t>(i) + 1); ++k)
      sum += static_cast<double>(A.values(static_cast<std::size_t>(k)));
    b(static_cast<std::size_t>(i)) = static_cast<V>(sum);
  }
}

inline const std::string random = "random:";

inline bool is_built_in_rhs(const std::string& text) {
  return text == "ones" || text == "a-times-ones" || text.rfind(random, 0) == 0;
}

template <class V>
Vector<V> right_hand_side(const std::string& text, const CsrMatrix<V>& A) {
  if (!is_built_in_rhs(text)) return vector_from_file<V>(text, "right-hand side", A.rows, "rows");
  const auto b = zeroed<V>("b", static_cast<std::size_t>(A.rows));
  if (text == "ones") {
    Kokkos::deep_copy(b, V(1));
  } else if (text == "a-times-ones") {
    fill_with_row_sums(A, b);
  } else {
    const std::uint64_t seed = parse_seed(text.substr(random.size()));
    for (std::size_t i = 0; i < b.extent(0); ++i) b(i) = static_cast<V>(random_entry(seed, i));
  }
  return b;
}

template <class V>
double distance_from_ones(const Vector<V>& x) {
  double worst = 0;
  for (std::size_t i = 0; i < x.extent(0); ++i) {
    const double distance = std::abs(static_cast<double>(x(i)) - 1);
    if (!(distance <= worst)) worst = distance;  // keeps NaN
  }
  return worst;
}

/// The start vector of that name.
template <class V>
Vector<V> start_vector(const std::string& text, const CsrMatrix<V>& A) {
  if (text == "zero") return zeroed<V>("x", static_cast<std::size_t>(A.cols));
  return vector_from_file<V>(text, "start vector", A.cols, A.rows == A.cols ? "rows" : "columns");
}

template <class V>
void write_solution(const std::string& path, const Vector<V>& x) {
  if (path.ends_with(".cnc"))
    write_cache(path, Vector<const V>(x));
  else
    write_vector(path, Vector<const V>(x));
}

}  // namespace cnc::cli
