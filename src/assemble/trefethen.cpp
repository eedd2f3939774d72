#include <assemble/families.hpp>

#include <algorithm>
#include <cmath>

namespace cnc::detail {
namespace {

/// The first n primes, by the sieve of Eratosthenes over the odd numbers.
std::vector<index_t> first_primes(index_t n) {
  // Rosser & Schoenfeld 1962: the n-th prime is below n (ln n + ln ln n) for n >= 6.
  const double m = std::max(n, 6);
  const auto limit = static_cast<std::size_t>(m * (std::log(m) + std::log(std::log(m)))) + 1;
  std::vector<bool> composite(limit / 2 + 1, false);  // entry i stands for 2 i + 1
  std::vector<index_t> primes;
  primes.reserve(static_cast<std::size_t>(n));
  primes.push_back(2);
  for (std::size_t i = 1; primes.size() < static_cast<std::size_t>(n); ++i) {
    if (composite[i]) {
      continue;
    }
    const std::size_t prime = 2 * i + 1;
    primes.push_back(static_cast<index_t>(prime));
    for (std::size_t k = prime * prime / 2; k < composite.size(); k += prime) {
      composite[k] = true;
    }
  }
  return primes;
}

}  // namespace

// L. N. Trefethen, "A Hundred-dollar, Hundred-digit Challenge", SIAM News 35, 2002, problem 7.
ProblemRows trefethen(const ProblemText& text) {
  const index_t n = text.extent(0);
  double nonzeros = n;
  for (double distance = 1; distance < n; distance *= 2) {
    nonzeros += 2 * (n - distance);
  }
  text.check_size(n, nonzeros);

  const auto powers_below = [](index_t limit) {
    index_t count = 0;
    for (offset_t distance = 1; distance < limit; distance *= 2) {
      ++count;
    }
    return count;
  };
  const auto count = [=](index_t row) { return powers_below(row + 1) + 1 + powers_below(n - row); };
  auto fill = [=, primes = first_primes(n)](index_t row, index_t* columns, double* values) {
    for (index_t k = powers_below(row + 1); k-- > 0;) {
      *columns++ = row - (index_t{1} << k);
      *values++ = 1;
    }
    *columns++ = row;
    *values++ = primes[static_cast<std::size_t>(row)];
    const index_t above = powers_below(n - row);
    for (index_t k = 0; k < above; ++k) {
      *columns++ = row + (index_t{1} << k);
      *values++ = 1;
    }
  };
  return rows_by(n, "trefethen", count, std::move(fill));
}

}  // namespace cnc::detail
