#include "geometry/byte_cursor.hpp"
#include "geometry/mesh_builder.hpp"
#include "geometry/mesh_formats.hpp"
#include "io/memory_limit.hpp"
#include "io/text_reader.hpp"

#include <limits>
#include <numeric>

namespace cnc::geometry {

namespace {

/// Makes one vertex of those whose coordinates are equal. They keep the order of their first uses.
void weld(Mesh& mesh, const detail::ReadOptions& options) {
  const double corners = static_cast<double>(mesh.points.size());
  detail::check_memory(mesh.name, corners * sizeof(Point), corners * 2 * sizeof(index_t), options);
  std::vector<index_t> order(mesh.points.size());
  std::iota(order.begin(), order.end(), 0);
  const auto point = [&](index_t v) -> const Point& {
    return mesh.points[static_cast<std::size_t>(v)];
  };
  std::sort(order.begin(), order.end(), [&](index_t a, index_t b) {
    return point(a) != point(b) ? point(a) < point(b) : a < b;
  });
  std::vector<index_t> first(order.size());  // the first vertex at the same place
  for (std::size_t k = 0; k < order.size(); ++k) {
    const bool same = k > 0 && point(order[k]) == point(order[k - 1]);
    first[static_cast<std::size_t>(order[k])] =
        same ? first[static_cast<std::size_t>(order[k - 1])] : order[k];
  }
  index_t kept = 0;
  for (std::size_t v = 0; v < first.size(); ++v) {
    if (static_cast<std::size_t>(first[v]) == v) {
      mesh.points[static_cast<std::size_t>(kept)] = mesh.points[v];
      first[v] = kept++;
    } else {
      first[v] = first[static_cast<std::size_t>(first[v])];
    }
  }
  mesh.points.resize(static_cast<std::size_t>(kept));
  mesh.points.shrink_to_fit();
  for (Triangle& triangle : mesh.triangles) {
    for (index_t& v : triangle) v = first[static_cast<std::size_t>(v)];
  }
}

/// The three vertices that were added last are a triangle.
void add_triangle_of_last(MeshBuilder& mesh, std::size_t line) {
  const auto v = static_cast<index_t>(mesh.vertices());
  mesh.add_triangle({v - 3, v - 2, v - 1}, line);
}

/// solid, then facets of: facet, outer loop, 3 vertices, endloop, endfacet; endsolid. Again for
/// another solid.
class AsciiStlReader {
 public:
  AsciiStlReader(detail::ByteSource& source, const std::string& name,
                 const detail::ReadOptions& options)
      : text_(source, name, text_window(options)), mesh_(name, options) {}

  Mesh read() {
    while (next_line()) {
      expect("solid");
      bool facets = true;
      while (facets) {
        next_statement();
        facets = lower(keyword_) == "facet";
        if (facets) read_facet();
      }
      expect("endsolid");
    }
    return mesh_.finish();
  }

 private:
  bool next_line() {
    std::string_view line;
    while (text_.next_line(line)) {
      words_ = Words(line, Words::no_comment);
      if (!words_.done()) {
        keyword_ = words_.take();
        return true;
      }
    }
    return false;
  }

  void next_statement() {
    if (!next_line()) mesh_.fail(text_.line(), "the file ends before endsolid");
  }

  void expect(const char* keyword) const {
    if (lower(keyword_) != keyword) {
      mesh_.fail(text_.line(),
                 std::string("expected ") + keyword + ", found " + detail::in_quotes(keyword_));
    }
  }

  void read_facet() {
    next_statement();
    expect("outer");
    for (int corner = 0; corner < 3; ++corner) {
      next_statement();
      expect("vertex");
      mesh_.read_vertex(words_, text_.line());
    }
    next_statement();
    expect("endloop");
    next_statement();
    expect("endfacet");
    add_triangle_of_last(mesh_, text_.line());
  }

  detail::TextReader text_;
  MeshBuilder mesh_;
  Words words_;
  std::string_view keyword_;
};

void read_binary_triangle(const char* p, MeshBuilder& mesh) {
  constexpr std::size_t normal = 12;
  p += normal;
  for (int corner = 0; corner < 3; ++corner) {
    Point x{};
    for (int axis = 0; axis < 3; ++axis, p += sizeof(float)) {
      x[static_cast<std::size_t>(axis)] =
          mesh.check_coordinate(load<float>(p, std::endian::little), axis);
    }
    mesh.add_vertex(x, 0);
  }
  add_triangle_of_last(mesh, 0);
}

void read_binary(detail::ByteSource& source, MeshBuilder& mesh) {
  constexpr offset_t title = 80;
  constexpr std::size_t record = 50;
  ByteCursor bytes(source);
  const char* const count = bytes.skip(title) ? bytes.take(sizeof(std::uint32_t)) : nullptr;
  if (count == nullptr) {
    mesh.fail(0,
              "not an STL file: no text that begins with solid, and less than the 84 bytes of a "
              "binary header");
  }
  const offset_t triangles = load<std::uint32_t>(count, std::endian::little);
  for (offset_t k = 1; k <= triangles; ++k) {
    const char* const triangle = bytes.take(record);
    if (triangle == nullptr) {
      mesh.fail(
          0, "the file ends at triangle " + std::to_string(k) + " of " + std::to_string(triangles));
    }
    read_binary_triangle(triangle, mesh);
  }
  if (bytes.take(1) != nullptr) {
    mesh.fail(0, "bytes behind the last of " + std::to_string(triangles) + " triangles");
  }
}

}  // namespace

Mesh read_ascii_stl(detail::ByteSource& source, const std::string& name,
                    const detail::ReadOptions& options) {
  Mesh mesh = AsciiStlReader(source, name, options).read();
  weld(mesh, options);
  return mesh;
}

Mesh read_binary_stl(detail::ByteSource& source, const std::string& name,
                     const detail::ReadOptions& options) {
  MeshBuilder builder(name, options);
  read_binary(source, builder);
  Mesh mesh = builder.finish();
  weld(mesh, options);
  return mesh;
}

}  // namespace cnc::geometry
