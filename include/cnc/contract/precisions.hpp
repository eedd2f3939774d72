#pragma once

#include <tuple>

// The precisions. These are the only lists: tables, instantiations and tests follow them, and CMake reads them here. A
// further one (narrower storage, complex vectors) is one entry more, and the arithmetic of its type.

/// Types of vectors: DO(V) for each.
#define CNC_FOR_VECTOR_TYPES(DO) DO(float) DO(double)
/// Types of stored matrix entries, each with vectors that are at least as wide: DO(M, V) for each.
#define CNC_FOR_PRECISIONS(DO) DO(float, float) DO(double, double) DO(float, double)

namespace cnc {

/// Matrix entries stored in M under vectors of V.
template <class M_, class V_>
struct PrecisionTypes {
  using M = M_;  ///< of the matrix
  using V = V_;  ///< of the vectors
};

namespace detail {
#define CNC_ENTRY(V) , V
template <class, class... V>
using VectorTypesAfter = std::tuple<V...>;
using VectorTypes = VectorTypesAfter<void CNC_FOR_VECTOR_TYPES(CNC_ENTRY)>;
#undef CNC_ENTRY
#define CNC_ENTRY(M, V) , PrecisionTypes<M, V>
using Precisions = VectorTypesAfter<void CNC_FOR_PRECISIONS(CNC_ENTRY)>;
#undef CNC_ENTRY
}  // namespace detail

using VectorTypes = detail::VectorTypes;  ///< std::tuple<V...>
using Precisions = detail::Precisions;    ///< std::tuple<PrecisionTypes<M, V>...>

}  // namespace cnc
