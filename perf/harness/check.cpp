#include "harness/check.hpp"

#include <cnc/spmv.hpp>

#include <algorithm>
#include <cstdio>

namespace cnc::perf {
namespace {

[[noreturn]] void complain(const std::string& who, double error, double tolerance) {
  char numbers[96];
  std::snprintf(numbers, sizeof numbers, ": relative error %.2e where %.2e is allowed", error,
                tolerance);
  throw Error("wrong result of " + who + numbers + "; nothing was timed");
}

}  // namespace

template <class M>
ExpectedProduct expected_product(const CsrMatrix<M>& A, std::uint64_t seed) {
  const Context<> ctx("reference");
  const Vector<double> x = random_vector<double>(A.cols, seed);
  const auto rows = static_cast<std::size_t>(A.rows);
  ExpectedProduct expected{Vector<double>("expected", rows), Vector<double>("bound", rows), 0};
  spmv(ctx, 1.0, A, x, 0.0, expected.y);
  for (std::size_t i = 0; i < rows; ++i) {
    const index_t begin = A.row_offsets(i);
    const index_t end = A.row_offsets(i + 1);
    expected.longest_row = std::max(expected.longest_row, end - begin);
    for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k)
      expected.bound(i) +=
          std::abs(static_cast<double>(A.values(k)) * x(static_cast<std::size_t>(A.columns(k))));
  }
  return expected;
}

template <class V>
double check_product(const ExpectedProduct& expected, const Vector<V>& y, const std::string& who) {
  const double tolerance = (expected.longest_row + 8) * double(std::numeric_limits<V>::epsilon());
  double worst = 0;
  for (std::size_t i = 0; i < y.extent(0); ++i) {
    const double difference = std::abs(static_cast<double>(y(i)) - expected.y(i));
    const double error = difference == 0 ? 0 : difference / expected.bound(i);
    if (!(error <= worst)) worst = error;
  }
  if (!(worst <= tolerance)) complain(who, worst, tolerance);
  return worst;
}

template <class V>
double check_close(const Vector<double>& expected, const Vector<V>& x, double tolerance,
                   const std::string& who) {
  double worst = 0;
  double scale = 0;
  for (std::size_t i = 0; i < x.extent(0); ++i) {
    const double difference = std::abs(static_cast<double>(x(i)) - expected(i));
    if (!(difference <= worst)) worst = difference;
    scale = std::max(scale, std::abs(expected(i)));
  }
  const double error = scale > 0 ? worst / scale : worst;
  if (!(error <= tolerance)) complain(who, error, tolerance);
  return error;
}

double check_number(double expected, double found, double tolerance, const std::string& who) {
  const double error = std::abs(found - expected) / std::abs(expected);
  if (!(error <= tolerance)) complain(who, error, tolerance);
  return error;
}

template ExpectedProduct expected_product(const CsrMatrix<float>&, std::uint64_t);
template ExpectedProduct expected_product(const CsrMatrix<double>&, std::uint64_t);
template double check_product(const ExpectedProduct&, const Vector<float>&, const std::string&);
template double check_product(const ExpectedProduct&, const Vector<double>&, const std::string&);
template double check_close(const Vector<double>&, const Vector<float>&, double,
                            const std::string&);
template double check_close(const Vector<double>&, const Vector<double>&, double,
                            const std::string&);

}  // namespace cnc::perf
