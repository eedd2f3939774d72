#include "vertex_list.hpp"

#include "cli/output_file.hpp"
#include "geometry/smoothing.hpp"

#include <cnc/error.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <functional>

namespace cnc::cli {
namespace {

/// A piece of a list, and the line of the file it is from (0: none).
struct Item {
  std::string text;
  std::size_t line = 0;
};

std::vector<std::string> split(const std::string& text, const char* separators) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while ((begin = text.find_first_not_of(separators, begin)) != std::string::npos) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return parts;
}

/// Lines without their comments.
std::vector<Item> lines_of(const std::string& path) {
  check_readable(path);
  std::ifstream in(path);
  std::vector<Item> lines;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number)
    lines.push_back({line.substr(0, line.find('#')), number});
  if (in.bad()) throw IoError(path, 0, "cannot read");
  return lines;
}

[[noreturn]] void refuse(const std::string& source, const Item& item, const std::string& reason) {
  const std::string said = "'" + item.text.substr(0, 60) + "' " + reason;
  if (item.line > 0) throw IoError(source, item.line, said);
  throw InvalidArgument(said);
}

bool read_number(const std::string& text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

/// A vertex counted from 1; -1 where the text is none.
index_t read_vertex(const std::string& text, index_t vertices) {
  index_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return -1;
  return value >= 1 && value <= vertices ? value - 1 : -1;
}

std::string known_vertices(index_t vertices) {
  return "(vertices are 1 to " + std::to_string(vertices) + ")";
}

geometry::PinRequest pin_of(const std::string& source, const Item& item,
                            const std::vector<std::string>& parts, index_t vertices) {
  geometry::PinRequest pin;
  const bool has_place = parts.size() == 3;
  geometry::Uv place;
  if (parts.empty() || (parts.size() != 1 && !has_place) ||
      (pin.vertex = read_vertex(parts[0], vertices)) < 0 ||
      (has_place && !(read_number(parts[1], place[0]) && read_number(parts[2], place[1]))))
    refuse(source, item, "is no pin VERTEX or VERTEX:U:V " + known_vertices(vertices));
  if (has_place) pin.place = place;
  return pin;
}

}  // namespace

bool names_file(const std::string& text) {
  const std::vector<std::string> parts = split(text, ",");
  return std::any_of(parts.begin(), parts.end(), [](const std::string& part) {
    return part != "boundary" && part != "none" &&
           part.find_first_not_of("0123456789:.-+eE") != std::string::npos;
  });
}

std::vector<index_t> parse_vertices(const std::string& text, const geometry::Topology& topology,
                                    index_t vertices) {
  std::vector<index_t> found;
  const auto add = [&](const Item& item) {
    if (item.text == "boundary") {
      const std::vector<index_t> boundary = geometry::boundary_vertices(topology);
      found.insert(found.end(), boundary.begin(), boundary.end());
      return;
    }
    const std::size_t dash = item.text.find('-');
    const index_t first = read_vertex(item.text.substr(0, dash), vertices);
    const index_t last =
        dash == std::string::npos ? first : read_vertex(item.text.substr(dash + 1), vertices);
    if (first < 0 || last < first)
      refuse(text, item, "is no vertex or range A-B " + known_vertices(vertices));
    for (index_t v = first; v <= last; ++v) found.push_back(v);
  };
  if (text == "none") return found;
  if (names_file(text)) {
    for (const Item& line : lines_of(text))
      for (const std::string& part : split(line.text, ", \t\r")) add({part, line.line});
  } else {
    for (const std::string& part : split(text, ",")) add({part, 0});
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<geometry::PinRequest> parse_pins(const std::string& text, index_t vertices) {
  std::vector<geometry::PinRequest> pins;
  if (names_file(text)) {
    for (const Item& line : lines_of(text)) {
      const std::vector<std::string> parts = split(line.text, ":, \t\r");
      if (!parts.empty()) pins.push_back(pin_of(text, line, parts, vertices));
    }
    return pins;
  }
  for (const std::string& part : split(text, ","))
    pins.push_back(pin_of(text, {part, 0}, split(part, ":"), vertices));
  return pins;
}

}  // namespace cnc::cli
