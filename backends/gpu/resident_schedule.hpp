#pragma once

#include <cnc/contract/methods.hpp>

#include <gpu/row_values.hpp>

#include <algorithm>
#include <tuple>

// Where a resident run of a method must wait, and where each of its vectors lives: all of it follows from the phases
// when they are compiled.
//
// A vector that a product gathers is read by all blocks, so it is in memory, and
//   - between the pass that writes it and the product there must be a barrier across the grid: a sum, or else one of
//     its own;
//   - a pass that writes it while others may still gather its old values has a second vector to write to, and the two
//     take turns. A barrier would do too, and cost more.
// Where M is one number, M^-1 r need not be anywhere: a run that implies it reads r in its place (implied).
// A pass just before a product may leave the operand to be formed while it is gathered (operand_reads): it is then
// done row by row as the results of the product come in.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// One phase of an iteration, as a resident run does it.
struct ResidentPhase {
  bool product = false;
  bool postponed = false;  ///< a pass that the product after it does on the way
  bool forms = false;      ///< a product that does so
  VectorSet reads = 0;     ///< rows of the block's own
  VectorSet gathers = 0;   ///< rows of others
  VectorSet writes = 0;
  int sums = 0;
  bool meets_grid = false;   ///< a barrier of its own comes first
  bool meets_block = false;  ///< only the block's threads must wait for each other first
  VectorSet turns = 0;       ///< vectors of two whose other one it writes to
};

struct ResidentSchedule {
  ResidentPhase phase[max_phases];
  int phases = 0;
  VectorSet gathered = 0;  ///< in memory
  VectorSet doubled = 0;   ///< of these, those that there are two of
  VectorSet carried = 0;   ///< from one iteration to the next, or to another run
  VectorSet changed = 0;
  VectorSet on_chip = 0;  ///< where there is room, in their order
  int most_sums = 1;      ///< at one barrier

  constexpr int place_on_chip(int vector) const {
    return count(on_chip & ((VectorSet(1) << vector) - 1));
  }
  constexpr int place_of_second(int vector) const {
    return count(doubled & ((VectorSet(1) << vector) - 1));
  }
};

/// By which recurrence runs of a method in one launch go, whether they meet once or more often: by that with one reduction, where it
/// names one.
template <class Method>
using OneLaunchOf =
    std::conditional_t<meets_once<Method>, OneMeetingOf<Method>, OwnRecurrence<Method>>;

/// The vector M^-1 r of an iteration and r.
template <class Method>
constexpr Precondition preconditioned_in() {
  Precondition M;
  Method::Iteration::for_each([&]<class Phase>(int) {
    if constexpr (!is_product<Phase>)
      if (Phase::M.active()) M = Phase::M;
  });
  return M;
}

namespace detail {

/// Without a vector of its own for M^-1 r.
constexpr ResidentPhase implied(ResidentPhase phase, const Precondition& M) {
  const auto from_instead = [&](VectorSet& set) {
    if (contains(set, M.to)) set = (set & ~set_of(M.to)) | set_of(M.from);
  };
  from_instead(phase.reads);
  from_instead(phase.gathers);
  phase.writes &= ~set_of(M.to);
  return phase;
}

template <class Phase>
constexpr ResidentPhase described() {
  ResidentPhase phase;
  if constexpr (is_product<Phase>) {
    phase.product = true;
    phase.gathers = set_of(Phase::of);
    phase.writes = set_of(Phase::to);
    phase.sums = Phase::dots;
    if constexpr (Phase::dots > 0) phase.reads = set_of(Phase::with[0]) & ~phase.writes;
  } else {
    phase.postponed = Phase::operand_reads != 0;
    static_assert(Phase::operand_reads == 0 || (!Phase::M.active() && !stores_scalars<Phase>),
                  "what is formed row by row needs no other row and leaves nothing behind");
    phase.gathers = Phase::operand_reads;
    phase.reads = loaded_by<Phase>;
    phase.writes = changed_by<Phase>;
    phase.sums = Phase::sums.count;
  }
  return phase;
}

}  // namespace detail

template <class Method, bool implies = false>
constexpr ResidentSchedule resident_schedule() {
  ResidentSchedule plan;
  Method::Iteration::for_each([&]<class Phase>(int k) {
    plan.phase[k] = detail::described<Phase>();
    if (implies) plan.phase[k] = detail::implied(plan.phase[k], preconditioned_in<Method>());
  });
  plan.phases = Method::Iteration::size;
  // The product takes over what is postponed.
  for (int k = 0; k + 1 < plan.phases; ++k) {
    ResidentPhase& pass = plan.phase[k];
    ResidentPhase& product = plan.phase[k + 1];
    if (!pass.postponed || !product.product || (product.gathers & ~pass.writes) != 0) {
      pass.postponed = false;
      if (!pass.product) pass.gathers = 0;
      continue;
    }
    product.forms = true;
    product.gathers = pass.gathers;
    product.reads = pass.reads | (product.reads & ~pass.writes);
    product.writes |= pass.writes;
    pass = {};
    pass.postponed = true;
  }
  for (int k = 0; k < plan.phases; ++k) {
    const ResidentPhase& phase = plan.phase[k];
    plan.gathered |= phase.gathers;
    plan.carried |= phase.reads & ~plan.changed;
    plan.carried |= phase.gathers & ~plan.changed;
    plan.changed |= phase.writes;
    plan.on_chip |= phase.reads | phase.writes;
    plan.most_sums = phase.sums > plan.most_sums ? phase.sums : plan.most_sums;
  }
  if constexpr (!std::is_void_v<typename Method::Finish>) {
    using Finish = typename Method::Finish;
    plan.carried |= loaded_by<Finish> & ~plan.changed;
    plan.changed |= changed_by<Finish>;
    plan.on_chip |= loaded_by<Finish> | changed_by<Finish>;
    plan.most_sums = Finish::sums.count > plan.most_sums ? Finish::sums.count : plan.most_sums;
  }
  plan.on_chip &= ~plan.gathered;
  // An iteration begins after a sum: its last phase is a pass that has one.
  VectorSet written = 0, in_use = 0;
  bool apart = false;  // whether a block's threads may be at different phases
  bool after_product = false;
  for (int k = 0; k < plan.phases; ++k) {
    ResidentPhase& phase = plan.phase[k];
    if (phase.postponed) continue;
    phase.meets_grid = (phase.gathers & written) != 0;
    // A row is on the same thread in all passes, but on another one in a product.
    phase.meets_block = !phase.meets_grid && apart && (phase.product || after_product);
    if (phase.meets_grid) written = in_use = 0;
    in_use |= phase.gathers;
    phase.turns = phase.writes & in_use;
    plan.doubled |= phase.turns;
    in_use &= ~phase.turns;
    written |= phase.writes & plan.gathered;
    apart = phase.sums == 0;
    after_product = phase.product;
    if (phase.sums > 0) written = in_use = 0;
  }
  return plan;
}

/// Whether runs of a method may imply M^-1 r: a product gathers it as it is, and whatever writes r preconditions it.
template <class Method>
constexpr bool may_imply() {
  constexpr Precondition M = preconditioned_in<Method>();
  bool gathers = false, renews = true;
  Method::Iteration::for_each([&]<class Phase>(int) {
    if constexpr (is_product<Phase>)
      gathers = gathers || Phase::of == M.to;
    else if (contains(Phase::writes, M.from))
      renews = renews && Phase::M.from == M.from && Phase::M.to == M.to;
  });
  return gathers && renews;
}

/// The most of something over all methods that have a resident form: of(schedule, whether the recurrence is that of another method).
template <class V, class Of>
constexpr int most_of_methods(const Of& of) {
  int most = 0;
  Methods<V>::for_each([&]<class Method>(int) {
    if constexpr (transposes<Method>) return;
    using Recurrence = typename OneLaunchOf<Method>::Recurrence;
    const int own = of(resident_schedule<Method>(), false);
    const int other = of(resident_schedule<Recurrence>(), !std::is_same_v<Recurrence, Method>);
    most = std::max({most, own, other});
  });
  return most;
}
/// Vectors besides its own that a method needs at most: a recurrence of another method has one that is not among them.
template <class V>
inline constexpr int most_seconds = most_of_methods<V>([](const ResidentSchedule& plan,
                                                          bool of_another) {
  return count(plan.doubled) + of_another;
});
/// Sums that a barrier takes at most.
template <class V>
inline constexpr int most_barrier_sums = most_of_methods<V>([](const ResidentSchedule& plan, bool) {
  return plan.most_sums;
});

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
