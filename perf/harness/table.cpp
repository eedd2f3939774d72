#include "harness/table.hpp"

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <utility>

namespace cnc::perf {

Table::Table(std::vector<std::string> headers) : headers_(std::move(headers)) {}

void Table::add(std::vector<std::string> cells) {
  cells.resize(headers_.size());
  rows_.push_back(std::move(cells));
}

void Table::print(std::ostream& out) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < headers_.size(); ++c) {
    widths.push_back(std::max<std::size_t>(headers_[c].size(), 3));
    for (const auto& row : rows_) widths[c] = std::max(widths[c], row[c].size());
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    out << '|';
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string padding(widths[c] - cells[c].size(), ' ');
      out << ' ' << (c == 0 ? cells[c] + padding : padding + cells[c]) << " |";
    }
    out << '\n';
  };
  line(headers_);
  out << '|';
  for (std::size_t c = 0; c < headers_.size(); ++c)
    out << ' ' << std::string(widths[c] - (c == 0 ? 0 : 1), '-') << (c == 0 ? " |" : ": |");
  out << '\n';
  for (const auto& row : rows_) line(row);
  out << '\n';
}

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string seconds_text(double seconds) {
  if (seconds >= 1) return fixed(seconds, 2) + " s";
  if (seconds >= 1e-3) return fixed(seconds * 1e3, seconds >= 0.1 ? 0 : 2) + " ms";
  return fixed(seconds * 1e6, seconds >= 1e-4 ? 0 : 2) + " us";
}

std::string percent(double fraction) { return fixed(fraction * 100, 0) + " %"; }

std::string times(double ratio) { return fixed(ratio, 2) + "x"; }

}  // namespace cnc::perf
