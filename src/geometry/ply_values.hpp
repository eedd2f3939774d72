#pragma once

#include "geometry/byte_cursor.hpp"
#include "geometry/mesh_builder.hpp"
#include "geometry/mesh_formats.hpp"
#include "geometry/ply_header.hpp"
#include "io/text_reader.hpp"

// Where the numbers of a PLY file come from. Both kinds have the same functions; `false` and "no
// value" are told with the element at hand.

namespace cnc::geometry {

/// The element at hand, for messages.
struct PlyPlace {
  const PlyElement* element = nullptr;
  offset_t number = 0;  // from 1

  std::string text() const {
    return detail::in_quotes(element->name) + " " + std::to_string(number) + " of " +
           std::to_string(element->count);
  }
};

/// Lines of words: one element each, blank lines in between.
class PlyText {
 public:
  PlyText(detail::ByteSource& source, const MeshBuilder& mesh, const std::string& name,
          std::size_t header_lines, const detail::ReadOptions& options)
      : text_(source, name, text_window(options)), mesh_(mesh) {
    text_.add_lines(header_lines);
  }

  std::size_t line() const { return text_.line(); }

  void begin(const PlyPlace& place) {
    place_ = place;
    if (!next_line()) fail("the file ends at " + place.text());
  }

  void end() {
    if (!words_.done()) fail(place_.text() + ": surplus text " + words_.quoted());
  }

  double coordinate(const PlyProperty&, int axis) {
    return mesh_.read_coordinate(words_, axis, line());
  }

  offset_t integer(PlyType, const PlyProperty& property) {
    offset_t value = 0;
    if (!words_.take_integer(value)) {
      fail(place_.text() + ": expected an integer of " + detail::in_quotes(property.name) +
           ", found " + words_.quoted());
    }
    return value;
  }

  void skip(PlyType, offset_t count, const PlyProperty& property) {
    for (; count > 0; --count) {
      if (words_.take().empty()) {
        fail(place_.text() + ": expected a value of " + detail::in_quotes(property.name) +
             ", found the end of the line");
      }
    }
  }

  void finish() {
    if (next_line()) fail("text behind the last element: " + words_.quoted());
  }

  [[noreturn]] void fail(const std::string& reason) const { mesh_.fail(line(), reason); }

 private:
  bool next_line() {
    std::string_view line;
    while (text_.next_line(line)) {
      words_ = Words(line, Words::no_comment);
      if (!words_.done()) return true;
    }
    return false;
  }

  detail::TextReader text_;
  const MeshBuilder& mesh_;
  Words words_;
  PlyPlace place_;
};

/// Numbers as the machine holds them, one behind the other.
class PlyBytes {
 public:
  PlyBytes(detail::ByteSource& source, const MeshBuilder& mesh, std::endian order)
      : bytes_(source), mesh_(mesh), order_(order) {}

  static std::size_t line() { return 0; }

  void begin(const PlyPlace& place) { place_ = place; }
  static void end() {}

  double coordinate(const PlyProperty& property, int axis) {
    const char* const p = take(size_of(property.type));
    switch (property.type) {
      case PlyType::float32: return mesh_.check_coordinate(load<float>(p, order_), axis);
      case PlyType::float64: return mesh_.check_coordinate(load<double>(p, order_), axis);
      default: return static_cast<double>(integer_at(p, property.type));
    }
  }

  offset_t integer(PlyType type, const PlyProperty&) {
    return integer_at(take(size_of(type)), type);
  }

  void skip(PlyType type, offset_t count, const PlyProperty&) {
    if (!bytes_.skip(count * static_cast<offset_t>(size_of(type)))) fail_at_end();
  }

  void finish() {
    if (const char* next = bytes_.take(1); next != nullptr && (*next != '\n' || bytes_.take(1))) {
      fail("bytes behind the last element: the counts of the header do not fit");
    }
  }

  [[noreturn]] void fail(const std::string& reason) const { mesh_.fail(0, reason); }

 private:
  const char* take(std::size_t n) {
    const char* const p = bytes_.take(n);
    if (p == nullptr) fail_at_end();
    return p;
  }

  [[noreturn]] void fail_at_end() const { fail("the file ends at " + place_.text()); }

  offset_t integer_at(const char* p, PlyType type) const {
    switch (type) {
      case PlyType::int8: return load<std::int8_t>(p, order_);
      case PlyType::uint8: return load<std::uint8_t>(p, order_);
      case PlyType::int16: return load<std::int16_t>(p, order_);
      case PlyType::uint16: return load<std::uint16_t>(p, order_);
      case PlyType::int32: return load<std::int32_t>(p, order_);
      default: return load<std::uint32_t>(p, order_);
    }
  }

  ByteCursor bytes_;
  const MeshBuilder& mesh_;
  std::endian order_;
  PlyPlace place_;
};

}  // namespace cnc::geometry
