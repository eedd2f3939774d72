#pragma once

#include <cnc/contract/ops.hpp>

#include <gpu/grid_barrier.hpp>
#include <gpu/preconditioner.hpp>
#include <gpu/resident_rows.hpp>

#include <target/tuning.hpp>

#include <cmath>

// Steps of Arnoldi's process in one launch. Each block keeps its rows of w, and of as many vectors of the basis as there is
// room for, in shared memory; z = M^-1 v, which others gather, goes through memory. A step meets twice: for all of its dots
// together, and when the next z is there.
//
// The norm of w less its part in the basis follows from the same dots by Pythagoras. Alone that would be unstable: a norm that
// is off by e makes the next one off by e h_jj^2 / |w|^2, four times as much on a Laplacian. So v_j . v_j is among the dots of
// step j, and coefficients are divided by it.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Room for the partial sums of a meeting, in two sets that take turns.
inline constexpr std::size_t basis_slot_bytes(index_t blocks) {
  return sizeof(double) * 2 * tuning::basis_dots_together * static_cast<std::size_t>(blocks);
}
/// Numbers in shared memory before the vectors: dots, then v_k . v_k.
constexpr std::size_t basis_numbers(int vectors) {
  return 2 * static_cast<std::size_t>(vectors) + 2;
}

template <int wave, class Rows, class V>
struct ResidentBasis : ResidentRows<Rows> {
  using Own = ResidentRows<Rows>;
  using Own::rows, Own::n, Own::layout, Own::range, Own::for_own, Own::multiply_own;
  using typename Own::Range;

  PreconditionerOperand<V> M;
  ArnoldiSteps<V> steps;
  double* slots;

  /// What a thread knows of the launch.
  struct State {
    Range range;
    GridBarrier<1> barrier;
  };

  // --- in shared memory: worked out where it is used, because registers are dear ------------------------------

  CNC_GPU_DEVICE double* h() const { return dynamic_shared<double>(); }
  CNC_GPU_DEVICE double* norms2() const { return h() + steps.vectors + 2; }
  CNC_GPU_DEVICE V* w() const {
    return reinterpret_cast<V*>(dynamic_shared<double>() + basis_numbers(steps.vectors));
  }
  CNC_GPU_DEVICE int vectors_before_basis() const {
    return M.kind == PreconditionerKind::jacobi ? 2 : 1;
  }
  CNC_GPU_DEVICE bool has_inverse() const {
    return M.kind == PreconditionerKind::jacobi && layout.on_chip > 1;
  }
  CNC_GPU_DEVICE V* inverse() const { return w() + layout.rows_per_block; }
  /// Vectors of the basis that are on chip.
  CNC_GPU_DEVICE int basis_on_chip() const {
    const int rest = layout.on_chip - vectors_before_basis();
    return rest < 0 ? 0 : rest;
  }
  CNC_GPU_DEVICE V* chip(int k) const {
    return w() + offset_t(vectors_before_basis() + k) * layout.rows_per_block;
  }

  // --- the block's rows of vectors --------------------------------------------------------------------------

  CNC_GPU_DEVICE V* memory(int k) const { return steps.v + k * steps.stride; }
  CNC_GPU_DEVICE OwnRows<V> own(const State& t, int k) const {
    if (k < basis_on_chip()) return {chip(k), true};
    if (Rows::consecutive) return {memory(k) + rows.first_row(t.range.begin), true};
    return {memory(k), false};
  }

  CNC_GPU_DEVICE void load(const State& t) const {
    for (int k = thread_index(); k < steps.first; k += block_threads())
      norms2()[k] = column(k)[basis_column_size(steps.vectors) - 1];
    if (!Rows::consecutive) {
      // Dots of what is on chip do not ask which rows are in the matrix.
      for (index_t place = thread_index(); place < layout.rows_per_block;
           place += block_threads()) {
        w()[place] = 0;
        for (int k = 0; k < basis_on_chip(); ++k) chip(k)[place] = 0;
      }
    }
    for_own(t.range, [&](index_t place, index_t row) {
      if (has_inverse()) inverse()[place] = M.inverse[row];
      for (int k = 0; k <= steps.first && k < basis_on_chip(); ++k) chip(k)[place] = memory(k)[row];
    });
  }

  // --- a step -----------------------------------------------------------------------------------------------

  /// z_k := M^-1 v_k
  CNC_GPU_DEVICE void precondition(const State& t, int k) const {
    const OwnRows<V> v = own(t, k);
    V* const z = steps.z + k * steps.z_stride;
    if (M.kind == PreconditionerKind::block_jacobi) block_barrier();  // rows of neighbours
    for_own(t.range, [&](index_t place, index_t row) {
      if (has_inverse())
        z[row] = inverse()[place] * v(place, row);
      else
        z[row] = preconditioned(M, n, row, [&](index_t i) { return v(place + (i - row), i); });
    });
  }

  struct Sink {
    const ResidentBasis& it;
    index_t begin;
    CNC_GPU_DEVICE void operator()(index_t unit, int r, index_t, V sum) const {
      it.w()[(unit - begin) * it.rows.unit_rows() + r] = sum;
    }
  };

  /// The lane's part of x . y over the block's rows.
  CNC_GPU_DEVICE double dot(const State& t, const OwnRows<V>& x, const OwnRows<V>& y) const {
    constexpr int together = 8;
    const int lane = thread_index() % wave;
    index_t places = t.range.places;
    // Rows that follow each other end in the matrix or with it.
    if constexpr (Rows::consecutive)
      if (places > 0 && n - rows.first_row(t.range.begin) < places)
        places = n - rows.first_row(t.range.begin);
    double sum = 0;
    if (Rows::consecutive || (x.by_place && y.by_place)) {
      for (index_t first = lane; first < places; first += together * wave) {
        V of_x[together];
        CNC_GPU_UNROLL
        for (int u = 0; u < together; ++u)
          of_x[u] = first + u * wave < places ? x.data[first + u * wave] : V(0);
        CNC_GPU_UNROLL
        for (int u = 0; u < together; ++u)
          if (first + u * wave < places) sum += double(of_x[u]) * double(y.data[first + u * wave]);
      }
    } else {
      const int b = rows.unit_rows();
      CNC_GPU_UNROLL_BY(4)
      for (index_t place = lane; place < places; place += wave) {
        const index_t row = rows.first_row(t.range.begin + place / b) + place % b;
        if (row < n) sum += double(x(place, row)) * double(y(place, row));
      }
    }
    return sum;
  }

  /// A number of h: v_k . w for k < count, w . w, v_{count-1} . v_{count-1}. Each is the work of one wave.
  CNC_GPU_DEVICE double part_of(const State& t, int k, int count) const {
    const OwnRows<V> of_w{w(), true};
    if (k < count) return dot(t, own(t, k), of_w);
    if (k == count) return dot(t, of_w, of_w);
    return dot(t, own(t, count - 1), own(t, count - 1));
  }

  /// The lane's part of the sum over all blocks.
  CNC_GPU_DEVICE double collected(const double* of_blocks) const {
    constexpr int together = 5;  // all blocks of a device of 160 processors at once
    double sum = 0;
    for (index_t first = thread_index() % wave; first < grid_blocks(); first += together * wave) {
      double part[together];
      CNC_GPU_UNROLL
      for (int u = 0; u < together; ++u)
        part[u] =
            first + u * wave < grid_blocks() ? load_remote(of_blocks + first + u * wave) : 0.0;
      CNC_GPU_UNROLL
      for (int u = 0; u < together; ++u) sum += part[u];
    }
    return sum;
  }

  /// A block writes to a set of slots again only after a meeting that all readers of its old contents have joined.
  ///
  /// Leaves the coefficients of v_0 .. v_{count-1} in w, then w . w, in h: the same on all blocks, as they are added in one
  /// order. Collective over the grid.
  CNC_GPU_DEVICE void coefficients(State& t, int count) const {
    const int lane = thread_index() % wave, waves = block_threads() / wave;
    constexpr int together = tuning::basis_dots_together;
    for (int first = 0; first < count + 2; first += together) {
      double* const set = slots + offset_t(t.barrier.barriers % 2) * together * grid_blocks();
      const int last = first + together < count + 2 ? first + together : count + 2;
      for (int k = first + thread_index() / wave; k < last; k += waves) {
        const double sum = lane_sum<wave>(part_of(t, k, count), wave);
        if (lane == 0) set[offset_t(k - first) * grid_blocks() + block_index()] = sum;
      }
      t.barrier.meet();
      for (int k = first + thread_index() / wave; k < last; k += waves) {
        const double sum =
            lane_sum<wave>(collected(set + offset_t(k - first) * grid_blocks()), wave);
        if (lane == 0) h()[k] = sum;
      }
    }
    block_barrier();
    for (int k = thread_index(); k < count; k += block_threads()) {
      if (k == count - 1) norms2()[k] = h()[count + 1];
      h()[k] = norms2()[k] > 0 ? h()[k] / norms2()[k] : h()[k];
    }
    block_barrier();
  }

  /// w . w once it is orthogonal to v_0 .. v_{count-1}.
  CNC_GPU_DEVICE double left(int count) const {
    double removed = 0;
    for (int k = thread_index() % wave; k < count; k += wave)
      removed += h()[k] * h()[k] * norms2()[k];
    const double left = h()[count] - lane_sum<wave>(removed, wave);
    return left < 0 ? 0 : left;
  }

  /// take(place, row, w less its part in v_0 .. v_{count-1})
  template <class Take>
  CNC_GPU_DEVICE void orthogonalize(const State& t, int count, const Take& take) const {
    const int on_chip = count < basis_on_chip() ? count : basis_on_chip();
    for_own(t.range, [&](index_t place, index_t row) {
      V value = w()[place];
      const V* here = chip(0) + place;
      CNC_GPU_UNROLL_BY(4)
      for (int k = 0; k < on_chip; ++k)
        value -= static_cast<V>(h()[k]) * here[offset_t(k) * layout.rows_per_block];
      const V* there = steps.v + row;
      CNC_GPU_UNROLL_BY(8)
      for (int k = on_chip; k < count; ++k)
        value -= static_cast<V>(h()[k]) * there[k * steps.stride];
      take(place, row, value);
    });
  }

  CNC_GPU_DEVICE double* column(int j) const {
    return steps.columns + offset_t(j) * basis_column_size(steps.vectors);
  }
  /// What the host reads of a pass.
  CNC_GPU_DEVICE void tell(int j, int pass, double left) const {
    if (block_index() != 0) return;
    double* const to = column(j);
    for (int k = thread_index(); k <= j; k += block_threads())
      to[pass * steps.vectors + k] = h()[k];
    if (thread_index() != 0) return;
    to[2 * steps.vectors + pass] = left;
    if (pass == 0) to[2 * steps.vectors + 2] = norms2()[j];
  }

  CNC_GPU_DEVICE void step(State& t, int j) const {
    const int count = j + 1;
    Sink sink{*this, t.range.begin};
    multiply_own(t.range, j % 2 == 1, WrittenVector<V>{steps.z + j * steps.z_stride}, sink);
    block_barrier();
    coefficients(t, count);
    double ww = left(count);
    tell(j, 0, ww);
    if (steps.twice) {
      orthogonalize(t, count, [&](index_t place, index_t, V value) { w()[place] = value; });
      block_barrier();
      coefficients(t, count);
      // What loses another digit was nothing but rounding.
      ww = left(count);
      if (ww < 0.01 * h()[count]) ww = 0;
      tell(j, 1, ww);
    }
    const V factor = ww > 0 ? static_cast<V>(1 / std::sqrt(ww)) : V(0);
    orthogonalize(t, count, [&](index_t place, index_t row, V value) {
      const V v = ww > 0 ? factor * value : V(0);
      memory(count)[row] = v;
      if (count < basis_on_chip()) chip(count)[place] = v;
    });
  }

  CNC_GPU_DEVICE void make(const GridBarrier<1>& barrier) const {
    State t{range(), barrier};
    load(t);
    for (int j = steps.first; j < steps.last; ++j) {
      precondition(t, j);
      t.barrier.meet();
      step(t, j);
    }
  }
};

template <int threads, class Basis>
CNC_GPU_KERNEL(threads)
basis_kernel(Basis it, GridBarrier<1> barrier) {
  it.make(barrier);
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
