#pragma once

#include <gpu/grid_barrier.hpp>
#include <gpu/pcg_scalars.hpp>
#include <gpu/preconditioner.hpp>
#include <gpu/spmv_kernel.hpp>

// A whole run in one launch. Each block owns a range of units of the matrix for good and keeps its rows of
// the vectors in shared memory, as many of them as there is room for; only what other blocks gather (z, and p
// in the classic form) goes through memory. Two sums across the grid per iteration are its only barriers.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Vectors that a block may keep on chip, in the order in which they get the room.
enum ChipVector { chip_r, chip_q, chip_p, chip_x, chip_inverse, chip_s, chip_vectors };

/// How a resident launch is laid out.
struct ResidentLayout {
  index_t units_per_block = 0;
  index_t rows_per_block = 0;  ///< capacity of each vector on chip
  int on_chip = 0;             ///< the first so many of ChipVector are there
};

/// A block's rows of a vector: on chip by their place in the block, in memory by their row.
template <class V>
struct OwnRows {
  V* data;
  bool on_chip;
  CNC_GPU_DEVICE V& operator()(index_t place, index_t row) const {
    return data[on_chip ? place : row];
  }
};

template <int wave, class Rows, class V, bool single_reduction>
struct ResidentPcg {
  Rows rows;
  index_t n;
  PreconditionerOperand<V> M;
  PcgVectors<V> v;
  ResidentLayout layout;

  struct Own {
    OwnRows<V> r, q, p, x, inverse, s;
  };
  struct Range {
    index_t begin, end;  ///< units
    index_t places;      ///< rows, those past the end of the matrix included
  };

  CNC_GPU_DEVICE Range range() const {
    const offset_t first = offset_t(block_index()) * layout.units_per_block;
    const index_t units = rows.units();
    const index_t begin = first < units ? static_cast<index_t>(first) : units;
    const index_t end =
        units - begin < layout.units_per_block ? units : begin + layout.units_per_block;
    return {begin, end, (end - begin) * rows.unit_rows()};
  }

  /// Calls body(place, row) for the rows of this block, each on the same thread every time.
  template <class Body>
  CNC_GPU_DEVICE void for_own(const Range& range, const Body& body) const {
    const int b = rows.unit_rows();
    for (index_t place = thread_index(); place < range.places; place += block_threads()) {
      const index_t row = rows.first_row(range.begin + place / b) + place % b;
      if (row < n) body(place, row);
    }
  }

  CNC_GPU_DEVICE OwnRows<V> own(int which, V* in_memory) const {
    const bool on_chip = which < layout.on_chip;
    return {on_chip ? dynamic_shared<V>() + which * layout.rows_per_block : in_memory, on_chip};
  }
  CNC_GPU_DEVICE Own own_vectors() const {
    return {own(chip_r, v.r),
            own(chip_q, v.q),
            own(chip_p, v.p),
            own(chip_x, v.x),
            own(chip_inverse, const_cast<V*>(M.inverse)),
            own(chip_s, v.s)};
  }

  CNC_GPU_DEVICE void load(const Range& range, const Own& own) const {
    for_own(range, [&](index_t place, index_t row) {
      if (own.r.on_chip) own.r(place, row) = v.r[row];
      if (own.x.on_chip) own.x(place, row) = v.x[row];
      if (own.inverse.on_chip && M.kind == PreconditionerKind::jacobi)
        own.inverse(place, row) = M.inverse[row];
      if constexpr (single_reduction) {
        if (own.p.on_chip) own.p(place, row) = v.p[row];
        if (own.s.on_chip) own.s(place, row) = v.s[row];
      }
    });
    block_barrier();
  }

  /// `latest` is where the last direction is: v.p or, in the classic form, v.s.
  CNC_GPU_DEVICE void store(const Range& range, const Own& own, const V* latest) const {
    block_barrier();
    for_own(range, [&](index_t place, index_t row) {
      if (own.r.on_chip) v.r[row] = own.r(place, row);
      if (own.x.on_chip) v.x[row] = own.x(place, row);
      if constexpr (single_reduction) {
        if (own.p.on_chip) v.p[row] = own.p(place, row);
        if (own.s.on_chip) v.s[row] = own.s(place, row);
      } else {
        if (latest != v.p) v.p[row] = latest[row];
      }
    });
  }

  /// Takes the products of this block's rows: q, its dot, and in the classic form the new direction.
  struct Sink {
    DirectionVector<V> direction;
    Own own;
    index_t begin;
    int unit_rows;
    V* p_new;
    double dot = 0;
    CNC_GPU_DEVICE void operator()(index_t unit, int r, index_t row, V sum) {
      const index_t place = (unit - begin) * unit_rows + r;
      const V p = direction(row);
      own.q(place, row) = sum;
      if constexpr (!single_reduction) {
        p_new[row] = p;
        if (own.p.on_chip) own.p(place, row) = p;
      }
      dot += double(p) * double(sum);
    }
  };

  CNC_GPU_DEVICE double product(const Range& range, const Own& own,
                                const DirectionVector<V>& direction, V* p_new,
                                bool backwards) const {
    Sink sink{direction, own, range.begin, rows.unit_rows(), p_new};
    const index_t per_pass = rows.units_per_pass(block_threads());
    const index_t passes = ceil_div(range.end - range.begin, per_pass);
    for (index_t k = 0; k < passes; ++k) {
      const index_t unit = range.begin + (backwards ? passes - 1 - k : k) * per_pass;
      rows.walk(unit, range.end - unit < per_pass ? range.end : unit + per_pass, direction, sink);
    }
    return sink.dot;
  }

  /// Moves this block's rows by one step; z goes to memory, the sums to `sums`.
  CNC_GPU_DEVICE void update(const Range& range, const Own& own, const PcgScalars& s, bool first,
                             const V* p_new, double (&sums)[2]) const {
    const V alpha = static_cast<V>(s.alpha);
    const V beta = static_cast<V>(s.beta);
    const bool whole_blocks = M.kind == PreconditionerKind::block_jacobi;
    sums[0] = sums[1] = 0;
    const auto finish_row = [&](index_t row, V r, V z) {
      v.z[row] = z;
      sums[0] += double(r) * double(z);
      sums[1] += double(r) * double(r);
    };
    for_own(range, [&](index_t place, index_t row) {
      V p, q;
      if constexpr (single_reduction) {
        p = first ? v.z[row] : v.z[row] + beta * own.p(place, row);
        q = first ? own.q(place, row) : own.q(place, row) + beta * own.s(place, row);
        own.p(place, row) = p;
        own.s(place, row) = q;
      } else {
        p = own.p.on_chip ? own.p(place, row) : p_new[row];
        q = own.q(place, row);
      }
      own.x(place, row) += alpha * p;
      const V r = own.r(place, row) - alpha * q;
      own.r(place, row) = r;
      if (!whole_blocks)
        finish_row(row, r, M.kind == PreconditionerKind::jacobi ? own.inverse(place, row) * r : r);
    });
    if (!whole_blocks) return;
    block_barrier();
    for_own(range, [&](index_t place, index_t row) {
      // Neighbours of a block of the preconditioner are neighbours on chip and in memory alike.
      const V z = preconditioned(M, n, row, [&](index_t j) { return own.r(place + (j - row), j); });
      finish_row(row, own.r(place, row), z);
    });
  }

  CNC_GPU_DEVICE void iterate(PcgScalars* scalars, RunState run, RunOutcome* outcome,
                              GridBarrier barrier) const {
    const Range range = this->range();
    const Own own = own_vectors();
    PcgScalars s = *scalars;
    V* p = v.p;
    V* p_new = single_reduction ? v.p : v.s;
    load(range, own);
    while (!run_is_over(run, s)) {
      const bool first = at_start(s);
      const double beta = direction_coefficient(s);
      // Chronopoulos-Gear multiplies z itself.
      const DirectionVector<V> direction{v.z, p, static_cast<V>(beta), single_reduction || first};
      double dot[1] = {product(range, own, direction, p_new, run.iterations % 2 == 1)};
      barrier.sum<wave>(dot);
      s.pq = dot[0];
      if constexpr (single_reduction) {
        s.breakdown = single_reduction_step(s);
      } else {
        s.beta = beta;
        s.breakdown = classic_step(s);
        V* const old = p;
        p = p_new;
        p_new = old;
      }
      if (s.breakdown != PcgBreakdown::none) break;  // the same decision on every thread
      double sums[2];
      update(range, own, s, first, p, sums);
      barrier.sum<wave>(sums);
      advance(s, sums[0], sums[1]);
      if (run.history != nullptr && block_index() == 0 && thread_index() == 0)
        run.history[run.iterations] = s.rr;
      ++run.iterations;
    }
    store(range, own, p);
    if (block_index() == 0 && thread_index() == 0) {
      *scalars = s;
      outcome->scalars = s;
      outcome->iterations = run.iterations;
    }
  }
};

template <int threads, int wave, class Rows, class V, bool single_reduction>
CNC_GPU_KERNEL(threads)
pcg_resident_kernel(ResidentPcg<wave, Rows, V, single_reduction> pcg, PcgScalars* scalars,
                    RunState run, RunOutcome* outcome, GridBarrier barrier) {
  pcg.iterate(scalars, run, outcome, barrier);
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
