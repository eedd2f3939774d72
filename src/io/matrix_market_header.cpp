#include "io/matrix_market_header.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <vector>

namespace cnc::detail {

namespace {

using Header = MatrixMarketHeader;

constexpr std::string_view blanks = " \t\r";
constexpr std::string_view banner = "%%matrixmarket";
constexpr offset_t largest_index = 2147483647;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

std::vector<std::string> words(std::string_view line) {
  std::vector<std::string> result;
  std::size_t at = line.find_first_not_of(blanks);
  while (at != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
    result.emplace_back(line.substr(at, end - at));
    at = line.find_first_not_of(blanks, end);
  }
  return result;
}

/// The value named by `word`, or an error that lists what is supported.
template <class Value, std::size_t n>
Value choose(const TextReader& text, const char* what, const std::string& word,
             const std::array<std::pair<const char*, Value>, n>& choices) {
  std::string known;
  for (const auto& choice : choices) {
    if (lower(word) == choice.first) {
      return choice.second;
    }
    known += (known.empty() ? "" : ", ") + std::string(choice.first);
  }
  throw IoError(text.name(), text.line(),
                std::string(what) + " " + in_quotes(word) + " is not supported (" + known + ")");
}

void read_banner(TextReader& text, Header& header) {
  std::string_view line;
  if (!text.next_line(line)) {
    throw IoError(text.name(), 0, "the file is empty");
  }
  const auto fail = [&](const std::string& reason) {
    throw IoError(text.name(), text.line(), reason);
  };
  const std::vector<std::string> word = words(line);
  if (word.empty() || lower(word[0]) != banner) {
    fail("not a Matrix Market file: it does not begin with %%MatrixMarket");
  }
  if (word.size() != 5) {
    fail("the banner needs four words after %%MatrixMarket: object, layout, field, symmetry");
  }
  if (lower(word[1]) != "matrix") {
    fail("object " + in_quotes(word[1]) + " is not supported (matrix)");
  }
  using Layouts = std::array<std::pair<const char*, Header::Layout>, 2>;
  using Fields = std::array<std::pair<const char*, Header::Field>, 3>;
  using Symmetries = std::array<std::pair<const char*, Header::Symmetry>, 3>;
  header.layout = choose(
      text, "layout", word[2],
      Layouts{{{"coordinate", Header::Layout::coordinate}, {"array", Header::Layout::array}}});
  header.field = choose(text, "field", word[3],
                        Fields{{{"real", Header::Field::real},
                                {"integer", Header::Field::integer},
                                {"pattern", Header::Field::pattern}}});
  header.symmetry = choose(text, "symmetry", word[4],
                           Symmetries{{{"general", Header::Symmetry::general},
                                       {"symmetric", Header::Symmetry::symmetric},
                                       {"skew-symmetric", Header::Symmetry::skew_symmetric}}});
  if (header.field == Header::Field::pattern && header.layout == Header::Layout::array) {
    fail("an array file cannot be of field pattern: it has no indices");
  }
  if (header.field == Header::Field::pattern &&
      header.symmetry == Header::Symmetry::skew_symmetric) {
    fail("a pattern file cannot be skew-symmetric: it has no signs");
  }
}

/// The first line that is neither blank nor a comment.
std::string_view size_line(TextReader& text) {
  std::string_view line;
  while (text.next_line(line)) {
    if (is_banner(line)) {
      throw IoError(text.name(), text.line(), "a second %%MatrixMarket banner");
    }
    const std::size_t first = line.find_first_not_of(blanks);
    if (first != std::string_view::npos && line[first] != '%') {
      return line;
    }
  }
  throw IoError(text.name(), text.line(), "the file ends before the size line");
}

offset_t read_size(const TextReader& text, const char* what, const std::string& word) {
  offset_t value = 0;
  const char* end = word.data() + word.size();
  const auto [next, code] = std::from_chars(word.data(), end, value);
  if (code == std::errc::invalid_argument || next != end) {
    throw IoError(
        text.name(), text.line(),
        "size line: " + std::string(what) + " = " + in_quotes(word) + " is not an integer");
  }
  if (value < 0) {
    throw IoError(text.name(), text.line(),
                  "size line: " + std::string(what) + " = " + in_quotes(word) + " is negative");
  }
  if (code == std::errc::result_out_of_range || value > largest_index) {
    throw IoError(
        text.name(), text.line(),
        "size line: " + std::string(what) + " = " + in_quotes(word) + " is more than 2^31 - 1");
  }
  return value;
}

offset_t array_entries(const Header& header) {
  const auto n = static_cast<offset_t>(header.cols);
  switch (header.symmetry) {
    case Header::Symmetry::symmetric: return n * (n + 1) / 2;
    case Header::Symmetry::skew_symmetric: return n * (n - 1) / 2;
    default: return static_cast<offset_t>(header.rows) * n;
  }
}

void read_sizes(TextReader& text, Header& header) {
  const std::vector<std::string> word = words(size_line(text));
  const bool coordinate = header.layout == Header::Layout::coordinate;
  const auto fail = [&](const std::string& reason) {
    throw IoError(text.name(), text.line(), reason);
  };
  if (word.size() != (coordinate ? 3u : 2u)) {
    fail(coordinate ? "the size line needs three integers: rows columns entries"
                    : "the size line of an array needs two integers: rows columns");
  }
  header.rows = static_cast<index_t>(read_size(text, "rows", word[0]));
  header.cols = static_cast<index_t>(read_size(text, "columns", word[1]));
  if (header.symmetry != Header::Symmetry::general && header.rows != header.cols) {
    fail("a symmetric matrix must be square, this one is " + word[0] + " x " + word[1]);
  }
  header.entries = coordinate ? read_size(text, "entries", word[2]) : array_entries(header);
  // Every entry off the diagonal counts twice once symmetry is expanded.
  const offset_t least = header.symmetry == Header::Symmetry::general || !coordinate
                             ? header.entries
                             : 2 * header.entries - header.rows;
  if (least > largest_index) {
    fail("more than 2^31 - 1 entries, symmetry expanded: too large for 32-bit row offsets");
  }
}

}  // namespace

bool is_banner(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  return line.size() >= banner.size() && lower(line.substr(0, banner.size())) == banner;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 40;
  const std::size_t end = std::min(text.find_first_of(" \t\r\n"), text.size());
  if (end == 0) {
    return "the end of the line";
  }
  std::string result = "'";
  for (const char c : text.substr(0, std::min(end, longest))) {
    result += c > ' ' && c <= '~' ? c : '?';
  }
  return result + (end > longest ? "...'" : "'");
}

MatrixMarketHeader read_header(TextReader& text) {
  Header header;
  read_banner(text, header);
  read_sizes(text, header);
  return header;
}

}  // namespace cnc::detail
