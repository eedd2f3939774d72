#pragma once

#include <cstddef>
#include <cstring>

namespace cnc::nl {

/// The variables of one system: doubles that lie `stride` bytes apart, aligned or not.
struct Buffer {
  std::byte* address = nullptr;
  std::size_t stride = sizeof(double);

  double get(std::size_t i) const {
    double value;
    std::memcpy(&value, address + i * stride, sizeof value);
    return value;
  }
  void set(std::size_t i, double value) const {
    std::memcpy(address + i * stride, &value, sizeof value);
  }
};

}  // namespace cnc::nl
