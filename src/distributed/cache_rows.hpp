#pragma once

#include "distributed/channel.hpp"
#include "io/cache_layout.hpp"

#include <optional>
#include <string>

namespace cnc::detail {

/// Rows of a rank that follow each other, with the columns of the whole matrix.
template <class T>
struct FirstAndRows {
  offset_t first = 0;
  CsrMatrix<T> rows;
};

/// Own rows of a square matrix in a binary cache, in segments as of scattered: each rank reads its own. Collective. Nothing, on all
/// ranks, where one finds a fault: whoever reads the whole file can say what it is.
/// Errors   IoError (a rank cannot read the file), OutOfMemory.
template <class T>
std::optional<FirstAndRows<T>> rows_of_cache(Channel& channel, const std::string& path,
                                             const CacheHeader& header, int block_size);

}  // namespace cnc::detail
