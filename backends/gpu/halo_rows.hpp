#pragma once

#include <gpu/halo_load.hpp>

#include <tuple>

// What runs with one meeting of the grid per product have in common: the rows of a block and of its halo on chip, the matrix scaled by
// its diagonal, a product of own rows, what others are told of it and what comes from them.
//
// Each block owns a part of the matrix (src/parts/), keeps the method's `halo` vectors of the rows around it too and does to them what
// their owner does. For that it has to be told results of products there: they go across the grid in words that carry their
// epoch, and sums are under way with them (gpu/stamped.hpp).
//
// D^2 is the Jacobi preconditioner, one over the diagonal; without a preconditioner D is the identity. Methods for symmetric matrices
// run on D A D, for which D has to be real: vectors of the kind of the residual, which are those of the halo, are D times those of
// the caller, all others D^-1 times. Other methods run on A D^2, that is preconditioned from the right, where D^2 may have any sign:
// vectors are those of the caller, and M^-1 of one is never formed, because it is in the columns of the matrix. With Jacobi the
// diagonal is ones in both, and not read. What a run adds to x is kept apart from it and is multiplied by D or D^2 in the end.
//
// Among devices that reach each other's memory the halo has rows of theirs too: results there come in words that their owners write
// here. The sums of a device, which its blocks know, become those of all in a second step. Everything else is as on one.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Phase k of some.
template <int k, class>
struct PhaseAt;
template <int k, class... Phase>
struct PhaseAt<k, Phases<Phase...>> {
  using Is = std::tuple_element_t<k, std::tuple<Phase...>>;
};

/// What the first wave decides for the block.
struct HaloControl {
  KeptScalars scalars;
  Breakdown breakdown;
  index_t iterations;
  bool begun;  ///< an iteration whose sums are not known yet
  bool over;
  bool unfit;

  CNC_GPU_DEVICE MethodScalars scalars_of(int count) const {
    MethodScalars s = scalars.get();
    // The others would be in registers for nothing.
    for (int k = count; k < max_method_scalars; ++k) s[k] = 0;
    return s;
  }
  CNC_GPU_DEVICE void set(const MethodScalars& s, bool is_over) {
    scalars.set(s);
    breakdown = s.breakdown;
    over = is_over;
  }
};

template <int wave, int per_thread, class V, class Method, bool among>
struct HaloRows : HaloLoad<wave, per_thread, V, Method, among> {
  using OnChip = HaloPart<wave, per_thread, V, Method, among>;
  using OnChip::for_own, OnChip::tell, OnChip::find, OnChip::wait_for, OnChip::meet;
  using OnChip::unit_diagonal, OnChip::words, OnChip::word_count, OnChip::holds;
  using typename OnChip::State;

  /// The matrix times what is gathered, to take(k, local number, gathered there, result) for own rows; others are told at once.
  template <class Take>
  CNC_GPU_DEVICE void multiply(const State& t, std::uint32_t epoch, const Take& take_result) const {
    // Rows side by side: while one waits for what it gathers, the next ones do.
    V even[per_thread], odd[per_thread];
    index_t most = 0;
    CNC_GPU_UNROLL
    for (int k = 0; k < per_thread; ++k) {
      even[k] = odd[k] = 0;
      most = t.groups[k] > most ? t.groups[k] : most;
    }
    const auto add = [&](int k, const EntryPair<V>& a, std::uint32_t columns) {
      even[k] += a.first * t.gathered[columns & 0xffff];
      odd[k] += a.second * t.gathered[columns >> 16];
    };
    CNC_GPU_UNROLL
    for (int g = 0; g < holds; ++g) {
      CNC_GPU_UNROLL
      for (int k = 0; k < per_thread; ++k)
        if (g < t.groups[k]) add(k, t.held[k][g], t.held_columns[k][g]);
    }
    CNC_GPU_UNROLL_BY(2)
    for (index_t g = holds; g < most; ++g) {
      CNC_GPU_UNROLL
      for (int k = 0; k < per_thread; ++k) {
        const index_t pair = t.first[k] + g * part_lanes;
        if (g < t.groups[k]) add(k, t.matrix[pair], t.columns[pair]);
      }
    }
    StampedWord<V>* const to = words + offset_t(epoch % 2) * word_count;
    for_own(t, [&](int k, index_t local) {
      const V own = t.gathered[local];
      const V sum = (unit_diagonal ? own + even[k] : even[k]) + odd[k];
      if (t.exports[local] >= 0) to[t.exports[local]].store(sum, epoch);
      tell(t, local, sum, epoch);
      take_result(k, local, own, sum);
    });
  }

  /// Results of the halo, by all waves but the first.
  CNC_GPU_DEVICE void receive(const State& t, V* to, std::uint32_t epoch) const {
    constexpr int at_once = 4;
    constexpr index_t threads = tuning::halo_threads - wave;
    for (index_t first = thread_index() - wave; first < t.part.halo; first += at_once * threads) {
      V value[at_once];
      const bool came = wait_for([&] {
        bool here = true;
        CNC_GPU_UNROLL
        for (int j = 0; j < at_once; ++j) {
          const index_t i = first + j * threads;
          if (i < t.part.halo) here &= find(t, i, value[j], epoch);
        }
        return here;
      });
      CNC_GPU_UNROLL
      for (int j = 0; j < at_once; ++j) {
        const index_t i = first + j * threads;
        if (i < t.part.halo) to[i] = came ? value[j] : never_came<V>;
      }
    }
  }
  /// The meeting of a product: decide(sums over the grid), by the first wave, while the others fetch the results of the halo.
  template <class Decide>
  CNC_GPU_DEVICE void meet_over_results(const State& t, double (&share)[StampedSums::sums], V* to,
                                        std::uint32_t epoch, const Decide& decide) const {
    StampedSums::leave<wave>(share);
    if (thread_index() < wave) {
      meet(t, share, epoch);
      decide(share);
    } else {
      receive(t, to, epoch);
    }
    block_barrier();
  }

  /// Ends an iteration by the two sums of its last pass; begin(s) are the scalars after the step that follows, if the run goes on.
  /// By the first wave.
  template <class Last, class Begin>
  CNC_GPU_DEVICE void decide(HaloControl& control, const RunState& limits, double first_sum,
                             double second_sum, bool unfit, const Begin& begin) const {
    MethodScalars s = control.scalars_of(Method::scalars);
    RunState run = limits;
    run.iterations = control.iterations;
    if (control.begun) {
      const double sums_of_pass[2] = {first_sum, second_sum};
      end_pass<Last>(s, sums_of_pass);
      if (block_index() == 0 && thread_index() == 0)
        log_iteration<Last>(s, run.iterations, run.history, run.energy_gains);
      ++run.iterations;
    }
    bool over = unfit || run_is_over(run, s);
    if (!over) {
      const MethodScalars begun = begin(s);
      s.breakdown = begun.breakdown;
      over = s.breakdown != Breakdown::none;
      if (!over) s = begun;
    }
    wave_barrier<wave>();
    if (thread_index() == 0) {
      control.set(s, over);
      control.iterations = run.iterations;
      control.begun = true;
      control.unfit = unfit;
    }
  }
};

/// A run in parts, of either kind.
template <class Run>
CNC_GPU_DEVICE void run_in_parts(const Run& it, MethodScalars* scalars, const RunState& run,
                                 RunOutcome* outcome, std::uint32_t epoch) {
  using Method = typename Run::Recurrence;
  CNC_GPU_SHARED HaloControl control;
  const std::uint32_t first_epoch = epoch;
  MethodScalars s;
  copy_scalars(*scalars, s);
  const bool nothing = run_is_over(run, s);
  if (!nothing) {
    if constexpr (requires { Method::complete(s); })
      if (s.first == 0) Method::complete(s);
    typename Run::State t;
    it.take_part_in_peers(t, epoch);
    it.lay_out(t);
    const bool fit = it.load_matrix(t);
    if (thread_index() == 0) {
      control.scalars.set(s);
      control.iterations = 0;
      control.begun = false;
      control.unfit = !fit;
    }
    end_copies();
    block_barrier();
    it.load_vectors(t, s.first != 0, epoch);
    // On one device all blocks have the same answer, which need not go into the loop.
    if constexpr (Run::is_among)
      it.iterate(t, control, run, fit, epoch);
    else if (fit)
      it.iterate(t, control, run, true, epoch);
    if (control.iterations > 0) it.store(t);
  }
  if (!nothing) it.count_epochs(epoch - first_epoch);
  if (block_index() != 0 || thread_index() != 0) return;
  it.notes->meetings = epoch - first_epoch;
  it.notes->unfit = !nothing && control.unfit;
  if (!nothing && !control.unfit) {
    s = control.scalars.get();
    s.breakdown = control.breakdown;
    if constexpr (requires { Method::close(s); }) Method::close(s);
    copy_scalars(s, *scalars);
  }
  copy_scalars(s, outcome->scalars);
  outcome->iterations = nothing ? 0 : control.iterations;
  outcome->began = !nothing;
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
