#pragma once

#include <string>
#include <string_view>

namespace cnc::cli {

/// What standard output can show.
struct Terminal {
  bool interactive = false;  ///< a terminal rather than a file or a pipe
  bool colour = false;       ///< interactive, NO_COLOR unset, TERM not "dumb"
  bool utf8 = false;         ///< the locale says UTF-8
  int width = 80;            ///< columns, 40 to 100
};

const Terminal& terminal();
bool error_stream_is_terminal();

enum class Style { bold, dim, good, bad };

/// The text in that style, or as it is where colours are not wanted.
std::string styled(Style style, std::string_view text);

/// "Matrix        ..." with a dimmed label of fixed width: one line of a report.
std::string labelled(std::string_view label, std::string_view text);

/// The Unicode text where the locale can show it, else the plain one.
std::string_view glyph(std::string_view unicode, std::string_view plain);

}  // namespace cnc::cli
