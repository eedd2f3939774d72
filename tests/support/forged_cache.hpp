#pragma once

#include "io/cache_layout.hpp"

#include <cstddef>
#include <cstring>
#include <string>

namespace cnc::testing {

/// The bytes of a binary cache with `value` at position `at` and the checksum made right again.
template <class Value>
std::string forged(std::string bytes, std::size_t at, Value value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
  detail::CacheHash hash;
  hash.add(bytes.data(), detail::cache_hashed_header);
  hash.add(bytes.data() + sizeof(detail::CacheHeader), bytes.size() - sizeof(detail::CacheHeader));
  const std::uint64_t sum = hash.digest();
  std::memcpy(bytes.data() + offsetof(detail::CacheHeader, checksum), &sum, sizeof sum);
  return bytes;
}

}  // namespace cnc::testing
