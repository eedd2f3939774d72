#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace cnc::cli {

/// Text in aligned columns.
class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::right;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One cell per column; missing ones are empty.
  void add(std::vector<std::string> cells, bool emphasised = false);
  /// An empty line between groups of rows.
  void add_gap() { rows_.push_back({}); }

  void print(std::ostream& out) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    bool emphasised = false;
  };
  std::string line(const std::vector<std::string>& cells,
                   const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace cnc::cli
