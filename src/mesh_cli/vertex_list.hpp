#pragma once

#include "geometry/conformal.hpp"

#include <string>
#include <vector>

namespace cnc::cli {

/// Reads vertices "3,7,20-29", counted from 1, or a file with such items, apart by white space or commas; '#' begins a
/// comment. "boundary" among them stands for all vertices there. Gives them counted from 0, ascending, none twice.
/// Errors   InvalidArgument, IoError (file, line, item).
std::vector<index_t> parse_vertices(const std::string& text, const geometry::Topology& topology,
                                    index_t vertices);

/// Reads pins "3,17" or "3:0:0,17:1:0.5" (VERTEX:U:V), or a file with such items, or with lines "3 0 0".
/// Errors   as parse_vertices.
std::vector<geometry::PinRequest> parse_pins(const std::string& text, index_t vertices);

/// Whether such a text is the name of a file: it has what no list has.
bool names_file(const std::string& text);

}  // namespace cnc::cli
