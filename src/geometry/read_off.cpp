#include "geometry/mesh_builder.hpp"
#include "geometry/mesh_formats.hpp"
#include "io/text_reader.hpp"

#include <limits>

namespace cnc::geometry {

namespace {

constexpr char comment = '#';

/// What stands behind the coordinates of a vertex and the corners of a face (normals, colours) is
/// passed over.
class OffReader {
 public:
  OffReader(detail::ByteSource& source, const std::string& name, const detail::ReadOptions& options)
      : text_(source, name, text_window(options)), mesh_(name, options) {}

  Mesh read() {
    read_header();
    while (mesh_.vertices() < vertices_) {
      Words words = next_words("vertex", mesh_.vertices() + 1, vertices_);
      mesh_.read_vertex(words, text_.line());
    }
    while (mesh_.faces() < faces_) {
      Words words = next_words("face", mesh_.faces() + 1, faces_);
      read_face(words);
    }
    if (next_line()) {
      fail("text behind the last of " + std::to_string(vertices_) + " vertices and " +
           std::to_string(faces_) + " faces");
    }
    return mesh_.finish();
  }

 private:
  /// The next line that says something, in line_.
  bool next_line() {
    while (text_.next_line(line_)) {
      if (!Words(line_, comment).done()) return true;
    }
    return false;
  }

  Words next_words(const char* what, offset_t number, offset_t all) {
    if (!next_line()) {
      // Appended: g++ 12 takes a text put in front of a new string for an overlapping copy.
      std::string reason = std::string("the file ends at ") + what;
      reason.append(" ").append(std::to_string(number));
      fail(reason.append(" of ").append(std::to_string(all)));
    }
    return {line_, comment};
  }

  /// The keyword, which may be missing, and the counts behind it or on the next line.
  void read_header() {
    if (!next_line()) fail("the file ends before the counts of vertices and faces");
    Words words(line_, comment);
    Words after = words;
    if (const std::string_view word = after.take(); is_off_keyword(word)) {
      check_keyword(word);
      words = after;
      if (lower(Words(after).take()) == "binary") fail("binary OFF files are not supported");
      if (words.done()) {
        if (!next_line()) fail("the file ends before the counts of vertices and faces");
        words = Words(line_, comment);
      }
    }
    vertices_ = read_count(words, "vertices", std::numeric_limits<index_t>::max());
    faces_ = read_count(words, "faces", most_triangles);
  }

  void check_keyword(std::string_view word) const {
    if (word.find_first_of("4n") != std::string_view::npos) {
      fail(detail::in_quotes(word) + " is not a surface in space: only OFF with any of ST, C, N " +
           "before it is supported");
    }
  }

  offset_t read_count(Words& words, const char* what, offset_t most) const {
    const Words before = words;
    offset_t count = 0;
    if (!words.take_integer(count)) {
      fail(std::string("expected the number of ") + what + ", found " + before.quoted());
    }
    if (count < 0 || count > most) {
      fail(std::string("the number of ") + what + ", " + before.quoted() + ", is out of range 0.." +
           std::to_string(most));
    }
    return count;
  }

  void read_face(Words& words) {
    mesh_.begin_face();
    const offset_t corners = take_integer(words, "its number of corners");
    if (corners < 0) fail(face() + " has " + std::to_string(corners) + " corners");
    for (offset_t k = 0; k < corners; ++k) {
      const offset_t named = take_integer(words, "a vertex");
      mesh_.add_corner(mesh_.check_index(named, 0, vertices_, text_.line()), text_.line());
    }
    mesh_.end_face(text_.line());
  }

  offset_t take_integer(Words& words, const char* what) const {
    offset_t value = 0;
    if (!words.take_integer(value)) {
      fail(face() + ": expected " + what + ", found " + words.quoted());
    }
    return value;
  }

  std::string face() const { return "face " + std::to_string(mesh_.faces()); }
  [[noreturn]] void fail(const std::string& reason) const { mesh_.fail(text_.line(), reason); }

  detail::TextReader text_;
  MeshBuilder mesh_;
  std::string_view line_;
  offset_t vertices_ = 0;
  offset_t faces_ = 0;
};

}  // namespace

bool is_off_keyword(std::string_view word) {
  for (const std::string_view part : {"ST", "C", "N", "4", "n"}) {
    if (word.substr(0, part.size()) == part) word.remove_prefix(part.size());
  }
  return word == "OFF";
}

Mesh read_off(detail::ByteSource& source, const std::string& name,
              const detail::ReadOptions& options) {
  return OffReader(source, name, options).read();
}

}  // namespace cnc::geometry
