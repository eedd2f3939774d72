#include "geometry/read_mesh.hpp"

#include <cnc/vector.hpp>

#include "geometry/mesh_formats.hpp"
#include "geometry/words.hpp"
#include "io/byte_source.hpp"

#include <array>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>

namespace cnc::geometry {

namespace {

using Source = detail::ByteSource;
using Reader = Mesh (*)(Source&, const std::string&, const detail::ReadOptions&);

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

/// ".obj" of "a.obj.gz", in lower case.
std::string extension(const std::string& name) {
  std::filesystem::path path(name);
  if (lower(path.extension().string()) == ".gz") path.replace_extension();
  return lower(path.extension().string());
}

/// The first word of a text that is no comment, if it is within its first bytes.
std::string_view first_word(std::string_view start) {
  while (!start.empty()) {
    const std::size_t end = std::min(start.find('\n'), start.size());
    std::string_view line = start.substr(0, end);
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (!line.empty() && line[0] != '#') return line.substr(0, line.find_first_of(" \t\r"));
    start.remove_prefix(std::min(end + 1, start.size()));
  }
  return {};
}

bool has_stl_size(std::string_view start, offset_t size) {
  constexpr std::size_t head = 84;
  if (start.size() < head || size < 0) return false;
  offset_t triangles = 0;
  for (std::size_t byte = 4; byte > 0; --byte) {
    triangles = 256 * triangles + static_cast<unsigned char>(start[79 + byte]);
  }
  return size == static_cast<offset_t>(head) + 50 * triangles;
}

/// Binary files may begin with "solid" too, but hold zeros or no facet.
bool is_ascii_stl(std::string_view start) {
  const std::string text = lower(start);
  return text.find('\0') == std::string::npos &&
         (text.find("facet") != std::string::npos || text.find("endsolid") != std::string::npos);
}

bool is_obj_keyword(std::string_view word) {
  constexpr std::array<std::string_view, 13> words = {
      "v", "vn", "vt", "vp", "f", "l", "p", "o", "g", "s", "mtllib", "usemtl", "call"};
  return std::find(words.begin(), words.end(), word) != words.end();
}

Reader choose_reader(Source& source, const std::string& name) {
  constexpr std::size_t looked_at = 4096;
  std::string_view start = source.peek(looked_at);
  if (start.empty()) throw IoError(name, 0, "the file is empty");
  if (has_stl_size(start, source.size())) return read_binary_stl;
  if (start.substr(0, byte_order_mark.size()) == byte_order_mark) {
    std::array<char, byte_order_mark.size()> mark{};
    source.read(mark.data(), mark.size());
    start = source.peek(looked_at);
  }
  const std::string_view word = first_word(start);
  const std::string by_name = extension(name);
  if (word == "ply") return read_ply;
  if (is_off_keyword(word)) return read_off;
  if (lower(word) == "solid" && by_name != ".obj") {
    return is_ascii_stl(start) ? read_ascii_stl : read_binary_stl;
  }
  if (by_name == ".stl") return read_binary_stl;
  if (by_name == ".obj") return read_obj;
  if (by_name == ".off") return read_off;
  if (by_name == ".ply") return read_ply;
  if (is_obj_keyword(word)) return read_obj;
  throw IoError(name, 0,
                "not a surface: neither OBJ, OFF, PLY nor STL by its contents or its name");
}

Mesh read_from(std::unique_ptr<Source> source, const std::string& name,
               const detail::ReadOptions& options) {
  try {
    const std::unique_ptr<Source> bytes = detail::unpack(std::move(source), name);
    return choose_reader(*bytes, name)(*bytes, name, options);
  } catch (const std::bad_alloc&) {
    detail::throw_out_of_memory(name, 0, detail::free_bytes(MemorySpace::host));
  }
}

}  // namespace

Mesh read_mesh(const std::string& path) {
  const detail::ReadOptions options;
  return read_from(detail::open_file(path, options.thread_count()), path, options);
}

Mesh parse_mesh(std::string_view bytes, const std::string& name,
                const detail::ReadOptions& options) {
  return read_from(detail::open_memory(bytes), name, options);
}

}  // namespace cnc::geometry
