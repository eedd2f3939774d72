// Any bytes are a file: read it as a matrix and as a vector, Matrix Market, gzip or cache, and
// expect a valid result or an Error. Windows are a few bytes, so that every boundary is met, and
// the result must be the same as with one window.

#include <cnc/io.hpp>

#include "io/byte_source.hpp"
#include "io/entry_reader.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace {

using cnc::detail::ReadOptions;

ReadOptions bounded(std::size_t window, int threads) {
  ReadOptions options;
  options.window_bytes = window;
  options.chunk_bytes = 8;
  options.threads = threads;
  options.memory_limit = std::size_t{1} << 20;
  // A fuzzer does not find checksums; what comes after them is the interesting part.
  options.verify_checksum = false;
  return options;
}

void expect(bool condition) {
  if (!condition) {
    std::abort();
  }
}

template <class T>
std::optional<cnc::CsrMatrix<T>> read(std::string_view bytes, const ReadOptions& options) {
  try {
    const auto A =
        cnc::detail::read_matrix_from<T>(cnc::detail::open_memory(bytes), "fuzz", options);
    A.validate();
    return A;
  } catch (const cnc::Error&) {
    return std::nullopt;
  }
}

template <class View>
bool same(const View& a, const View& b) {
  const std::size_t bytes = a.extent(0) * sizeof(typename View::value_type);
  return a.extent(0) == b.extent(0) && (bytes == 0 || std::memcmp(a.data(), b.data(), bytes) == 0);
}

template <class T>
void read_twice(std::string_view bytes, std::size_t window) {
  const auto whole = read<T>(bytes, bounded(4096, 1));
  const auto parts = read<T>(bytes, bounded(window, 2));
  expect(whole.has_value() == parts.has_value());
  if (whole) {
    expect(same(whole->row_offsets, parts->row_offsets));
    expect(same(whole->columns, parts->columns));
    expect(same(whole->values, parts->values));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Kokkos::ScopeGuard kokkos;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t window = size > 0 ? 1 + data[size - 1] : 1;
  read_twice<double>(bytes, window);
  read_twice<float>(bytes, window);
  try {
    cnc::detail::read_vector_from<double>(cnc::detail::open_memory(bytes), "fuzz",
                                          bounded(window, 1));
  } catch (const cnc::Error&) {
  }
  return 0;
}
