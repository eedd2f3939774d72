#pragma once

#include <cnc/contract/phases.hpp>

#include <target/gpu.hpp>

#include <bit>
#include <type_traits>

// What kernels need in order to execute the passes of a method, which are known when they are compiled.

namespace cnc::gpu::inline CNC_GPU_TARGET {

using namespace methods;

/// Calls f(std::integral_constant<int, vector>()) for each vector of the set: places in a Row must be constants, or
/// it would not stay in registers.
template <VectorSet set, class F>
CNC_GPU_DEVICE void for_vectors(const F& f) {
  if constexpr (set != 0) {
    f(std::integral_constant<int, std::countr_zero(set)>());
    for_vectors<(set & (set - 1))>(f);
  }
}

/// The set of one vector; of none if there is none.
constexpr VectorSet set_of_one(int vector) { return vector < 0 ? 0 : set_of(vector); }

/// Vectors that a whole pass changes.
template <class Pass>
inline constexpr VectorSet changed_by = Pass::writes | set_of_one(Pass::M.to);
/// Vectors that a whole pass reads before it changes them: what sums and M are fed from may be other vectors
/// than the statements read.
template <class Pass>
inline constexpr VectorSet loaded_by = Pass::reads | ((Pass::summed | set_of_one(Pass::M.from)) &
                                                      ~changed_by<Pass>);

/// Takes the sums of a pass, row by row.
template <int N>
struct AddProducts {
  double sums[N] = {};
  template <class V>
  constexpr void operator()(int k, V a, V b) {
    sums[k] += double(a) * double(b);
  }
};

/// Sums of a pass as an array, which cannot have no entry.
template <class Pass>
using SumsOf = AddProducts<(Pass::sums.count > 0 ? Pass::sums.count : 1)>;

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
