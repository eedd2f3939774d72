#pragma once

#include "convert/row_dictionary.hpp"
#include "copied_there.hpp"
#include "huge_pages.hpp"
#include "mixed.hpp"
#include "on_each.hpp"

#include <cnc/copy.hpp>
#include <cnc/value_table.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

// The different values of a matrix, if they are few: collected by their bits in a small table, then sorted, so that codes do not
// depend on which thread came first.

namespace cnc::detail {

/// Places of the table in which values are collected: a power of two.
inline constexpr int value_places = 1024;
/// So many values are looked at before all.
inline constexpr offset_t first_values = 4096;

/// The table, by bits of values.
struct ValuePlaces {
  static constexpr std::uint64_t free = ~std::uint64_t(0);
  std::uint64_t*
      bits;  ///< [value_places + 1] the last place is for the value that has the bits of a free one
  int* is_full;  ///< 1: a value found no place

  /// The place of a value, which takes a free one; -1: there is none.
  KOKKOS_INLINE_FUNCTION int place_of(std::uint64_t own) const {
    if (own == free) {
      store_shared(bits[value_places], std::uint64_t(0));
      return value_places;
    }
    const auto first = static_cast<int>(mixed(own) >> 40);
    for (int probe = 0; probe < value_places; ++probe) {
      const int place = (first + probe) & (value_places - 1);
      std::uint64_t there = load_shared(bits[place]);
      if (there == free) there = exchange_if_equal(bits[place], there, own);
      if (there == free || there == own) return place;
    }
    store_shared(*is_full, 1);
    return -1;
  }
};

template <class T>
struct CollectValue {
  const T* values;
  ValuePlaces table;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t k) const {
    if (load_shared(*table.is_full) == 0) table.place_of(bits_of(values[k]));
  }
};
/// codes[k] := the code of a value that has a place
template <class T>
struct EncodeValue {
  const T* values;
  ValuePlaces table;
  const std::uint8_t* code_of_place;
  std::uint8_t* codes;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t k) const {
    codes[k] = code_of_place[table.place_of(bits_of(values[k]))];
  }
};

namespace set_up {

/// The table of these values, in the arrays of `old` where that is one of as many; empty where they are too many.
template <class Exec, class T, class Space>
ValueTable<T, Space> make_value_table(const Vector<T, Space>& values,
                                      const ValueTable<T, Space>& old = {}) {
  const Exec exec = instance<Exec>();
  const auto n = static_cast<offset_t>(values.extent(0));
  if (n == 0) return {};
  const auto bits = uninitialized<std::uint64_t, Space>("cnc::value_table", value_places + 1);
  on_each(exec, value_places + 1, SetEach<std::uint64_t>{bits.data(), ValuePlaces::free});
  const auto is_full = zeroed<int, Space>("cnc::value_table", 1);
  const ValuePlaces table{bits.data(), is_full.data()};

  std::vector<std::pair<std::uint64_t, int>> found;  // and where they are
  for (const offset_t part : {std::min(n, first_values), n}) {
    on_each(exec, part, CollectValue<T>{values.data(), table});
    exec.fence();
    if (fetch(is_full, 0) != 0) return {};
    const auto places = copy_to<HostSpace>(bits);
    found.clear();
    for (int place = 0; place <= value_places; ++place) {
      const std::uint64_t there = places(std::size_t(place));
      if (there != ValuePlaces::free)
        found.emplace_back(place < value_places ? there : ValuePlaces::free, place);
    }
    if (found.size() > std::size_t(most_table_values)) return {};
  }
  std::sort(found.begin(), found.end());

  std::vector<T> different(std::size_t(most_table_values), T(0));
  std::vector<std::uint8_t> code_of_place(value_places + 1);
  for (std::size_t code = 0; code < found.size(); ++code) {
    std::memcpy(&different[code], &found[code].first, sizeof(T));
    code_of_place[std::size_t(found[code].second)] = static_cast<std::uint8_t>(code);
  }
  ValueTable<T, Space> made = old;
  if (made.codes.extent(0) != values.extent(0)) {
    made.codes = in_large_pages<std::uint8_t, Space>("cnc::value_table", values.extent(0));
    made.values = uninitialized<T, Space>("cnc::value_table", different.size());
  }
  made.kinds = static_cast<int>(found.size());
  copy_there(made.values, different);
  const auto codes_there = copied_there<Space>("cnc::value_table", code_of_place);
  on_each(exec, n, EncodeValue<T>{values.data(), table, codes_there.data(), made.codes.data()});
  exec.fence();
  return made;
}

/// The table of a matrix whose values are others than when it was made, in the same arrays, as copies of the matrix share them like its
/// values; empty too where there was none, and where there is no memory for what is no more than a help.
template <class Exec, class T, class Space>
ValueTable<T, Space> renewed_value_table(const Vector<T, Space>& values,
                                         const ValueTable<T, Space>& old) {
  if (old.empty()) return {};
  try {
    return make_value_table<Exec>(values, old);
  } catch (const OutOfMemory&) {
    return {};
  }
}

}  // namespace set_up
}  // namespace cnc::detail
