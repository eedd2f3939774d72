#include "io/cache_reader.hpp"

#include "io/check_finite.hpp"
#include "io/memory_limit.hpp"

#include <limits>

namespace cnc::detail {

namespace {

constexpr offset_t largest_index = std::numeric_limits<index_t>::max();

class CacheReader {
 public:
  CacheReader(ByteSource& source, const std::string& name, const ReadOptions& options)
      : source_(source), name_(name), options_(options) {}

  CacheHeader read_header(CacheKind kind) {
    if (source_.size() < 0) {
      fail("a binary cache must be a plain file: it cannot be compressed or piped");
    }
    CacheHeader header;
    if (source_.read(reinterpret_cast<char*>(&header), sizeof header) < sizeof header) {
      fail("the binary cache is truncated: its header is not whole");
    }
    check_header(header, kind);
    hash_.add(&header, cache_hashed_header);
    checksum_ = header.checksum;
    return header;
  }

  /// Before the arrays are read.
  void require_memory() const {
    check_memory(name_, 0, static_cast<double>(source_.size()), options_);
  }

  template <class T>
  Vector<T> read_array(offset_t n) {
    Vector<T> array = uninitialized<T>(name_, static_cast<std::size_t>(n));
    const std::size_t bytes = array.extent(0) * sizeof(T);
    if (source_.read(reinterpret_cast<char*>(array.data()), bytes) < bytes) {
      fail("the binary cache is truncated");
    }
    hash_.add(array.data(), bytes);
    return array;
  }

  template <class T>
  Vector<T> read_values(const CacheHeader& header, offset_t n) {
    if (header.value_bytes == sizeof(T)) {
      return read_array<T>(n);
    }
    using Stored = std::conditional_t<sizeof(T) == 4, double, float>;
    const Vector<Stored> stored = read_array<Stored>(n);
    Vector<T> values = uninitialized<T>(name_, stored.extent(0));
    for (std::size_t k = 0; k < stored.extent(0); ++k) {
      values.data()[k] = static_cast<T>(stored.data()[k]);
    }
    return values;
  }

  void verify_checksum() const {
    if (options_.verify_checksum && hash_.digest() != checksum_) {
      fail("the checksum of the binary cache does not match: the file is damaged");
    }
  }

  [[noreturn]] void fail(const std::string& reason) const { throw IoError(name_, 0, reason); }

 private:
  void check_header(const CacheHeader& header, CacheKind kind) const {
    if (header.byte_order != cache_byte_order) {
      fail("the binary cache is damaged or was written by a machine of the other byte order");
    }
    if (header.version != cache_version) {
      fail("the binary cache has version " + std::to_string(header.version) +
           ", this program reads version " + std::to_string(cache_version));
    }
    if (header.kind != CacheKind::csr && header.kind != CacheKind::vector) {
      fail("the binary cache holds neither a matrix nor a vector");
    }
    if (header.kind != kind) {
      fail(kind == CacheKind::csr ? "the binary cache holds a vector, not a matrix"
                                  : "the binary cache holds a matrix, not a vector");
    }
    if (header.value_bytes != 4 && header.value_bytes != 8) {
      fail("the binary cache has values of " + std::to_string(header.value_bytes) + " bytes");
    }
    for (const offset_t size : {header.rows, header.cols, header.entries}) {
      if (size < 0 || size > largest_index) {
        fail("the binary cache gives a size of " + std::to_string(size));
      }
    }
    check_size(header);
  }

  // Before anything is allocated: the sizes may be anything.
  void check_size(const CacheHeader& header) const {
    const offset_t value_bytes = header.value_bytes;
    const offset_t arrays = header.kind == CacheKind::csr
                                ? (header.rows + 1) * offset_t{sizeof(index_t)} +
                                      header.entries * (offset_t{sizeof(index_t)} + value_bytes)
                                : header.rows * value_bytes;
    const offset_t expected = offset_t{sizeof(CacheHeader)} + arrays;
    if (source_.size() != expected) {
      fail("the binary cache should have " + std::to_string(expected) + " bytes and has " +
           std::to_string(source_.size()) +
           (source_.size() < expected ? ": it is truncated" : ": something was appended"));
    }
  }

  ByteSource& source_;
  const std::string& name_;
  const ReadOptions& options_;
  CacheHash hash_;
  std::uint64_t checksum_ = 0;
};

}  // namespace

bool is_cache(ByteSource& source) { return source.peek(cache_magic.size()) == cache_magic; }

CacheHeader read_cache_header(ByteSource& source, const std::string& name) {
  const ReadOptions options;
  return CacheReader(source, name, options).read_header(CacheKind::csr);
}

template <class T>
CsrMatrix<T> read_cached_matrix(ByteSource& source, const std::string& name,
                                const ReadOptions& options) {
  CacheReader reader(source, name, options);
  const CacheHeader header = reader.read_header(CacheKind::csr);
  reader.require_memory();
  const auto row_offsets = reader.read_array<index_t>(header.rows + 1);
  const auto columns = reader.read_array<index_t>(header.entries);
  const auto values = reader.read_values<T>(header, header.entries);
  reader.verify_checksum();
  CsrMatrix<T> A(static_cast<index_t>(header.rows), static_cast<index_t>(header.cols), 1,
                 row_offsets, columns, values);
  try {
    A.validate();
  } catch (const InvalidArgument& error) {
    reader.fail(error.what());
  }
  check_finite(name, values);
  return A;
}

template <class T>
Vector<T> read_cached_vector(ByteSource& source, const std::string& name,
                             const ReadOptions& options) {
  CacheReader reader(source, name, options);
  const CacheHeader header = reader.read_header(CacheKind::vector);
  reader.require_memory();
  if (header.cols != 1 || header.entries != header.rows) {
    reader.fail("the binary cache gives sizes that no vector has");
  }
  auto values = reader.read_values<T>(header, header.rows);
  reader.verify_checksum();
  check_finite(name, values);
  return values;
}

template CsrMatrix<float> read_cached_matrix(ByteSource&, const std::string&, const ReadOptions&);
template CsrMatrix<double> read_cached_matrix(ByteSource&, const std::string&, const ReadOptions&);
template Vector<float> read_cached_vector(ByteSource&, const std::string&, const ReadOptions&);
template Vector<double> read_cached_vector(ByteSource&, const std::string&, const ReadOptions&);

}  // namespace cnc::detail
