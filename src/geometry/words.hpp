#pragma once

#include <cnc/contract/types.hpp>

#include "io/entry_text.hpp"
#include "io/matrix_market_header.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace cnc::geometry {

/// The words of a line, one after the other. Behind the line stands '\n', as in a TextReader.
class Words {
 public:
  static constexpr char no_comment = '\n';

  /// Of an empty line.
  Words() : Words(std::string_view("\n").substr(0, 0), no_comment) {}

  /// A word that begins with `comment` ends the line.
  Words(std::string_view line, char comment)
      : p_(detail::skip_blanks(line.data())), end_(line.data() + line.size()), comment_(comment) {}

  bool done() const { return *p_ == '\n' || *p_ == comment_; }

  /// The next word, taken; empty at the end of the line.
  std::string_view take() {
    const char* const first = p_;
    if (!done()) {
      while (!detail::ends_word(*p_)) ++p_;
    }
    const std::string_view word(first, static_cast<std::size_t>(p_ - first));
    p_ = detail::skip_blanks(p_);
    return word;
  }

  /// Takes a finite number; the next word stays where it has a fault.
  detail::EntryFault take_real(double& value) {
    if (done()) return detail::EntryFault::not_a_number;
    const detail::EntryFault fault = detail::parse_real(p_, end_, value);
    if (fault == detail::EntryFault::none) p_ = detail::skip_blanks(p_);
    return fault;
  }

  /// Takes an integer that ends with the word; false and nothing taken where there is none.
  bool take_integer(offset_t& value) {
    const char* q = p_;
    if (done() || !parse_integer(q, value) || !detail::ends_word(*q)) return false;
    p_ = detail::skip_blanks(q);
    return true;
  }

  /// An integer at `q`, which is left behind it. One that is far too large for an index stays so.
  static bool parse_integer(const char*& q, offset_t& value) {
    constexpr offset_t saturated = offset_t{1} << 50;
    const bool negative = *q == '-';
    q += *q == '-' || *q == '+';
    if (!detail::is_digit(*q)) return false;
    for (value = 0; detail::is_digit(*q); ++q) {
      value = value < saturated ? 10 * value + (*q - '0') : value;
    }
    value = negative ? -value : value;
    return true;
  }

  /// The next word for a message, "the end of the line" if there is none.
  std::string quoted() const {
    return detail::in_quotes(done() ? std::string_view()
                                    : std::string_view(p_, static_cast<std::size_t>(end_ - p_)));
  }

 private:
  const char* p_;
  const char* end_;
  char comment_;
};

/// ASCII letters only, as all keywords are.
inline std::string lower(std::string_view word) {
  std::string result(word);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

}  // namespace cnc::geometry
