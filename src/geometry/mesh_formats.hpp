#pragma once

#include "geometry/mesh.hpp"
#include "io/byte_source.hpp"
#include "io/read_options.hpp"

#include <string>

// One reader per format. Each reads a source to its end, or throws IoError.

namespace cnc::geometry {

Mesh read_obj(detail::ByteSource& source, const std::string& name, const detail::ReadOptions&);
Mesh read_off(detail::ByteSource& source, const std::string& name, const detail::ReadOptions&);
Mesh read_ply(detail::ByteSource& source, const std::string& name, const detail::ReadOptions&);
Mesh read_ascii_stl(detail::ByteSource&, const std::string& name, const detail::ReadOptions&);
Mesh read_binary_stl(detail::ByteSource&, const std::string& name, const detail::ReadOptions&);

/// Whether a word opens an OFF file: OFF, COFF, NOFF, STCNOFF, 4OFF ...
bool is_off_keyword(std::string_view word);

/// Text held at a time, which is also the longest line where it is more than 1 MiB: the strips of a
/// whole surface may be one line.
inline std::size_t text_window(const detail::ReadOptions& options) {
  constexpr std::size_t usual = std::size_t{1} << 24;
  return options.window_bytes == 0 ? usual : options.window_bytes;
}

}  // namespace cnc::geometry
