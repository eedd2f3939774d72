#pragma once

#include "text.hpp"

#include <cnc/io.hpp>

#include <string>

namespace cnc::cli {

/// A vector of so many entries; what: the vector in messages, unit: what the matrix has as many of.
/// Errors   IoError (not such a file, another number of entries).
template <class V>
Vector<V> vector_from_file(const std::string& path, const char* what, index_t entries,
                           const char* unit) {
  Vector<V> v = read_vector<V>(path);
  if (v.extent(0) != static_cast<std::size_t>(entries))
    throw IoError(path, 0,
                  std::string(what) + " has " + count_text(static_cast<long long>(v.extent(0))) +
                      " entries, the matrix has " + count_text(entries) + " " + unit);
  return v;
}

}  // namespace cnc::cli
