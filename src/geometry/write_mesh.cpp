#include "geometry/write_mesh.hpp"

#include <cnc/error.hpp>
#include <cnc/io.hpp>

#include "geometry/words.hpp"
#include "io/text_sink.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <ostream>

namespace cnc::geometry {

namespace {

using Uv = std::span<const TextureCoordinate>;

enum class Format { obj, ply };

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

Format format_of(const std::string& path) {
  constexpr std::string_view packed = ".gz";
  std::string_view name = path;
  if (ends_with(name, packed)) name.remove_suffix(packed.size());
  const std::string plain = lower(name);
  require(ends_with(plain, ".obj") || ends_with(plain, ".ply"), [&] {
    return path + ": a surface is written to .obj or .ply (or either with .gz), not to this name";
  });
  return ends_with(plain, ".obj") ? Format::obj : Format::ply;
}

/// Bytes gathered to pieces that are worth a call.
class Gathered {
 public:
  explicit Gathered(detail::TextSink& sink) : sink_(sink) {}

  template <class Number>
  Gathered& number(Number value) {
    char digits[32];
    bytes_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    return *this;
  }

  Gathered& text(std::string_view text) {
    bytes_ += text;
    return *this;
  }

  /// Little-endian.
  template <class Number>
  Gathered& binary(Number value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    if (std::endian::native == std::endian::big) std::reverse(bytes, bytes + sizeof value);
    bytes_.append(bytes, sizeof value);
    return *this;
  }

  void end_item() {
    constexpr std::size_t worthwhile = std::size_t{1} << 16;
    if (bytes_.size() >= worthwhile) flush();
  }

  void flush() {
    sink_.put(bytes_);
    bytes_.clear();
  }

 private:
  detail::TextSink& sink_;
  std::string bytes_;
};

void require_fitting(const Mesh& mesh, Uv uv) {
  require(uv.empty() || uv.size() == mesh.points.size(), [&] {
    return "write_mesh: " + std::to_string(uv.size()) + " texture coordinates for " +
           std::to_string(mesh.points.size()) + " vertices";
  });
}

template <std::size_t n>
void put_line(Gathered& to, std::string_view keyword, const std::array<double, n>& values) {
  to.text(keyword);
  for (const double value : values) to.text(" ").number(value);
  to.text("\n").end_item();
}

void put_obj(detail::TextSink& sink, const Mesh& mesh, Uv uv) {
  Gathered to(sink);
  for (const Point& x : mesh.points) put_line(to, "v", x);
  for (const TextureCoordinate& st : uv) put_line(to, "vt", st);
  for (const Triangle& triangle : mesh.triangles) {
    to.text("f");
    for (const index_t v : triangle) {
      to.text(" ").number(offset_t{v} + 1);
      if (!uv.empty()) to.text("/").number(offset_t{v} + 1);
    }
    to.text("\n").end_item();
  }
  to.flush();
}

void put_ply(detail::TextSink& sink, const Mesh& mesh, Uv uv) {
  constexpr std::uint8_t corners = 3;
  Gathered to(sink);
  to.text("ply\nformat binary_little_endian 1.0\nelement vertex ").number(mesh.vertices());
  to.text("\nproperty double x\nproperty double y\nproperty double z\n");
  if (!uv.empty()) to.text("property double s\nproperty double t\n");
  to.text("element face ").number(mesh.faces());
  to.text("\nproperty list uchar int vertex_indices\nend_header\n");
  for (std::size_t v = 0; v < mesh.points.size(); ++v) {
    for (const double x : mesh.points[v]) to.binary(x);
    if (!uv.empty()) to.binary(uv[v][0]).binary(uv[v][1]);
    to.end_item();
  }
  for (const Triangle& triangle : mesh.triangles) {
    to.binary(corners);
    for (const index_t v : triangle) to.binary(std::int32_t{v});
    to.end_item();
  }
  to.flush();
}

}  // namespace

void require_mesh_name(const std::string& path) { format_of(path); }

void write_mesh(const std::string& path, const Mesh& mesh, Uv uv) {
  const Format format = format_of(path);
  require_fitting(mesh, uv);
  write_file_atomically(path, [&](std::ostream& out) {
    const auto sink = detail::text_sink(path, out);
    format == Format::obj ? put_obj(*sink, mesh, uv) : put_ply(*sink, mesh, uv);
    sink->finish();
  });
}

void write_obj(std::ostream& out, const Mesh& mesh, Uv uv) {
  require_fitting(mesh, uv);
  put_obj(*detail::text_sink("", out), mesh, uv);
}

void write_ply(std::ostream& out, const Mesh& mesh, Uv uv) {
  require_fitting(mesh, uv);
  put_ply(*detail::text_sink("", out), mesh, uv);
}

}  // namespace cnc::geometry
