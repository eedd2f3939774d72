#pragma once

#include <gpu/halo_rows.hpp>

// A whole run in one launch with one meeting of the grid per iteration, for methods with one product and one sum in it that say which
// vectors their halo needs (gpu/halo_rows.hpp): the residual and one more.
//
// The run's residual is D times the caller's, so r . r of the caller's is a sum weighted by D^-2.
//
// The loop is kept short: waves go through it once per meeting, and code that they have to wait for shows.

namespace cnc::gpu::inline CNC_GPU_TARGET {

template <int wave, int per_thread, class V, class Method, bool among>
struct HaloRun : HaloRows<wave, per_thread, V, Method, among> {
  using Rows = HaloRows<wave, per_thread, V, Method, among>;
  using Rows::v, Rows::for_own, Rows::for_share;
  using typename Rows::State;
  using Iteration = typename Method::Iteration;
  using Update = typename Iteration::Last;
  using Product = typename PhaseAt<0, Iteration>::Is;
  static constexpr int r = Update::M.from, z = Update::M.to, q = Product::to, x = Method::x;
  /// Of own rows in registers.
  static constexpr VectorSet kept = (Update::reads | Update::writes) & ~set_of(r, z, q);
  /// Of the halo besides r, which is what is gathered; the other of its vectors is q.
  static constexpr VectorSet beside = Method::halo & ~set_of(r);
  static_assert(Rows::symmetric && Product::of == z && contains(Method::halo, r));
  static_assert(count(beside) == 1 && Rows::halo_vectors == 2);
  static CNC_GPU_DEVICE V* of_beside(const State& t) { return t.of_halo[0]; }
  static CNC_GPU_DEVICE V* of_q(const State& t) { return t.of_halo[1]; }

  CNC_GPU_DEVICE void load_vectors(State& t, bool first, std::uint32_t& epoch) const {
    for_own(t, [&](int, index_t local) {
      const double d = double(t.gathered[local]);
      t.constant[local] = static_cast<V>(1 / (d * d));  // of r r in the caller's r . r
    });
    typename Rows::OwnRows rows;
    this->load_rows(t, rows);
    // Vector by vector, since registers are held all the way: r last, in whose place D is.
    for_vectors<beside>([&](auto k) {
      if (first)
        for_share(t.part.halo, [&](int, index_t i) { of_beside(t)[i] = 0; });
      else
        this->load_halo(t, k, of_beside(t));
    });
    this->load_halo(t, r, t.gathered + t.part.own);
    for_vectors<kept>([&](auto j) {
      for (V& value : t.own[j]) value = 0;
      if (first || j == x) return;
      this->load_own(t, rows, j, [&](int k, index_t local, V value) {
        const V d = t.gathered[local];
        t.own[j][k] = contains(Method::halo, j) ? d * value : value / d;
      });
    });
    this->load_own(t, rows, r, [&](int, index_t local, V value) { t.gathered[local] *= value; });
    block_barrier();
    if constexpr (among) {
      this->share_with_peers(
          t, epoch, [&](int, index_t local) { return t.gathered[local]; },
          [&](index_t i, V value) { t.gathered[t.part.own + i] = value; });
      for_vectors<beside>([&](auto j) {
        if (!first)
          this->share_with_peers(
              t, epoch, [&](int k, index_t) { return t.own[j][k]; },
              [&](index_t i, V value) { of_beside(t)[i] = value; });
      });
    }
  }

  CNC_GPU_DEVICE void store(const State& t) const {
    const index_t first_row = this->parts.part[block_index()].first_row;  // not kept all the way
    for_own(t, [&](int k, index_t local) {
      const index_t row = this->parts.rows[first_row + local];
      const V of_x = v[x][row], d = this->scaled.scale[first_row + local];
      v[r][row] = t.gathered[local] / d;
      v[z][row] = t.gathered[local] * d;
      for_vectors<kept>([&](auto j) {
        const V value = t.own[j][k];
        v[j][row] = j == x ? of_x + d * value : contains(Method::halo, j) ? value / d : value * d;
      });
    });
  }

  CNC_GPU_DEVICE void update(State& t, const MethodScalars& s) const {
    Update pass(s);
    pass.is_first = false;  // vectors that do not exist yet are zero here
    for_own(t, [&](int k, index_t local) {
      Row<V> row{};
      for_vectors<kept>([&](auto j) { row[j] = t.own[j][k]; });
      row[q] = t.own[q][k];
      row[r] = row[z] = t.gathered[local];
      pass(row);
      for_vectors<kept>([&](auto j) { t.own[j][k] = row[j]; });
      t.gathered[local] = row[r];
    });
    for (index_t i = thread_index(); i < t.part.halo; i += block_threads()) {
      Row<V> row{};
      V& of_r = t.gathered[t.part.own + i];
      row[q] = of_q(t)[i];
      row[r] = row[z] = of_r;
      for_vectors<beside>([&](auto j) { row[j] = of_beside(t)[i]; });
      pass(row);
      for_vectors<beside>([&](auto j) { of_beside(t)[i] = row[j]; });
      of_r = row[r];
    }
  }

  CNC_GPU_DEVICE void iterate(State& t, HaloControl& control, const RunState& limits, bool fit,
                              std::uint32_t& epoch) const {
    for (;;) {
      ++epoch;
      double share[StampedSums::sums] = {0, 0, 0, fit ? 0.0 : 1.0};
      this->multiply(t, epoch, [&](int k, index_t local, V own, V sum) {
        t.own[q][k] = sum;
        const double rr = double(own) * double(own);
        share[0] += rr;
        share[1] += rr * double(t.constant[local]);
        share[2] += double(own) * double(sum);
      });
      this->meet_over_results(t, share, of_q(t), epoch, [&](const double(&total)[4]) {
        this->template decide<Update>(control, limits, total[0], total[1], total[3] != 0,
                                      [&](MethodScalars& s) {
                                        s[Product::scalar[0]] = total[2];
                                        return begin_pass<Update>(s);
                                      });
      });
      if (control.over) break;
      update(t, control.scalars.get());
      block_barrier();
    }
  }
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
