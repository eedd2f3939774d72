#pragma once

#include "solve/notice.hpp"

#include <cnc/contract/pass_name.hpp>

#include <cstdint>
#include <thread>

namespace cnc::detail {

/// A place in the memory of another device: a view of pointers themselves would have rank 2.
template <class T>
struct PlaceThere {
  T* at;
};

/// Sums that one rank has left for another.
struct SumsOfRank {
  static constexpr int most = 3;
  double values[most];
  std::uint32_t number;
};

/// Some seconds of a device.
inline constexpr std::uint32_t most_looks = 1u << 24;

/// Looks at a word that somebody else writes until it is this number or a later one; false if it never is.
KOKKOS_INLINE_FUNCTION bool wait_for_number(const volatile std::uint32_t& word,
                                            std::uint32_t number, std::uint32_t looks) {
  for (; looks > 0; --looks) {
    // The difference, because numbers may wrap around.
    if (static_cast<std::int32_t>(word - number) >= 0) {
      order_for_everybody();
      return true;
    }
#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
    std::this_thread::yield();
#endif
  }
  return false;
}

/// How ranks whose devices reach each other's memory add up sums in the order of their queues, without a host. Each has two slots in
/// the memory of every other, which meetings take in turn: whoever writes the one of meeting n + 2 has seen that all came to
/// meeting n + 1, after they had read those of n.
struct Meeting {
  int ranks = 1;
  const PlaceThere<SumsOfRank>* theirs =
      nullptr;                       ///< [ranks] this rank's two slots with each, itself too
  const SumsOfRank* mine = nullptr;  ///< [2 ranks] the slots of each with this rank
  std::uint32_t number = 0;
  std::uint32_t* lost = nullptr;  ///< set to 1 when somebody does not come
  std::uint32_t looks = most_looks;

  /// By one thread. Added in the order of ranks: the same bits on each.
  KOKKOS_INLINE_FUNCTION void add_up(double* sums, int count) const {
    const int turn = static_cast<int>(number % 2);
    for (int r = 0; r < ranks; ++r)
      for (int k = 0; k < count; ++k)
        static_cast<volatile double&>(theirs[r].at[turn].values[k]) = sums[k];
    order_for_everybody();
    for (int r = 0; r < ranks; ++r)
      static_cast<volatile std::uint32_t&>(theirs[r].at[turn].number) = number;
    for (int r = 0; r < ranks; ++r) {
      const SumsOfRank& slot = mine[2 * r + turn];
      if (!wait_for_number(slot.number, number, looks)) *lost = 1;
      for (int k = 0; k < count; ++k) {
        const double value = static_cast<const volatile double&>(slot.values[k]);
        sums[k] = r == 0 ? value : sums[k] + value;
      }
    }
  }
};

/// What a phase has summed over the own rows becomes the sum over those of all ranks; of a pass, the scalars that follow from
/// its sums are worked out again, from those before it.
template <class V>
struct AddUpPhase {
  Meeting meeting;
  MethodScalars* scalars;
  MethodScalars* before;  ///< the pass; those after it when this is done
  methods::ScalarList sums;
  PassName pass;
  bool is_product;
  int with_scalar;         ///< of a product
  const double* halo_dot;  ///< what that scalar lacks of the own sum; null: nothing

  KOKKOS_INLINE_FUNCTION void operator()(offset_t) const {
    MethodScalars s = *scalars;
    double values[SumsOfRank::most] = {};
    for (int k = 0; k < sums.count; ++k) {
      values[k] = s[sums.at[k]];
      if (halo_dot != nullptr && sums.at[k] == with_scalar) values[k] += *halo_dot;
    }
    meeting.add_up(values, sums.count);
    if (s.breakdown == Breakdown::none) {
      if (is_product) {
        for (int k = 0; k < sums.count; ++k) s[sums.at[k]] = values[k];
      } else {
        s = *before;
        methods::for_summing_pass<V>(pass,
                                     [&]<class Pass>() { methods::take_sums_of<Pass>(s, values); });
      }
      *scalars = s;
    }
    *before = s;
  }
};

}  // namespace cnc::detail
