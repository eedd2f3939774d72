#pragma once

#include "support/random_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace cnc::testing {

/// Where a vector starts relative to a SIMD register.
enum class Alignment { even, odd };

/// A vector between two walls of NaN: reading past either end spoils the result, writing there is seen by
/// walls_intact. Alignment::odd starts one element further, so no wide aligned load works on it.
template <class V>
class GuardedVector {
 public:
  GuardedVector(index_t n, Alignment alignment)
      : n_(n),
        first_(wall + (alignment == Alignment::odd ? 1 : 0)),
        storage_(static_cast<std::size_t>(n + first_ + wall), nan()) {}

  static V nan() { return std::numeric_limits<V>::quiet_NaN(); }

  V* data() { return storage_.data() + first_; }
  const V* data() const { return storage_.data() + first_; }
  V& operator[](index_t i) { return data()[i]; }
  V operator[](index_t i) const { return data()[i]; }
  index_t size() const { return n_; }

  /// Everything, walls included: storage_size() entries, of which the vector begins at first().
  V* storage() { return storage_.data(); }
  const V* storage() const { return storage_.data(); }
  std::size_t storage_size() const { return storage_.size(); }
  index_t first() const { return first_; }

  void fill(V value) { std::fill(data(), data() + n_, value); }
  /// Uniform in [-1, 1] with all the digits of V.
  void randomize(std::uint64_t seed) {
    Random random(seed);
    for (index_t i = 0; i < n_; ++i)
      data()[i] = static_cast<V>(static_cast<double>(random.next() >> 11) * 0x1p-52 - 1);
  }
  /// Copies the entries only, so that vectors of different alignment can hold the same.
  void assign(const GuardedVector& other) { std::copy(other.data(), other.data() + n_, data()); }
  bool walls_intact() const {
    const auto is_nan = [](V value) { return std::isnan(value); };
    return std::all_of(storage_.begin(), storage_.begin() + first_, is_nan) &&
           std::all_of(storage_.end() - wall, storage_.end(), is_nan);
  }
  bool same_bits(const GuardedVector& other) const {
    return n_ == other.n_ &&
           std::memcmp(data(), other.data(), static_cast<std::size_t>(n_) * sizeof(V)) == 0;
  }

 private:
  static constexpr index_t wall = 64;  // more than the widest register of float, and even

  index_t n_;
  index_t first_;
  std::vector<V> storage_;
};

template <class V>
double norm(const GuardedVector<V>& x) {
  double sum = 0;
  for (index_t i = 0; i < x.size(); ++i) sum += double(x[i]) * x[i];
  return std::sqrt(sum);
}

/// A copy of a view that starts at an odd element.
template <class View>
View shifted(const View& view) {
  using T = typename View::non_const_value_type;
  const std::size_t n = view.extent(0);
  Vector<T> buffer("shifted", n + 1);
  std::copy(view.data(), view.data() + n, buffer.data() + 1);
  return Kokkos::subview(buffer, std::make_pair(std::size_t{1}, n + 1));
}

}  // namespace cnc::testing
