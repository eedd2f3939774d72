#pragma once

#include <cnc/contract/types.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

namespace cnc::detail {

// A binary cache is this header, then the arrays one after another without padding:
// CSR     row_offsets int32 [rows + 1], columns int32 [entries], values [entries]
// vector  values [rows]

/// The first byte is no text and the line ends reveal a transfer that changed them (as in PNG).
inline constexpr std::string_view cache_magic{"\211CNC\r\n\032\n", 8};
inline constexpr std::uint32_t cache_version = 1;
/// Reads differently on a machine of the other byte order.
inline constexpr std::uint32_t cache_byte_order = 0x01020304;

enum class CacheKind : std::uint32_t { csr = 1, vector = 2 };

struct CacheHeader {
  char magic[8] = {};
  std::uint32_t version = cache_version;
  std::uint32_t byte_order = cache_byte_order;
  CacheKind kind = CacheKind::csr;
  std::uint32_t value_bytes = 8;  ///< 4: float, 8: double
  offset_t rows = 0;
  offset_t cols = 0;
  offset_t entries = 0;
  std::uint64_t reserved = 0;
  std::uint64_t checksum = 0;  ///< XXH3 (64 bits) of the header up to here and of the arrays
};
static_assert(sizeof(CacheHeader) == 64);
inline constexpr std::size_t cache_hashed_header = offsetof(CacheHeader, checksum);

/// XXH3 of bytes that come in parts.
class CacheHash {
 public:
  CacheHash() { XXH3_64bits_reset(&state_); }
  void add(const void* data, std::size_t bytes) {
    if (bytes > 0) {
      XXH3_64bits_update(&state_, data, bytes);
    }
  }
  std::uint64_t digest() const { return XXH3_64bits_digest(&state_); }
  /// What another process of this program has hashed, by the bytes of its object.
  void go_on_from(const void* there) {
    const unsigned char* const secret = state_.extSecret;  // its address is this process's
    std::memcpy(&state_, there, sizeof state_);
    state_.extSecret = secret;
  }

 private:
  XXH3_state_t state_;
};
static_assert(sizeof(CacheHash) == sizeof(XXH3_state_t));

}  // namespace cnc::detail
