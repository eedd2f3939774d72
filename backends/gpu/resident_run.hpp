#pragma once

#include <gpu/grid_barrier.hpp>
#include <gpu/preconditioner.hpp>
#include <gpu/resident_rows.hpp>
#include <gpu/resident_schedule.hpp>
#include <gpu/run_state.hpp>

// A whole run in one launch, for any method. Each block owns a range of units of the matrix for good and keeps its
// rows of the vectors in shared memory, as many of them as there is room for; only what other blocks gather goes
// through memory. Where the blocks wait for each other is in gpu/resident_schedule.hpp: at the sums of the iteration,
// and seldom more.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// The operand of a product, formed by the statements of a pass while it is gathered: no kernel of its own, no pass
/// over memory, no barrier.
template <class V, class Pass, int operand>
struct FormedVector {
  Pass pass;
  MethodVectors<V> v;
  CNC_GPU_DEVICE V operator()(index_t i) const {
    Row<V> row{};
    for_vectors<Pass::operand_reads>([&](auto k) { row[k] = v[k][i]; });
    pass(row);
    return row[operand];
  }
};

/// implies: M is one number, by which r is multiplied wherever M^-1 r is read; that vector is there before a run and after it.
template <int wave, class Rows, class V, class Method, bool implies>
struct ResidentRun : ResidentRows<Rows> {
  static constexpr ResidentSchedule schedule = resident_schedule<Method, implies>();
  static constexpr Precondition preconditioned_by = preconditioned_in<Method>();
  static_assert(!implies || may_imply<Method>());
  static constexpr int chip_vectors = count(schedule.on_chip);
  static constexpr int seconds = count(schedule.doubled);
  static constexpr int gathered_vectors = count(schedule.gathered) + seconds;
  using Barrier = GridBarrier<schedule.most_sums>;
  /// Whether its runs may be those of another method, which knows fewer scalars.
  static constexpr bool completes = requires(MethodScalars s) { Method::complete(s); };

  using Own = ResidentRows<Rows>;
  using Own::rows, Own::n, Own::layout, Own::range, Own::for_own, Own::multiply_own;
  using typename Own::Range;

  PreconditionerOperand<V> M;
  MethodVectors<V> v;
  V* second[seconds > 0 ? seconds : 1];  ///< of the vectors that there are two of

  /// What a thread knows of the run. All threads of all blocks know the same.
  struct State {
    Range range;
    MethodScalars s;
    RunState run;
    Barrier barrier;
    V* now[seconds > 0 ? seconds : 1];
    V* next[seconds > 0 ? seconds : 1];
    /// The block's rows of the vectors that may be on chip, then of 1/diag: worked out once, because an address
    /// that is chosen again at every access costs up to a tenth of an iteration.
    V* chip[chip_vectors + 1];
  };

  // --- where the vectors are --------------------------------------------------------------------------------

  template <int vector>
  static constexpr int place_on_chip = schedule.place_on_chip(vector);
  template <int vector>
  static constexpr int place_of_second = schedule.place_of_second(vector);

  CNC_GPU_DEVICE bool is_on_chip(int place) const { return place < layout.on_chip; }
  /// Rows that follow each other go by their place in memory too.
  CNC_GPU_DEVICE V* find(int place, V* in_memory, const Range& rows_here) const {
    if (is_on_chip(place)) return dynamic_shared<V>() + place * layout.rows_per_block;
    return Rows::consecutive ? in_memory + rows.first_row(rows_here.begin) : in_memory;
  }
  CNC_GPU_DEVICE OwnRows<V> on_chip_or_memory(int place, const State& t) const {
    return {t.chip[place], Rows::consecutive || is_on_chip(place)};
  }
  /// The block's rows of a vector as they are.
  template <int vector>
  CNC_GPU_DEVICE OwnRows<V> own(const State& t) const {
    if constexpr (contains(schedule.doubled, vector))
      return {t.now[place_of_second<vector>], false};
    else if constexpr (contains(schedule.on_chip, vector))
      return on_chip_or_memory(place_on_chip<vector>, t);
    else
      return {v[vector], false};
  }
  /// The same where a phase writes them that changes over to the other one of `turns`.
  template <int vector, VectorSet turns>
  CNC_GPU_DEVICE OwnRows<V> own_after(const State& t) const {
    if constexpr (contains(turns, vector))
      return {t.next[place_of_second<vector>], false};
    else
      return own<vector>(t);
  }
  template <int vector>
  static constexpr bool is_implied = implies&& vector == preconditioned_by.to;
  /// 1/M where M is one number.
  CNC_GPU_DEVICE V scale() const {
    return M.kind == PreconditionerKind::jacobi && M.uniform ? M.inverse[0] : V(1);
  }
  /// The value of a row as it is.
  template <int vector>
  CNC_GPU_DEVICE V value(const State& t, V scale, index_t place, index_t row) const {
    if constexpr (is_implied<vector>)
      return scale * own<preconditioned_by.from>(t)(place, row);
    else
      return own<vector>(t)(place, row);
  }
  CNC_GPU_DEVICE OwnRows<V> own_inverse(const State& t) const {
    return on_chip_or_memory(chip_vectors, t);
  }
  /// Whether 1/diag is read by the row.
  CNC_GPU_DEVICE bool has_diagonal() const {
    return M.kind == PreconditionerKind::jacobi && !M.uniform;
  }
  template <VectorSet turns>
  CNC_GPU_DEVICE void take_turns(State& t) const {
    for_vectors<turns>([&](auto k) {
      constexpr int place = place_of_second<k>;
      V* const old = t.now[place];
      t.now[place] = t.next[place];
      t.next[place] = old;
    });
  }

  CNC_GPU_DEVICE void load(const State& t) const {
    for_own(t.range, [&](index_t place, index_t row) {
      for_vectors<(schedule.on_chip & schedule.carried)>([&](auto k) {
        if (is_on_chip(place_on_chip<k>)) own<k>(t)(place, row) = v[k][row];
      });
      if (is_on_chip(chip_vectors) && has_diagonal()) own_inverse(t)(place, row) = M.inverse[row];
    });
    block_barrier();
  }

  /// Vectors that a later run goes on from return to their places.
  CNC_GPU_DEVICE void store(const State& t) const {
    block_barrier();
    for_own(t.range, [&](index_t place, index_t row) {
      for_vectors<(schedule.on_chip & schedule.carried & schedule.changed)>([&](auto k) {
        if (is_on_chip(place_on_chip<k>)) v[k][row] = own<k>(t)(place, row);
      });
      for_vectors<(schedule.doubled & schedule.carried)>([&](auto k) {
        const V* const latest = t.now[place_of_second<k>];
        if (latest != v[k]) v[k][row] = latest[row];
      });
      if constexpr (implies)
        v[preconditioned_by.to][row] = scale() * own<preconditioned_by.from>(t)(place, row);
    });
  }

  // --- phases -----------------------------------------------------------------------------------------------

  /// The scalar step of a pass; false if the run is over. The same decision on every thread.
  template <class Pass>
  CNC_GPU_DEVICE bool begin(State& t, MethodScalars& begun) const {
    begun = begin_pass<Pass>(t.s);
    t.s.breakdown = begun.breakdown;
    return begun.breakdown == Breakdown::none;
  }

  template <class Pass, VectorSet turns>
  CNC_GPU_DEVICE bool pass_phase(State& t) const {
    MethodScalars begun;
    if (!begin<Pass>(t, begun)) return false;
    const Pass pass(begun);
    SumsOf<Pass> add;
    constexpr bool preconditions = Pass::M.active();
    constexpr int from = Pass::M.from, to = Pass::M.to;
    const bool by_row = has_diagonal();
    const V scale = this->scale();
    const bool whole_blocks =
        preconditions && !implies && M.kind == PreconditionerKind::block_jacobi;
    const auto finish_row = [&](Row<V>& values, index_t place, index_t row, V z) {
      if constexpr (preconditions) {
        values[to] = z;
        if constexpr (!is_implied<to>) own_after<to, turns>(t)(place, row) = z;
      }
      pass.sums_of(values, add);
    };
    for_own(t.range, [&](index_t place, index_t row) {
      Row<V> values{};
      for_vectors<loaded_by<Pass>>([&](auto k) { values[k] = value<k>(t, scale, place, row); });
      pass(values);
      for_vectors<Pass::writes>([&](auto k) { own_after<k, turns>(t)(place, row) = values[k]; });
      if (whole_blocks) return;
      V z = 0;
      if constexpr (preconditions) z = (by_row ? own_inverse(t)(place, row) : scale) * values[from];
      finish_row(values, place, row, z);
    });
    if constexpr (preconditions)
      if (whole_blocks) {
        block_barrier();
        const OwnRows<V> r = own_after<from, turns>(t);
        for_own(t.range, [&](index_t place, index_t row) {
          // Neighbours of a block of the preconditioner are neighbours on chip and in memory alike.
          const V z = preconditioned(M, n, row, [&](index_t j) { return r(place + (j - row), j); });
          Row<V> values{};
          for_vectors<(Pass::summed & ~set_of(to))>(
              [&](auto k) { values[k] = own_after<k, turns>(t)(place, row); });
          finish_row(values, place, row, z);
        });
        if constexpr (Pass::sums.count == 0) block_barrier();  // neighbours may still be read
      }
    if constexpr (Pass::sums.count > 0) t.barrier.template sum<wave>(add.sums);
    if constexpr (stores_scalars<Pass>) {
      end_pass<Pass>(begun, add.sums);
      t.s = begun;
    }
    take_turns<turns>(t);
    return true;
  }

  /// Takes the results of a product for this block's rows; does the postponed pass for them first.
  template <class Pass, class Product, VectorSet turns>
  struct Sink {
    const ResidentRun& it;
    const State& t;
    const Pass& pass;
    V scale;
    int unit_rows;
    double dots[Product::dots > 0 ? Product::dots : 1] = {};

    CNC_GPU_DEVICE void operator()(index_t unit, int r, index_t row, V sum) {
      const index_t place = (unit - t.range.begin) * unit_rows + r;
      Row<V> values{};
      constexpr bool passes = !std::is_void_v<typename Pass::Is>;
      if constexpr (passes) {
        using Is = typename Pass::Is;
        for_vectors<Is::reads>(
            [&](auto k) { values[k] = it.template value<k>(t, scale, place, row); });
        pass.pass(values);
        for_vectors<Is::writes>(
            [&](auto k) { it.template own_after<k, turns>(t)(place, row) = values[k]; });
      }
      if constexpr (Product::dots > 0) {
        constexpr int with = Product::with[0];
        V other = sum;
        if constexpr (with != Product::to) {
          if constexpr (contains(Pass::changes, with))
            other = values[with];
          else
            other = it.template value<with>(t, scale, place, row);
        }
        dots[0] += double(other) * double(sum);
      }
      it.template own_after<Product::to, turns>(t)(place, row) = sum;
      if constexpr (Product::dots > 1) dots[1] += double(sum) * double(sum);
    }
  };

  /// A pass that a product does on the way, or none.
  struct NoPass {
    using Is = void;
    static constexpr VectorSet changes = 0;
  };
  template <class P>
  struct PostponedPass {
    using Is = P;
    static constexpr VectorSet changes = P::writes;
    P pass;
  };

  template <class Pass, class Product, VectorSet turns, class X>
  CNC_GPU_DEVICE void product_phase(State& t, const Pass& pass, const X& x) const {
    Sink<Pass, Product, turns> sink{*this, t, pass, scale(), rows.unit_rows()};
    // Every other time backwards: what was read last is still in the cache.
    multiply_own(t.range, t.run.iterations % 2 == 1, x, sink);
    if constexpr (Product::dots > 0) {
      t.barrier.template sum<wave>(sink.dots);
      t.s[Product::scalar[0]] = sink.dots[0];
      if constexpr (Product::dots > 1) t.s[Product::scalar[1]] = sink.dots[1];
    }
    take_turns<turns>(t);
  }

  /// Phase k of an iteration; false if the run is over.
  template <int k, class... Phase>
  CNC_GPU_DEVICE bool phase(State& t) const {
    constexpr ResidentPhase how = schedule.phase[k];
    using This = std::tuple_element_t<k, std::tuple<Phase...>>;
    if constexpr (how.postponed) return true;
    if constexpr (how.meets_grid) t.barrier.meet();
    if constexpr (how.meets_block) block_barrier();
    if constexpr (how.forms) {
      static_assert(!implies);
      using Before = std::tuple_element_t<k - 1, std::tuple<Phase...>>;
      MethodScalars begun;
      if (!begin<Before>(t, begun)) return false;
      const PostponedPass<Before> pass{Before(begun)};
      MethodVectors<V> gathered;
      for_vectors<how.gathers>([&](auto j) { gathered.at[j] = own<j>(t).data; });
      product_phase<PostponedPass<Before>, This, how.turns>(
          t, pass, FormedVector<V, Before, This::of>{pass.pass, gathered});
      return true;
    } else if constexpr (how.product) {
      if constexpr (is_implied<This::of>)
        product_phase<NoPass, This, how.turns>(
            t, NoPass(), ScaledVector<V>{own<preconditioned_by.from>(t).data, scale()});
      else
        product_phase<NoPass, This, how.turns>(t, NoPass(),
                                               WrittenVector<V>{own<This::of>(t).data});
      return true;
    } else if constexpr (!how.postponed) {
      return pass_phase<This, how.turns>(t);
    }
  }
  template <class... Phase, int... k>
  CNC_GPU_DEVICE bool all_phases(State& t, Phases<Phase...>,
                                 std::integer_sequence<int, k...>) const {
    return (phase<k, Phase...>(t) && ...);
  }

  CNC_GPU_DEVICE void iterate(MethodScalars* scalars, const RunState& run, RunOutcome* outcome,
                              const Barrier& barrier) const {
    using Iteration = typename Method::Iteration;
    State t{range(), {}, run, barrier, {}, {}, {}};
    copy_scalars(*scalars, t.s);
    const bool begins = !run_is_over(run, t.s);
    if constexpr (completes)
      if (begins && t.s.first == 0) Method::complete(t.s);
    // The others would be in registers all the way for nothing.
    for (int k = Method::scalars; k < max_method_scalars; ++k) t.s[k] = 0;
    for_vectors<schedule.doubled>([&](auto k) {
      t.now[place_of_second<k>] = v[k];
      t.next[place_of_second<k>] = second[place_of_second<k>];
    });
    for_vectors<schedule.on_chip>(
        [&](auto k) { t.chip[place_on_chip<k>] = find(place_on_chip<k>, v[k], t.range); });
    if (M.kind == PreconditionerKind::jacobi)
      t.chip[chip_vectors] = find(chip_vectors, const_cast<V*>(M.inverse), t.range);
    load(t);
    while (!run_is_over(t.run, t.s)) {
      if (!all_phases(t, Iteration(), std::make_integer_sequence<int, Iteration::size>())) break;
      if (block_index() == 0 && thread_index() == 0)
        log_iteration<typename Iteration::Last>(t.s, t.run.iterations, t.run.history,
                                                t.run.energy_gains);
      ++t.run.iterations;
    }
    // Nobody may still be about to read the scalars when they change.
    if (t.barrier.barriers == barrier.barriers) t.barrier.meet();
    if constexpr (!std::is_void_v<typename Method::Finish>)
      pass_phase<typename Method::Finish, 0>(t);
    store(t);
    if (block_index() == 0 && thread_index() == 0) {
      if constexpr (completes)
        if (begins) Method::close(t.s);
      copy_scalars(t.s, *scalars);
      copy_scalars(t.s, outcome->scalars);
      outcome->iterations = t.run.iterations;
      outcome->began = begins;
    }
  }
};

template <int threads, class Run>
CNC_GPU_KERNEL(threads)
resident_kernel(Run it, MethodScalars* scalars, RunState run, RunOutcome* outcome,
                typename Run::Barrier barrier) {
  it.iterate(scalars, run, outcome, barrier);
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
