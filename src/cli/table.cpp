#include "table.hpp"

#include "terminal.hpp"
#include "text.hpp"

#include <algorithm>
#include <ostream>

namespace cnc::cli {

void Table::add(std::vector<std::string> cells, bool emphasised) {
  cells.resize(columns_.size());
  rows_.push_back({std::move(cells), emphasised});
}

std::string Table::line(const std::vector<std::string>& cells,
                        const std::vector<std::size_t>& widths) const {
  std::string text;
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    text += "  ";
    text += columns_[k].align == Align::left ? pad_right(cells[k], widths[k])
                                             : pad_left(cells[k], widths[k]);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

void Table::print(std::ostream& out) const {
  std::vector<std::size_t> widths;
  std::vector<std::string> titles;
  for (const Column& column : columns_) {
    widths.push_back(display_width(column.title));
    titles.push_back(column.title);
  }
  for (const Row& row : rows_)
    for (std::size_t k = 0; k < row.cells.size(); ++k)
      widths[k] = std::max(widths[k], display_width(row.cells[k]));

  out << styled(Style::dim, line(titles, widths)) << '\n';
  for (const Row& row : rows_) {
    const std::string text = row.cells.empty() ? "" : line(row.cells, widths);
    out << (row.emphasised ? styled(Style::bold, text) : text) << '\n';
  }
}

}  // namespace cnc::cli
