#pragma once

#include <cnc/contract/types.hpp>

namespace cnc::openmp::CNC_ISA {

#define CNC_INLINE inline __attribute__((always_inline))

/// N values of T in one register, with the operators of T. A compiler extension of gcc and clang.
template <class T, int N>
struct VecType {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <class T>
struct VecType<T, 1> {
  using type = T;
};
template <class T, int N>
using Vec = typename VecType<T, N>::type;

/// Values of V in a full register.
template <class V>
inline constexpr int lanes = CNC_ISA_VECTOR_BYTES / int(sizeof(V));

/// N consecutive values from any address, widened to V when stored narrower.
template <class V, int N, class T>
CNC_INLINE Vec<V, N> load(const T* p) {
  Vec<T, N> v;
  __builtin_memcpy(&v, p, sizeof v);
  if constexpr (std::is_same_v<T, V>)
    return v;
  else
    return __builtin_convertvector(v, Vec<V, N>);
}

template <class V, int N>
CNC_INLINE void store(V* p, Vec<V, N> v) {
  __builtin_memcpy(p, &v, sizeof v);
}

/// Sum of the lanes, pairwise from the outside in: one fixed order.
template <class V, int N>
CNC_INLINE V sum(Vec<V, N> v) {
  if constexpr (N == 1) {
    return v;
  } else {
    V part[N];
    store<V, N>(part, v);
    for (int half = N / 2; half > 0; half /= 2)
      for (int i = 0; i < half; ++i) part[i] += part[i + half];
    return part[0];
  }
}

/// x[index[0]], x[index[1]], ...: by the processor's instruction for that, or a load for each.
template <class V, int N, bool by_instruction = true>
CNC_INLINE Vec<V, N> gather(const V* x, Vec<index_t, N> index) {
#if CNC_ISA_VECTOR_BYTES == 64
  if constexpr (by_instruction && sizeof(V) == 8 && N == 8) {
    return (Vec<V, N>)_mm512_mask_i32gather_pd(_mm512_setzero_pd(), 0xff, (__m256i)index, x, 8);
  } else if constexpr (by_instruction && sizeof(V) == 4 && N == 16) {
    return (Vec<V, N>)_mm512_mask_i32gather_ps(_mm512_setzero_ps(), 0xffff, (__m512i)index, x, 4);
  } else
#endif
#if CNC_ISA_VECTOR_BYTES >= 32
      if constexpr (by_instruction && sizeof(V) == 8 && N == 4) {
    const __m256d all = (__m256d)_mm256_set1_epi64x(-1);
    return (Vec<V, N>)_mm256_mask_i32gather_pd(_mm256_setzero_pd(), x, (__m128i)index, all, 8);
  } else if constexpr (by_instruction && sizeof(V) == 4 && N == 8) {
    const __m256 all = (__m256)_mm256_set1_epi32(-1);
    return (Vec<V, N>)_mm256_mask_i32gather_ps(_mm256_setzero_ps(), x, (__m256i)index, all, 4);
  } else
#endif
  {
    Vec<V, N> v;
    for (int i = 0; i < N; ++i) v[i] = x[index[i]];
    return v;
  }
}

}  // namespace cnc::openmp::CNC_ISA
