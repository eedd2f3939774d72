#pragma once

#include "distributed/channel.hpp"

#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace cnc::detail {

/// What ranks must be agreed on: numbers with names.
class Agreement {
 public:
  explicit Agreement(const char* who) : who_(who) {}
  void add(const char* name, double value) {
    names_.push_back(name);
    values_.push_back(value);
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void add(const char* name, Enum value) { add(name, static_cast<double>(value)); }
  /// Told apart by a number of its characters, FNV-1a as far as a double holds it.
  void add(const char* name, const std::string& text) {
    std::uint64_t number = 14695981039346656037u;
    for (const char c : text) number = (number ^ static_cast<unsigned char>(c)) * 1099511628211u;
    add(name, static_cast<double>(number >> 12));
    texts_.emplace_back(name, text);
  }

  /// Errors   InvalidArgument, on all ranks: the first that differs from that of the first rank, and whose it is.
  void require_of_all(Channel& channel) const {
    const int count = static_cast<int>(values_.size());
    const double* const all = channel.gather_all(values_.data(), count);
    for (int r = 1; r < channel.size(); ++r)
      for (int k = 0; k < count; ++k)
        require(std::memcmp(&all[k], &all[r * count + k], sizeof(double)) == 0, [&] {
          std::ostringstream text;
          text << who_ << ": ranks must agree on " << names_[static_cast<std::size_t>(k)]
               << ": rank " << r << " and rank 0 do not";
          if (is_number(k)) text << " (" << all[r * count + k] << " and " << all[k] << ")";
          return text.str();
        });
  }

 private:
  bool is_number(int k) const {
    for (const auto& [name, text] : texts_)
      if (std::strcmp(name, names_[static_cast<std::size_t>(k)]) == 0) return false;
    return true;
  }
  const char* who_;
  std::vector<const char*> names_;
  std::vector<double> values_;
  std::vector<std::pair<const char*, std::string>> texts_;
};

}  // namespace cnc::detail
