#pragma once

#include <cnc/vector.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace cnc::detail {

/// Errors   IoError naming the first value that is NaN or infinite, counted from 1.
template <class T>
void check_finite(const std::string& name, const Vector<T>& values) {
  const auto* const begin = values.data();
  const auto* const end = begin + values.extent(0);
  const auto* const bad = std::find_if(begin, end, [](auto v) { return !std::isfinite(v); });
  if (bad != end) {
    throw IoError(name, 0,
                  "value " + std::to_string(bad - begin + 1) + " of " +
                      std::to_string(values.extent(0)) + " stored is not finite");
  }
}

}  // namespace cnc::detail
