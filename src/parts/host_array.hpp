#pragma once

#include <cstddef>
#include <memory>

namespace cnc::detail {

/// An array that threads fill: nobody writes zeros before.
template <class T>
class HostArray {
 public:
  HostArray() = default;
  explicit HostArray(std::size_t n) { allocate(n); }
  void allocate(std::size_t n) {
    data_ = std::make_unique_for_overwrite<T[]>(n);
    size_ = n;
  }
  std::size_t size() const { return size_; }
  T* data() const { return data_.get(); }
  T& operator[](std::size_t k) const { return data_[k]; }
  T* begin() const { return data(); }
  T* end() const { return data() + size(); }

 private:
  std::unique_ptr<T[]> data_;
  std::size_t size_ = 0;
};

}  // namespace cnc::detail
