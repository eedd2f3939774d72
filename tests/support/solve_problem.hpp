#pragma once

#include "support/tolerance.hpp"

#include <cnc/bcsr_matrix.hpp>
#include <cnc/convert.hpp>
#include <cnc/problems.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace cnc::testing {

/// A linear system whose solution is known. All in double; see `in` for another precision.
template <class V>
struct KnownProblem {
  std::string name;
  CsrMatrix<V> A;
  Vector<V> solution;
  Vector<V> b;

  index_t rows() const { return A.rows; }
};

/// y := A x by the plainest loop there is, sums in long double.
template <class M, class V>
Vector<V> product(const CsrMatrix<M>& A, const Vector<V>& x) {
  Vector<V> y("y", static_cast<std::size_t>(A.rows));
  for (index_t row = 0; row < A.rows; ++row) {
    long double sum = 0;
    for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k)
      sum += static_cast<long double>(A.values(k)) * x(A.columns(k));
    y(row) = static_cast<V>(sum);
  }
  return y;
}

/// Entries between 1/2 and 3/2 without a pattern that a solver could profit from.
template <class V>
Vector<V> varied_vector(index_t n) {
  Vector<V> x("x", static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) x(i) = static_cast<V>(0.5 + (i * 37 % 101) / 100.0);
  return x;
}

template <class V>
KnownProblem<V> with_known_solution(const std::string& name, const CsrMatrix<V>& A) {
  const Vector<V> solution = varied_vector<V>(A.rows);
  return {name, A, solution, product(A, solution)};
}

/// A built-in problem in the precision V.
template <class V>
KnownProblem<V> known_problem(const std::string& text) {
  return with_known_solution(text, convert_values<V>(generate_problem(text)));
}

template <class View>
double norm2(const View& v) {
  double sum = 0;
  for (std::size_t i = 0; i < v.extent(0); ++i) sum += double(v(i)) * double(v(i));
  return std::sqrt(sum);
}

/// || x - y || / || y ||
template <class X, class Y>
double relative_difference(const X& x, const Y& y) {
  double sum = 0;
  for (std::size_t i = 0; i < y.extent(0); ++i)
    sum += (double(x(i)) - double(y(i))) * (double(x(i)) - double(y(i)));
  return std::sqrt(sum) / std::max(norm2(y), std::numeric_limits<double>::min());
}

/// || b - A x ||, and how far a computation of it in V may be off by rounding.
struct Residual {
  double norm = 0;
  double rounding = 0;
};

/// Computed with nothing of the library. The bound is that of the row sums and of the norm.
template <class V>
Residual residual_of(const CsrMatrix<V>& A, const Vector<V>& b, const Vector<V>& x) {
  double sum = 0, rounding = 0;
  for (index_t row = 0; row < A.rows; ++row) {
    const index_t begin = A.row_offsets(row), end = A.row_offsets(row + 1);
    double r = b(row), absolute = std::abs(r);
    for (index_t k = begin; k < end; ++k) {
      const double term = double(A.values(k)) * double(x(A.columns(k)));
      r -= term;
      absolute += std::abs(term);
    }
    const double bound = sum_tolerance<V>(end - begin, absolute);
    sum += r * r;
    rounding += bound * bound;
  }
  const double norm = std::sqrt(sum);
  return {norm, std::sqrt(rounding) + sum_tolerance<double>(A.rows, norm)};
}

template <class V>
Vector<V> zeros(index_t n) {
  return Vector<V>("x", static_cast<std::size_t>(n));
}

template <class View>
Vector<typename View::non_const_value_type> copy_of(const View& v) {
  Vector<typename View::non_const_value_type> copy("copy", v.extent(0));
  Kokkos::deep_copy(copy, v);
  return copy;
}

/// Whether two vectors have the same bits (so 0 differs from -0, and a NaN is itself).
template <class X, class Y>
bool same_bits(const X& x, const Y& y) {
  return x.extent(0) == y.extent(0) &&
         std::equal(reinterpret_cast<const unsigned char*>(x.data()),
                    reinterpret_cast<const unsigned char*>(x.data() + x.extent(0)),
                    reinterpret_cast<const unsigned char*>(y.data()));
}

}  // namespace cnc::testing
