#pragma once

#include <cnc/contract/types.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace cnc::detail {

/// The text of a built-in problem, "family:field:field", taken apart. Every member function that finds
/// a fault throws InvalidArgument with the text, the reason and the expected syntax.
class ProblemText {
 public:
  /// Errors   other than `fields` fields after the family's name.
  ProblemText(std::string_view text, std::string_view syntax, std::size_t fields);

  /// The numbers of a field "3x4x5", each in 1 .. 2^31 - 1.
  std::vector<index_t> extents(std::size_t field) const;
  /// A field that is one such number.
  index_t extent(std::size_t field) const;
  /// A field that is a finite real number, at least `minimum`.
  double number(std::size_t field, double minimum) const;

  /// Refuses what 32-bit indices cannot hold. Doubles, so that the products that give the sizes
  /// cannot overflow on the way here.
  void check_size(double rows, double nonzeros) const;

  [[noreturn]] void fail(const std::string& reason) const;

 private:
  std::string text_;
  std::string syntax_;
  std::vector<std::string> fields_;
};

}  // namespace cnc::detail
