#pragma once

#include <cnc/io.hpp>

#include "io/byte_source.hpp"
#include "io/cache_layout.hpp"
#include "io/read_options.hpp"

#include <string>

namespace cnc::detail {

/// Whether the source is a binary cache, by its first bytes.
bool is_cache(ByteSource& source);

/// The header of one that holds a matrix, which fits the size of the source.
/// Errors   IoError.
CacheHeader read_cache_header(ByteSource& source, const std::string& name);

/// CSR from a binary cache, checked as if it came from a stranger. Values of the other precision
/// are converted.
/// Errors   IoError (truncated, checksum, version, byte order, kind, sizes, contents), OutOfMemory.
template <class T>
CsrMatrix<T> read_cached_matrix(ByteSource& source, const std::string& name,
                                const ReadOptions& options);
template <class T>
Vector<T> read_cached_vector(ByteSource& source, const std::string& name,
                             const ReadOptions& options);

}  // namespace cnc::detail
