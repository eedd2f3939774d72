#pragma once

#include <target/gpu.hpp>

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Neighbours in memory that travel in one load of up to 16 bytes.
template <class T, int n>
struct alignas(sizeof(T) * n) Pack {
  T value[n];
};

/// Scalars of T that one load of 16 bytes brings, at most `most` and a divisor of it.
template <class T>
constexpr int pack_width(int most) {
  int width = 16 / static_cast<int>(sizeof(T));
  while (most % width != 0) width /= 2;
  return width;
}

/// Whether loads of n scalars may start at `data`.
template <class T, int n>
CNC_GPU_DEVICE bool aligned_for(const T* data) {
  return n == 1 || reinterpret_cast<std::uintptr_t>(data) % (sizeof(T) * n) == 0;
}

/// Reads `count` scalars once, in packs where `aligned` says that `from` allows it. Packs of doubles are faster
/// through the first-level cache, anything else past it.
template <int count, class T, class V>
CNC_GPU_DEVICE void load_row(const T* from, bool aligned, V (&to)[count]) {
  constexpr int n = pack_width<T>(count);
  if (n > 1 && aligned) {
    for (int i = 0; i < count; i += n) {
      const auto* const place = reinterpret_cast<const Pack<T, n>*>(from + i);
      const Pack<T, n> pack = sizeof(T) == 8 ? *place : load_once(place);
      for (int k = 0; k < n; ++k) to[i + k] = static_cast<V>(pack.value[k]);
    }
  } else {
    for (int i = 0; i < count; ++i) to[i] = static_cast<V>(load_once(from + i));
  }
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
