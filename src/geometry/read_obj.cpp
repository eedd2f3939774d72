#include "geometry/mesh_builder.hpp"
#include "geometry/mesh_formats.hpp"
#include "io/text_reader.hpp"

namespace cnc::geometry {

namespace {

/// Statements v and f, everything else is passed over.
class ObjReader {
 public:
  ObjReader(detail::ByteSource& source, const std::string& name, const detail::ReadOptions& options)
      : text_(source, name, text_window(options)), mesh_(name, options) {}

  Mesh read() {
    std::string_view line;
    while (text_.next_line(line)) {
      first_line_ = text_.line();
      const char* const p = detail::skip_blanks(line.data());
      const char keyword = *p;
      if ((keyword == 'v' || keyword == 'f') && detail::is_blank(p[1])) {
        Words words(whole_statement(line), '#');
        words.take();
        keyword == 'v' ? read_vertex(words) : read_face(words);
      }
    }
    check_later_vertices();
    return mesh_.finish();
  }

 private:
  /// A face may name vertices that come after it.
  struct Later {
    offset_t vertex;
    offset_t face;
    std::size_t line;
  };

  /// A statement goes on behind a '\' at the end of its line. Only statements that are read are put
  /// together: comments and names of files may well end in one.
  std::string_view whole_statement(std::string_view line) {
    constexpr std::size_t longest = std::size_t{1} << 24;
    if (!takes_next(line)) return line;
    statement_.clear();
    bool more = true;
    while (more) {
      more = takes_next(line);
      statement_ += line;
      if (more) statement_.back() = ' ';
      if (statement_.size() > longest) fail("a statement of more than 16777216 bytes");
      if (more && !text_.next_line(line)) fail("the file ends behind a '\\'");
    }
    statement_ += '\n';
    return std::string_view(statement_).substr(0, statement_.size() - 1);
  }

  static bool takes_next(std::string_view& line) {
    std::string_view rest = line;
    while (!rest.empty() && detail::is_blank(rest.back())) rest.remove_suffix(1);
    if (rest.empty() || rest.back() != '\\') return false;
    line = rest;
    return true;
  }

  /// Behind the coordinates may stand a weight and a colour.
  void read_vertex(Words& words) {
    mesh_.read_vertex(words, first_line_);
    while (!words.done()) {
      double ignored = 0;
      const detail::EntryFault fault = words.take_real(ignored);
      if (fault == detail::EntryFault::not_a_number) {
        fail("vertex " + std::to_string(mesh_.vertices()) + ": expected a number, found " +
             words.quoted());
      }
      if (fault != detail::EntryFault::none) words.take();
    }
  }

  void read_face(Words& words) {
    mesh_.begin_face();
    while (!words.done()) mesh_.add_corner(read_corner(words.take()), first_line_);
    mesh_.end_face(first_line_);
  }

  /// v, v/vt, v//vn or v/vt/vn; what is behind a slash may be missing.
  index_t read_corner(std::string_view word) {
    const char* p = word.data();
    offset_t named = 0;
    bool good = Words::parse_integer(p, named);
    for (int slash = 0; good && slash < 2 && *p == '/'; ++slash) {
      ++p;
      offset_t ignored = 0;
      const bool left_out = *p == '/' || detail::ends_word(*p);
      good = left_out || Words::parse_integer(p, ignored);
    }
    if (!good || p != word.data() + word.size()) {
      fail("face " + std::to_string(mesh_.faces()) +
           ": expected a corner as in 1, 1/2, 1//3 or "
           "1/2/3, found " +
           detail::in_quotes(word));
    }
    return named < 0 ? before(named) : vertex(named);
  }

  /// Negative indices count back from the vertex before the face.
  index_t before(offset_t named) {
    if (mesh_.vertices() + named < 0) {
      fail("face " + std::to_string(mesh_.faces()) + " names vertex " + std::to_string(named) +
           ", but only " + std::to_string(mesh_.vertices()) + " came before it");
    }
    return static_cast<index_t>(mesh_.vertices() + named);
  }

  index_t vertex(offset_t named) {
    if (named <= mesh_.vertices()) {
      return mesh_.check_index(named, 1, mesh_.vertices(), first_line_);
    }
    constexpr offset_t largest = 2147483647;
    if (named > largest) mesh_.check_index(named, 1, largest, first_line_);
    // The first face at fault names more than all before it, so no other needs to be kept.
    if (later_.empty() || named > later_.back().vertex) {
      later_.push_back({named, mesh_.faces(), first_line_});
    }
    return static_cast<index_t>(named - 1);
  }

  void check_later_vertices() const {
    for (const Later& later : later_) {
      if (later.vertex > mesh_.vertices()) {
        mesh_.fail(later.line, "face " + std::to_string(later.face) + " names vertex " +
                                   std::to_string(later.vertex) + ", which is out of range 1.." +
                                   std::to_string(mesh_.vertices()));
      }
    }
  }

  [[noreturn]] void fail(const std::string& reason) const { mesh_.fail(first_line_, reason); }

  detail::TextReader text_;
  MeshBuilder mesh_;
  std::size_t first_line_ = 0;  // of the statement
  std::string statement_;       // of several lines
  std::vector<Later> later_;    // ascending
};

}  // namespace

Mesh read_obj(detail::ByteSource& source, const std::string& name,
              const detail::ReadOptions& options) {
  return ObjReader(source, name, options).read();
}

}  // namespace cnc::geometry
