#pragma once

#include <cnc/contract/types.hpp>

#include "io/byte_source.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cnc::geometry {

enum class PlyType { int8, uint8, int16, uint16, int32, uint32, float32, float64 };

std::size_t size_of(PlyType type);
inline bool is_integer(PlyType type) { return type < PlyType::float32; }

struct PlyProperty {
  std::string name;
  PlyType type = PlyType::float32;
  std::optional<PlyType> count;  // of a list: the type of its length
};

struct PlyElement {
  std::string name;
  offset_t count = 0;
  std::vector<PlyProperty> properties;
};

struct PlyHeader {
  enum class Format { ascii, little_endian, big_endian };
  Format format = Format::ascii;
  std::vector<PlyElement> elements;
  std::size_t lines = 0;
};

/// Reads up to the end of the line end_header and not a byte further.
/// Errors   IoError.
PlyHeader read_ply_header(detail::ByteSource& source, const std::string& name);

}  // namespace cnc::geometry
