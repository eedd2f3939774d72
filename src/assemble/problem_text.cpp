#include <assemble/problem_text.hpp>
#include <cnc/error.hpp>

#include <charconv>
#include <cmath>
#include <limits>

namespace cnc::detail {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(at + 1);
  }
}

}  // namespace

ProblemText::ProblemText(std::string_view text, std::string_view syntax, std::size_t fields)
    : text_(text), syntax_(syntax), fields_(split(text, ':')) {
  fields_.erase(fields_.begin());
  if (fields_.size() != fields) {
    fail("wrong number of fields");
  }
}

std::vector<index_t> ProblemText::extents(std::size_t field) const {
  std::vector<index_t> result;
  for (const std::string& part : split(fields_.at(field), 'x')) {
    index_t value = 0;
    const char* const end = part.data() + part.size();
    const auto [stop, error] = std::from_chars(part.data(), end, value);
    if (error == std::errc::result_out_of_range) {
      fail("size '" + part + "' is too large");
    }
    if (error != std::errc() || stop != end) {
      fail("'" + part + "' is no size");
    }
    if (value < 1) {
      fail("sizes must be at least 1");
    }
    result.push_back(value);
  }
  return result;
}

index_t ProblemText::extent(std::size_t field) const {
  const std::vector<index_t> all = extents(field);
  if (all.size() != 1) {
    fail("'" + fields_[field] + "' must be one size");
  }
  return all[0];
}

double ProblemText::number(std::size_t field, double minimum) const {
  const std::string& part = fields_.at(field);
  double value = 0;
  const char* const end = part.data() + part.size();
  const auto [stop, error] = std::from_chars(part.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) {
    fail("'" + part + "' is not a finite number");
  }
  if (value < minimum) {
    fail("'" + part + "' is too small");
  }
  return value;
}

void ProblemText::check_size(double rows, double nonzeros) const {
  constexpr double limit = std::numeric_limits<index_t>::max();
  if (rows > limit) {
    fail("more than 2^31 - 1 rows");
  }
  if (nonzeros > limit) {
    fail("more than 2^31 - 1 nonzeros");
  }
}

void ProblemText::fail(const std::string& reason) const {
  throw InvalidArgument("problem '" + text_ + "': " + reason + "; expected " + syntax_);
}

}  // namespace cnc::detail
