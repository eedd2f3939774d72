#pragma once

#include <cnc/io.hpp>

#include "io/text_reader.hpp"

#include <string>
#include <string_view>

namespace cnc::detail {

/// Reads banner, comments and size line; the reader then stands before the first entry.
/// Errors   IoError.
MatrixMarketHeader read_header(TextReader& text);

/// Whether a line is a banner, "%%MatrixMarket ..." in any case.
bool is_banner(std::string_view line);

/// Offending text for a message: the start of it up to a blank, printable and short.
std::string in_quotes(std::string_view text);

}  // namespace cnc::detail
