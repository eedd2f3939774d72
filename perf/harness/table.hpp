#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace cnc::perf {

/// A table that is aligned on a terminal and valid Markdown in a file. The first column is text,
/// flush left; the others are flush right.
class Table {
 public:
  explicit Table(std::vector<std::string> headers);
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  void print(std::ostream& out) const;

 private:
  std::vector<std::string> headers_;
  std::vector<std::vector<std::string>> rows_;
};

/// A number with that many digits after the point.
std::string fixed(double value, int digits);
/// "12.3 ms"
std::string seconds_text(double seconds);
/// "87 %"
std::string percent(double fraction);
/// "1.42x"
std::string times(double ratio);

}  // namespace cnc::perf
