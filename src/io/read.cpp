#include <cnc/io.hpp>

#include "io/cache_reader.hpp"
#include "io/entry_reader.hpp"
#include "io/matrix_market_header.hpp"

#include <new>

namespace cnc {

namespace detail {

namespace {

/// Runs `read`, and says which file memory ran out for.
template <class Read>
auto with_memory_errors(const std::string& name, const Read& read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
    throw_out_of_memory(name, 0, free_bytes(MemorySpace::host));
  }
}

}  // namespace

template <class T>
CsrMatrix<T> read_matrix_from(std::unique_ptr<ByteSource> source, const std::string& name,
                              const ReadOptions& options) {
  return with_memory_errors(name, [&] {
    const std::unique_ptr<ByteSource> bytes = unpack(std::move(source), name);
    return is_cache(*bytes) ? read_cached_matrix<T>(*bytes, name, options)
                            : read_matrix_market<T>(*bytes, name, options);
  });
}

template <class T>
Vector<T> read_vector_from(std::unique_ptr<ByteSource> source, const std::string& name,
                           const ReadOptions& options) {
  return with_memory_errors(name, [&] {
    const std::unique_ptr<ByteSource> bytes = unpack(std::move(source), name);
    return is_cache(*bytes) ? read_cached_vector<T>(*bytes, name, options)
                            : read_vector_market<T>(*bytes, name, options);
  });
}

template CsrMatrix<float> read_matrix_from(std::unique_ptr<ByteSource>, const std::string&,
                                           const ReadOptions&);
template CsrMatrix<double> read_matrix_from(std::unique_ptr<ByteSource>, const std::string&,
                                            const ReadOptions&);
template Vector<float> read_vector_from(std::unique_ptr<ByteSource>, const std::string&,
                                        const ReadOptions&);
template Vector<double> read_vector_from(std::unique_ptr<ByteSource>, const std::string&,
                                         const ReadOptions&);

}  // namespace detail

template <class T>
CsrMatrix<T> read_matrix(const std::string& path) {
  const detail::ReadOptions options;
  return detail::read_matrix_from<T>(detail::open_file(path, options.thread_count()), path,
                                     options);
}

template <class T>
CsrMatrix<T> parse_matrix_market(std::string_view text, const std::string& name) {
  return detail::with_memory_errors(name, [&] {
    const auto source = detail::open_memory(text);
    return detail::read_matrix_market<T>(*source, name, {});
  });
}

template <class T>
Vector<T> read_vector(const std::string& path) {
  const detail::ReadOptions options;
  return detail::read_vector_from<T>(detail::open_file(path, options.thread_count()), path,
                                     options);
}

MatrixMarketHeader read_matrix_market_header(const std::string& path) {
  constexpr std::size_t window = std::size_t{1} << 16;
  const auto source = detail::unpack(detail::open_file(path, 1), path);
  detail::TextReader text(*source, path, window);
  return detail::read_header(text);
}

template CsrMatrix<float> read_matrix(const std::string&);
template CsrMatrix<double> read_matrix(const std::string&);
template CsrMatrix<float> parse_matrix_market(std::string_view, const std::string&);
template CsrMatrix<double> parse_matrix_market(std::string_view, const std::string&);
template Vector<float> read_vector(const std::string&);
template Vector<double> read_vector(const std::string&);

}  // namespace cnc
