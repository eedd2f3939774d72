#pragma once

#include "io/entry_parser.hpp"

#include <cmath>
#include <cstdint>
#include <string_view>

#include <fast_float/fast_float.h>

// Words of an entry line. Every text ends with '\n', which no word contains, so nothing here looks
// at an end pointer. Each function leaves `p` behind the word, or at its start when it has a fault.

namespace cnc::detail {

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
inline bool ends_word(char c) { return is_blank(c) || c == '\n'; }

inline const char* skip_blanks(const char* p) {
  while (is_blank(*p)) {
    ++p;
  }
  return p;
}

/// A 1-based index in [1, limit], given back 0-based.
inline EntryFault parse_index(const char*& p, index_t limit, EntryFault not_integer,
                              EntryFault out_of_range, index_t& index) {
  const char* q = p + (*p == '-' || *p == '+');
  if (!is_digit(*q)) {
    return not_integer;
  }
  constexpr std::uint64_t saturated = std::uint64_t{1}
                                      << 40;  // beyond any limit, far from wrapping
  std::uint64_t value = 0;
  for (; is_digit(*q); ++q) {
    value = value < saturated ? 10 * value + static_cast<std::uint64_t>(*q - '0') : saturated;
  }
  if (!ends_word(*q)) {
    return not_integer;
  }
  if (*p == '-' || value < 1 || value > static_cast<std::uint64_t>(limit)) {
    return out_of_range;
  }
  index = static_cast<index_t>(value - 1);
  p = q;
  return EntryFault::none;
}

/// "nan", "inf" and "infinity" with any sign and in any case.
inline bool is_not_finite_word(const char* p) {
  p += *p == '-' || *p == '+';
  const char first = static_cast<char>(*p | 0x20);
  const char second = static_cast<char>(first == 'n' || first == 'i' ? p[1] | 0x20 : 0);
  return (first == 'n' && second == 'a') || (first == 'i' && second == 'n');
}

template <class T>
EntryFault parse_real(const char*& p, const char* end, T& value) {
  const char* first = p + (*p == '+');
  const char* digits = first + (*first == '-' && first == p);
  if (!is_digit(*digits) && *digits != '.') {
    return is_not_finite_word(p) ? EntryFault::not_finite : EntryFault::not_a_number;
  }
  const auto [next, code] = fast_float::from_chars(first, end, value);
  if (code == std::errc::invalid_argument || !ends_word(*next)) {
    return EntryFault::not_a_number;
  }
  // Too small is zero, as rounding says; too large is a fault. Releases differ in the error code.
  if (!std::isfinite(value)) {
    return EntryFault::overflow;
  }
  p = next;
  return EntryFault::none;
}

template <class T>
EntryFault parse_integer(const char*& p, const char* end, T& value) {
  const char* q = p + (*p == '-' || *p == '+');
  if (!is_digit(*q)) {
    return is_not_finite_word(p) ? EntryFault::not_finite : EntryFault::not_an_integer;
  }
  while (is_digit(*q)) {
    ++q;
  }
  return ends_word(*q) ? parse_real(p, end, value) : EntryFault::not_an_integer;
}

template <class T, MatrixMarketHeader::Field field>
EntryFault parse_value(const char*& p, const char* end, T& value) {
  if constexpr (field == MatrixMarketHeader::Field::integer) {
    return parse_integer(p, end, value);
  } else {
    return parse_real(p, end, value);
  }
}

}  // namespace cnc::detail
