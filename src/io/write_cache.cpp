#include <cnc/io.hpp>

#include "io/cache_layout.hpp"

#include <ostream>
#include <vector>

namespace cnc {

namespace {

struct Bytes {
  const void* data;
  std::size_t size;
};

template <class View>
Bytes bytes_of(const View& view) {
  return {view.data(), view.extent(0) * sizeof(typename View::value_type)};
}

void write(const std::string& path, detail::CacheHeader header, const std::vector<Bytes>& arrays) {
  detail::cache_magic.copy(header.magic, sizeof header.magic);
  detail::CacheHash hash;
  hash.add(&header, detail::cache_hashed_header);
  for (const Bytes& array : arrays) {
    hash.add(array.data, array.size);
  }
  header.checksum = hash.digest();
  write_file_atomically(path, [&](std::ostream& out) {
    out.write(reinterpret_cast<const char*>(&header), sizeof header);
    for (const Bytes& array : arrays) {
      out.write(static_cast<const char*>(array.data), static_cast<std::streamsize>(array.size));
    }
  });
}

}  // namespace

template <class T>
void write_cache(const std::string& path, const CsrMatrix<T>& A) {
  require(A.block_size == 1, "write_cache: the matrix must be CSR (block size 1)");
  // A matrix without rows may come without its one offset.
  static const index_t zero = 0;
  const bool has_offsets = A.row_offsets.extent(0) > 0;
  detail::CacheHeader header;
  header.kind = detail::CacheKind::csr;
  header.value_bytes = sizeof(T);
  header.rows = A.rows;
  header.cols = A.cols;
  header.entries = A.stored();
  write(path, header,
        {has_offsets ? bytes_of(A.row_offsets) : Bytes{&zero, sizeof zero}, bytes_of(A.columns),
         bytes_of(A.values)});
}

template <class T>
void write_cache(const std::string& path, const Vector<const T>& x) {
  detail::CacheHeader header;
  header.kind = detail::CacheKind::vector;
  header.value_bytes = sizeof(T);
  header.rows = detail::checked_extent(x.extent(0));
  header.cols = 1;
  header.entries = header.rows;
  write(path, header, {bytes_of(x)});
}

template void write_cache(const std::string&, const CsrMatrix<float>&);
template void write_cache(const std::string&, const CsrMatrix<double>&);
template void write_cache(const std::string&, const Vector<const float>&);
template void write_cache(const std::string&, const Vector<const double>&);

}  // namespace cnc
