#pragma once

#include <gpu/halo_rows.hpp>

// A whole run in one launch of methods for any matrix whose iteration has two products, with one meeting of the grid for each of them
// (gpu/halo_rows.hpp). The sums of the iteration's last pass come with the first product of the next; what the pass before that product
// needs of them is foretold from sums of the second.
//
// What a product gathers is a vector after a pass, in a place of its own: so vectors of own rows that an iteration ends with stay until it
// is known that another follows.

namespace cnc::gpu::inline CNC_GPU_TARGET {

template <int wave, int per_thread, class V, class Method, bool among>
struct HaloRunOfTwo : HaloRows<wave, per_thread, V, Method, among> {
  using Rows = HaloRows<wave, per_thread, V, Method, among>;
  using Rows::v, Rows::for_own, Rows::row_of, Rows::scale_of;
  using typename Rows::State;
  template <int k>
  using Phase = typename PhaseAt<k, typename Method::Iteration>::Is;
  using Direction = Phase<0>;
  using First = Phase<1>;
  using HalfStep = Phase<2>;
  using Second = Phase<3>;
  using Update = Phase<4>;
  using Foretold = typename Method::Foretold;
  static constexpr int r = HalfStep::M.from, p = Direction::M.from, x = Method::x;
  static constexpr int of_first = First::to, of_second = Second::to, shadow = First::with[0];
  static_assert(!Rows::symmetric && Method::halo == set_of(r, p, of_first));
  static_assert(First::of == Direction::M.to && Second::of == HalfStep::M.to);
  static_assert(First::dots == 1 && Second::dots == 2 && Second::with[0] == r);
  /// In State::of_halo.
  template <int vector>
  static constexpr int place = vector == r   ? 0
                               : vector == p ? 1
                                             : 2;

  CNC_GPU_DEVICE void load_vectors(State& t, bool first, std::uint32_t& epoch) const {
    typename Rows::OwnRows rows;
    this->load_rows(t, rows);
    const auto zero_or = [&](auto vector, bool exists) {
      for (V& value : t.own[vector]) value = 0;
      if (exists)
        this->load_own(t, rows, vector, [&](int k, index_t, V value) { t.own[vector][k] = value; });
    };
    zero_or(std::integral_constant<int, x>(), false);
    this->load_own(t, rows, shadow,
                   [&](int, index_t local, V value) { t.constant[local] = value; });
    for_vectors<Method::halo>([&](auto vector) {
      const bool exists = vector == r || !first;
      V* const of_halo = t.of_halo[place<vector>];
      zero_or(vector, exists);
      if (exists)
        this->load_halo(t, vector, of_halo);
      else
        this->for_share(t.part.halo, [&](int, index_t i) { of_halo[i] = 0; });
    });
    block_barrier();
    if constexpr (among)
      for_vectors<Method::halo>([&](auto vector) {
        if (vector == r || !first)
          this->share_with_peers(
              t, epoch, [&](int k, index_t) { return t.own[vector][k]; },
              [&](index_t i, V value) { t.of_halo[place<vector>][i] = value; });
      });
  }

  CNC_GPU_DEVICE void store(const State& t) const {
    for_own(t, [&](int k, index_t local) {
      const index_t row = row_of(t, local);
      v[x][row] += scale_of(t, local) * t.own[x][k];
      for_vectors<Method::halo>([&](auto vector) { v[vector][row] = t.own[vector][k]; });
    });
  }

  /// The row's values before a pass, preconditioned ones being the same.
  template <class Read>
  static CNC_GPU_DEVICE Row<V> row_before(const Read& read) {
    Row<V> row{};
    for_vectors<Method::halo>([&](auto vector) { row[vector] = read(vector); });
    return row;
  }

  /// What a product gathers: a vector after the pass before it, of own rows after prepare(k, local number).
  template <int vector, class Pass, class Prepare>
  CNC_GPU_DEVICE void gather_after(State& t, const Pass& pass, const Prepare& prepare) const {
    for_own(t, [&](int k, index_t local) {
      prepare(k, local);
      Row<V> row = row_before([&](auto before) { return t.own[before][k]; });
      pass(row);
      t.gathered[local] = row[vector];
    });
    for (index_t i = thread_index(); i < t.part.halo; i += block_threads()) {
      Row<V> row = row_before([&](auto before) { return t.of_halo[place<before>][i]; });
      pass(row);
      t.gathered[t.part.own + i] = row[vector];
      if constexpr (vector == p) t.of_halo[place<p>][i] = row[p];
    }
  }
  CNC_GPU_DEVICE void direct(State& t, const MethodScalars& s) const {
    gather_after<p>(t, Direction(s), [](int, index_t) {});
  }
  /// Results of the second product in the halo take the place of r there, which then is in `gathered`.
  CNC_GPU_DEVICE void step_half(State& t, const MethodScalars& s) const {
    gather_after<r>(t, HalfStep(s), [&](int k, index_t local) {
      t.own[p][k] = t.gathered[local];
      t.own[of_first][k] = t.own[of_second][k];
    });
  }

  CNC_GPU_DEVICE void update(State& t, const MethodScalars& s) const {
    const Update pass(s);
    for_own(t, [&](int k, index_t local) {
      Row<V> row{};
      row[x] = t.own[x][k];
      row[First::of] = t.own[p][k];
      row[r] = row[Second::of] = t.gathered[local];
      row[of_second] = t.own[of_second][k];
      pass(row);
      t.own[x][k] = row[x];
      t.own[r][k] = row[r];
    });
    for (index_t i = thread_index(); i < t.part.halo; i += block_threads()) {
      Row<V> row{};
      V& of_r = t.of_halo[place<r>][i];
      row[r] = row[Second::of] = t.gathered[t.part.own + i];
      row[of_second] = of_r;
      pass(row);
      of_r = row[r];
    }
  }

  /// The end of an iteration, whose last sums come with the first product of the next, and the scalar step of that product.
  CNC_GPU_DEVICE void decide_on_iteration(HaloControl& control, const RunState& limits,
                                          const double (&total)[StampedSums::sums]) const {
    this->template decide<Update>(
        control, limits, total[1], total[2], total[3] != 0, [&](MethodScalars& s) {
          s[First::scalar[0]] = total[0];
          const MethodScalars begun = begin_pass<Direction>(s);
          return begun.breakdown == Breakdown::none ? begin_pass<HalfStep>(begun) : begun;
        });
  }

  /// The scalar step of the last pass, and what its sums will be. By the first wave.
  CNC_GPU_DEVICE void decide_on_update(HaloControl& control,
                                       const double (&total)[StampedSums::sums]) const {
    MethodScalars s = control.scalars_of(Method::scalars);
    s[Second::scalar[0]] = total[0];
    s[Second::scalar[1]] = total[1];
    const MethodScalars begun = begin_pass<Update>(s);
    s.breakdown = begun.breakdown;
    const bool over = s.breakdown != Breakdown::none;
    if (!over) {
      s = begun;
      const double foretold[] = {total[2], total[3]};
      Foretold::take(s, foretold);
    }
    wave_barrier<wave>();
    if (thread_index() == 0) control.set(s, over);
  }

  /// Sums of a product, in the order of the two deciders.
  CNC_GPU_DEVICE void add_sums(const State& t, bool second, int k, index_t local, V gathered, V sum,
                               AddProducts<StampedSums::sums>& add) const {
    Row<V> row{};
    row[shadow] = t.constant[local];
    if (second) {
      row[r] = gathered;
      row[of_second] = sum;
      add(0, row[r], sum);
      add(1, sum, sum);
      const auto foretold = [&](int j, V a, V b) { add(2 + j, a, b); };
      Foretold::sums_of(row, foretold);
    } else {
      row[r] = t.own[r][k];
      add(0, row[shadow], sum);
      const auto last = [&](int j, V a, V b) { add(1 + j, a, b); };
      Update::sums_of(row, last);
    }
  }

  CNC_GPU_DEVICE void iterate(State& t, HaloControl& control, const RunState& limits, bool fit,
                              std::uint32_t& epoch) const {
    // Both products go through the same code, of which there would be too much otherwise.
    for (bool second = false;; second = !second) {
      if (second)
        step_half(t, control.scalars.get());
      else
        direct(t, control.scalars.get());
      block_barrier();
      ++epoch;
      AddProducts<StampedSums::sums> add;
      if (!second) add.sums[3] = fit ? 0.0 : 1.0;
      this->multiply(t, epoch, [&](int k, index_t local, V gathered, V sum) {
        add_sums(t, second, k, local, gathered, sum, add);
        t.own[of_second][k] = sum;
      });
      V* const of_result = second ? t.of_halo[place<r>] : t.of_halo[place<of_first>];
      this->meet_over_results(t, add.sums, of_result, epoch,
                              [&](const double(&total)[StampedSums::sums]) {
                                if (second)
                                  decide_on_update(control, total);
                                else
                                  decide_on_iteration(control, limits, total);
                              });
      if (control.over) break;
      if (second) update(t, control.scalars.get());
    }
  }
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
