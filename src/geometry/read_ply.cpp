#include "geometry/mesh_builder.hpp"
#include "geometry/mesh_formats.hpp"
#include "geometry/ply_values.hpp"

#include <limits>

namespace cnc::geometry {

namespace {

const PlyElement* find(const PlyHeader& header, std::string_view name) {
  for (const PlyElement& element : header.elements) {
    if (element.name == name) return &element;
  }
  return nullptr;
}

const PlyProperty* find_indices(const PlyElement& element) {
  for (const PlyProperty& property : element.properties) {
    if (property.name == "vertex_indices" || property.name == "vertex_index") return &property;
  }
  return nullptr;
}

/// Triangles of a strip: each corner makes one with the two before it, every other one turned.
class Strip {
 public:
  void restart() { corners_ = 0; }

  /// Corners that are there twice join parts of a strip and make no triangle.
  void add(index_t v, MeshBuilder& mesh, std::size_t line) {
    if (corners_ >= 2 && v != last_ && v != before_ && last_ != before_) {
      const bool turned = corners_ % 2 == 1;
      mesh.add_triangle(turned ? Triangle{last_, before_, v} : Triangle{before_, last_, v}, line);
    }
    before_ = last_;
    last_ = v;
    ++corners_;
  }

 private:
  offset_t corners_ = 0;
  index_t before_ = 0;
  index_t last_ = 0;
};

template <class Values>
class PlyBody {
 public:
  PlyBody(const PlyHeader& header, Values& values, MeshBuilder& mesh)
      : header_(header), values_(values), mesh_(mesh), vertices_(find(header, "vertex")->count) {}

  void read() {
    for (const PlyElement& element : header_.elements) {
      if (element.properties.empty()) continue;
      if (element.name == "vertex") {
        read_vertices(element);
      } else if (element.name == "face") {
        read_lists(element, [&](const PlyProperty& list) { read_face(list); });
      } else if (element.name == "tristrips") {
        read_lists(element, [&](const PlyProperty& list) { read_strip(list); });
      } else {
        read_lists(element, [&](const PlyProperty& list) { skip(list); });
      }
    }
    values_.finish();
  }

 private:
  template <class ReadItem>
  void for_each(const PlyElement& element, const ReadItem& read_item) {
    for (offset_t k = 1; k <= element.count; ++k) {
      values_.begin({&element, k});
      read_item();
      values_.end();
    }
  }

  void read_vertices(const PlyElement& element) {
    std::vector<int> axes;  // of the properties; -1 for the others
    for (const PlyProperty& property : element.properties) {
      const bool is_axis = property.name.size() == 1 && property.name[0] >= 'x' &&
                           property.name[0] <= 'z' && !property.count;
      axes.push_back(is_axis ? property.name[0] - 'x' : -1);
    }
    for_each(element, [&] {
      Point x{};
      for (std::size_t k = 0; k < axes.size(); ++k) {
        const PlyProperty& property = element.properties[k];
        if (axes[k] < 0) {
          skip(property);
        } else {
          x[static_cast<std::size_t>(axes[k])] = values_.coordinate(property, axes[k]);
        }
      }
      mesh_.add_vertex(x, values_.line());
    });
  }

  template <class ReadList>
  void read_lists(const PlyElement& element, const ReadList& read_list) {
    const PlyProperty* const list = find_indices(element);
    for_each(element, [&] {
      for (const PlyProperty& property : element.properties) {
        &property == list ? read_list(property) : skip(property);
      }
    });
  }

  void read_face(const PlyProperty& list) {
    mesh_.begin_face();
    for (offset_t left = length(list); left > 0; --left) {
      mesh_.add_corner(vertex(values_.integer(list.type, list)), values_.line());
    }
    mesh_.end_face(values_.line());
  }

  void read_strip(const PlyProperty& list) {
    mesh_.begin_face();
    Strip strip;
    for (offset_t left = length(list); left > 0; --left) {
      const offset_t named = values_.integer(list.type, list);
      if (named == -1) {
        strip.restart();
      } else {
        strip.add(vertex(named), mesh_, values_.line());
      }
    }
  }

  void skip(const PlyProperty& property) {
    values_.skip(property.type, property.count ? length(property) : 1, property);
  }

  offset_t length(const PlyProperty& list) {
    const offset_t length = values_.integer(*list.count, list);
    if (length < 0) {
      values_.fail("a list " + detail::in_quotes(list.name) + " of length " +
                   std::to_string(length));
    }
    return length;
  }

  index_t vertex(offset_t named) const {
    return mesh_.check_index(named, 0, vertices_, values_.line());
  }

  const PlyHeader& header_;
  Values& values_;
  MeshBuilder& mesh_;
  offset_t vertices_;
};

void check_count(const MeshBuilder& mesh, const PlyElement& element, offset_t most) {
  if (element.count > most) {
    mesh.fail(0,
              "more than " + std::to_string(most) + " elements " + detail::in_quotes(element.name));
  }
}

void check_vertices(const PlyHeader& header, const MeshBuilder& mesh) {
  const PlyElement* const vertex = find(header, "vertex");
  if (vertex == nullptr) mesh.fail(0, "no element 'vertex' in the header");
  check_count(mesh, *vertex, std::numeric_limits<index_t>::max());
  for (const char* axis : {"x", "y", "z"}) {
    bool found = false;
    for (const PlyProperty& property : vertex->properties) {
      found = found || (property.name == axis && !property.count);
    }
    if (!found) mesh.fail(0, std::string("element 'vertex' has no property '") + axis + "'");
  }
}

void check_indices(const PlyHeader& header, const MeshBuilder& mesh, const char* name) {
  const PlyElement* const element = find(header, name);
  if (element == nullptr || element->count == 0) return;
  check_count(mesh, *element, most_triangles);
  const PlyProperty* const list = find_indices(*element);
  if (list == nullptr || !list->count || !is_integer(list->type)) {
    mesh.fail(0, "element " + detail::in_quotes(name) +
                     " has no list 'vertex_indices' or 'vertex_index' of integers");
  }
}

}  // namespace

Mesh read_ply(detail::ByteSource& source, const std::string& name,
              const detail::ReadOptions& options) {
  const PlyHeader header = read_ply_header(source, name);
  MeshBuilder mesh(name, options);
  check_vertices(header, mesh);
  check_indices(header, mesh, "face");
  check_indices(header, mesh, "tristrips");
  if (header.format == PlyHeader::Format::ascii) {
    PlyText values(source, mesh, name, header.lines, options);
    PlyBody<PlyText>(header, values, mesh).read();
  } else {
    const bool little = header.format == PlyHeader::Format::little_endian;
    PlyBytes values(source, mesh, little ? std::endian::little : std::endian::big);
    PlyBody<PlyBytes>(header, values, mesh).read();
  }
  return mesh.finish();
}

}  // namespace cnc::geometry
