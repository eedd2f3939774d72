#include "geometry/ply_header.hpp"

#include <cnc/error.hpp>

#include "geometry/words.hpp"

#include <array>
#include <utility>

namespace cnc::geometry {

namespace {

constexpr std::array<std::pair<std::string_view, PlyType>, 16> type_names = {
    {{"char", PlyType::int8},
     {"int8", PlyType::int8},
     {"uchar", PlyType::uint8},
     {"uint8", PlyType::uint8},
     {"short", PlyType::int16},
     {"int16", PlyType::int16},
     {"ushort", PlyType::uint16},
     {"uint16", PlyType::uint16},
     {"int", PlyType::int32},
     {"int32", PlyType::int32},
     {"uint", PlyType::uint32},
     {"uint32", PlyType::uint32},
     {"float", PlyType::float32},
     {"float32", PlyType::float32},
     {"double", PlyType::float64},
     {"float64", PlyType::float64}}};

class HeaderParser {
 public:
  HeaderParser(std::string_view start, const std::string& name) : start_(start), name_(name) {}

  PlyHeader parse() {
    if (next_line().take() != "ply") fail("not a PLY file: it does not begin with ply");
    parse_format();
    for (bool more = true; more;) {
      Words words = next_line();
      const std::string_view keyword = words.take();
      if (keyword == "element") {
        parse_element(words);
      } else if (keyword == "property") {
        parse_property(words);
      } else if (keyword == "end_header") {
        more = false;
      } else if (keyword != "comment" && keyword != "obj_info" && !keyword.empty()) {
        fail("expected element, property, comment or end_header, found " +
             detail::in_quotes(keyword));
      }
    }
    return std::move(header_);
  }

  std::size_t bytes() const { return position_; }

 private:
  Words next_line() {
    const std::size_t end = start_.find('\n', position_);
    ++header_.lines;
    if (end == std::string_view::npos) {
      fail("the header does not end: no end_header within its first " +
           std::to_string(start_.size()) + " bytes");
    }
    const std::string_view line = start_.substr(position_, end - position_);
    position_ = end + 1;
    return {line, Words::no_comment};
  }

  void parse_format() {
    Words words = next_line();
    std::string_view keyword = words.take();
    while (keyword == "comment" || keyword == "obj_info") {
      words = next_line();
      keyword = words.take();
    }
    if (keyword != "format") fail("expected format, found " + detail::in_quotes(keyword));
    const std::string_view format = words.take();
    if (format == "ascii") {
      header_.format = PlyHeader::Format::ascii;
    } else if (format == "binary_little_endian") {
      header_.format = PlyHeader::Format::little_endian;
    } else if (format == "binary_big_endian") {
      header_.format = PlyHeader::Format::big_endian;
    } else {
      fail("format " + detail::in_quotes(format) +
           " is not supported (ascii, binary_little_endian, binary_big_endian)");
    }
    if (const std::string_view version = words.take(); version != "1.0") {
      fail("version " + detail::in_quotes(version) + " is not supported (1.0)");
    }
  }

  void parse_element(Words& words) {
    PlyElement element;
    element.name = words.take();
    if (element.name.empty()) fail("expected the name of an element, found the end of the line");
    for (const PlyElement& earlier : header_.elements) {
      if (earlier.name == element.name) fail("a second element " + detail::in_quotes(element.name));
    }
    if (!words.take_integer(element.count)) {
      fail("expected the number of elements " + detail::in_quotes(element.name) + ", found " +
           words.quoted());
    }
    if (element.count < 0) {
      fail("the number of elements " + detail::in_quotes(element.name) + " is " +
           std::to_string(element.count));
    }
    header_.elements.push_back(std::move(element));
  }

  void parse_property(Words& words) {
    if (header_.elements.empty()) fail("a property before the first element");
    PlyProperty property;
    const std::string_view type = words.take();
    if (type == "list") {
      property.count = parse_type(words.take());
      if (!is_integer(*property.count)) fail("the length of a list must be of an integer type");
      property.type = parse_type(words.take());
    } else {
      property.type = parse_type(type);
    }
    property.name = words.take();
    if (property.name.empty()) fail("expected the name of a property, found the end of the line");
    std::vector<PlyProperty>& properties = header_.elements.back().properties;
    for (const PlyProperty& earlier : properties) {
      if (earlier.name == property.name) {
        fail("a second property " + detail::in_quotes(property.name));
      }
    }
    properties.push_back(std::move(property));
  }

  PlyType parse_type(std::string_view word) const {
    for (const auto& [name, type] : type_names) {
      if (word == name) return type;
    }
    fail("expected a type (char, uchar, short, ushort, int, uint, float, double), found " +
         detail::in_quotes(word));
  }

  [[noreturn]] void fail(const std::string& reason) const {
    throw IoError(name_, header_.lines, reason);
  }

  std::string_view start_;
  std::string name_;
  std::size_t position_ = 0;
  PlyHeader header_;
};

}  // namespace

std::size_t size_of(PlyType type) {
  constexpr std::array<std::size_t, 8> sizes = {1, 1, 2, 2, 4, 4, 4, 8};
  return sizes[static_cast<std::size_t>(type)];
}

PlyHeader read_ply_header(detail::ByteSource& source, const std::string& name) {
  constexpr std::size_t longest = std::size_t{1} << 16;
  HeaderParser parser(source.peek(longest), name);
  PlyHeader header = parser.parse();
  std::string taken(parser.bytes(), '\0');
  source.read(taken.data(), taken.size());
  return header;
}

}  // namespace cnc::geometry
