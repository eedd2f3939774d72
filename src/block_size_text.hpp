#pragma once

#include <cnc/contract/types.hpp>

#include <charconv>
#include <string_view>

namespace cnc::detail {

/// The block size that a text says; 0 unless it is a whole number from 1 to max_block_size.
inline int read_block_size(std::string_view digits) {
  int size = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, size);
  return error == std::errc() && rest == end && size >= 1 && size <= max_block_size ? size : 0;
}

}  // namespace cnc::detail
