#pragma once

#include <gpu/row_pattern.hpp>
#include <gpu/runtime.hpp>
#include <gpu/vector_ops.hpp>

#include <cnc/contract/error.hpp>
#include <cnc/contract/methods.hpp>

#include <target/launch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

// A matrix scaled to a unit diagonal: D^-1/2 A D^-1/2 without that diagonal. Where D is the preconditioner, the iterates of conjugate
// gradients with it are D^-1/2 times those without one: no diagonal is read, and M^-1 r is r.
//
// Method   Saad, Iterative methods for sparse linear systems, 2003, section 9.2.1 (split preconditioning).

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Whether a method says what scaling does to it.
template <class Method>
inline constexpr bool scales = false;
template <class Method>
requires requires { typename Method::Scaled; }
inline constexpr bool scales<Method> = !std::is_void_v<typename Method::Scaled>;

inline constexpr int scaling_threads = 256;

/// D^-1/2 and D; a word for the host where an entry has no root.
template <class V>
CNC_GPU_KERNEL(scaling_threads)
root_kernel(index_t n, const V* inverse, V* root, V* diagonal, std::int32_t* unfit) {
  const offset_t i = offset_t(block_index()) * block_threads() + thread_index();
  if (i >= n) return;
  const V of_row = inverse[i], entry = V(1) / of_row;
  root[i] = std::sqrt(of_row);
  diagonal[i] = entry;
  constexpr V largest = std::numeric_limits<V>::max();
  if (!(of_row > 0 && of_row <= largest && entry > 0 && entry <= largest)) *unfit = 1;
}

/// Whether an entry is that of D, but for rounding: a preconditioner of the caller's may be another.
template <class V>
CNC_GPU_DEVICE bool is_entry_of_diagonal(V entry, V inverse) {
  const V distance = entry * inverse - V(1), most = 8 * std::numeric_limits<V>::epsilon();
  return distance >= -most && distance <= most;
}

/// The same for both of a symmetric pair.
template <class V>
CNC_GPU_DEVICE V scaled_entry(V root, V value, V other_root) {
  return value * (root * other_root);
}

/// A thread for each row, and one for the end of the last. Rows are one entry shorter than those of A.
template <class Column, class V>
CNC_GPU_KERNEL(scaling_threads)
scale_csr_kernel(BcsrOperand<V> A, const Column* from, const V* inverse, const V* root,
                 index_t* row_offsets, Column* columns, V* values, std::int32_t* unfit) {
  const offset_t i = offset_t(block_index()) * block_threads() + thread_index();
  if (i > A.rows) return;
  const auto row = static_cast<index_t>(i);
  index_t to = A.row_offsets[row] - row;
  row_offsets[row] = to;
  if (row == A.rows) return;
  const index_t begin = A.row_offsets[row], end = A.row_offsets[row + 1];
  const index_t last = std::min(end - row - 1, A.blocks - A.rows);
  bool found = false;
  for (index_t k = begin; k < end; ++k) {
    const index_t column = column_at(from[k], row);
    const V value = A.values[k];
    if (!found && column == row) {
      found = is_entry_of_diagonal(value, inverse[row]);
    } else if (to >= 0 && to < last) {  // in any case inside the arrays
      columns[to] = from[k];
      values[to++] = scaled_entry(root[row], value, root[column]);
    }
  }
  if (!found) *unfit = 1;
}

/// A thread for each place of the sorted rows. Slices are a slot for each lane shorter than those of A.
template <class Column, class V>
CNC_GPU_KERNEL(scaling_threads)
scale_slices_kernel(BsellOperand<V> A, const Column* from, const V* inverse, const V* root,
                    offset_t* slice_offsets, Column* columns, V* values, std::int32_t* unfit) {
  const offset_t C = A.slice_height;
  const offset_t i = offset_t(block_index()) * block_threads() + thread_index();
  const offset_t slice = i / C, lane = i % C;
  if (slice > A.slices() || (slice == A.slices() && lane > 0)) return;
  const offset_t begin = A.slice_offsets[slice], to_begin = begin - slice * C;
  if (lane == 0) slice_offsets[slice] = to_begin;
  if (slice == A.slices()) return;
  const offset_t size = A.slots - A.slices() * C;
  const offset_t last = std::min(A.slice_offsets[slice + 1] - (slice + 1) * C, size);
  const index_t row = A.row_permutation[i];
  const bool padding = row < 0;
  bool found = padding;
  offset_t to = to_begin + lane;
  for (offset_t k = begin + lane + (padding ? C : 0); k < A.slice_offsets[slice + 1]; k += C) {
    const index_t column = column_at(from[k], static_cast<index_t>(slice * C));
    const V value = A.values[k];
    if (!found && column == row) {
      found = is_entry_of_diagonal(value, inverse[row]);
    } else if (to >= 0 && to < last) {
      columns[to] = from[k];
      values[to] = padding ? V(0) : scaled_entry(root[row], value, root[column]);
      to += C;
    }
  }
  if (!found || last < to_begin) *unfit = 1;
}

/// A thread for each row, of all diagonals but the one at place `main`.
template <class V>
CNC_GPU_KERNEL(scaling_threads)
scale_diagonals_kernel(DiaOperand<V> A, index_t main, const V* inverse, const V* root, V* values,
                       std::int32_t* unfit) {
  const offset_t row = offset_t(block_index()) * block_threads() + thread_index();
  if (row >= A.rows) return;
  for (index_t d = 0; d < A.diagonals; ++d) {
    const V value = A.values[offset_t(d) * A.rows + row];
    if (d == main) {
      if (!is_entry_of_diagonal(value, inverse[row])) *unfit = 1;
    } else {
      const offset_t column = row + A.offsets[d];
      values[offset_t(d - (d > main)) * A.rows + row] =
          column >= 0 && column < A.cols ? scaled_entry(root[row], value, root[column]) : V(0);
    }
  }
}

/// What a recurrence holds, from the system as given to the scaled one, or back with z := M^-1 r.
template <bool enters, class V>
CNC_GPU_KERNEL(max_vector_threads)
change_system_kernel(index_t n, const V* root, V* r, V* p, V* x, V* z) {
  V s[entries_together], of_r[entries_together], of_p[entries_together], of_x[entries_together];
  for_tile(
      block_index(), n,
      [&](int k, index_t i) {
        s[k] = root[i];
        of_r[k] = r[i];
        of_p[k] = p[i];
        of_x[k] = x[i];
      },
      [&](int k, index_t i) {
        r[i] = enters ? s[k] * of_r[k] : of_r[k] / s[k];
        p[i] = enters ? of_p[k] / s[k] : s[k] * of_p[k];
        x[i] = enters ? of_x[k] / s[k] : s[k] * of_x[k];
        if constexpr (!enters) z[i] = s[k] * of_r[k];
      });
}

/// One matrix of scalar rows, scaled. Made where iterations have paid for it, made anew when values are others.
template <class Operand>
class UnitDiagonal {
 public:
  using V = typename Operand::value_type;

  /// Whether a matrix can be scaled, and reads less then: not where a byte stands for a row or a value, nor where a long row is what
  /// takes the time.
  static bool suits(const Operand& A, bool reads_dictionary) {
    if constexpr (requires { A.block_size; })
      if (A.block_size != 1) return false;
    if constexpr (requires { A.value_table; })
      if (A.value_table.codes != nullptr) return false;
    if constexpr (requires { A.slices(); }) {
      if (A.slots < offset_t(A.slices()) * A.slice_height) return false;
    } else if constexpr (requires { A.blocks; }) {
      if (A.blocks < A.rows) return false;
    }
    return A.rows == A.cols && A.rows > 0 && !reads_dictionary && A.plan == nullptr;
  }

  /// Throws OutOfMemory.
  UnitDiagonal(const Queue& queue, const Operand& A)
      : made_of_(A), flag_(queue.device, sizeof(std::int32_t)) {
    if constexpr (requires { A.diagonals; }) {
      const auto offsets = on_host(queue, A.offsets, std::size_t(A.diagonals));
      while (main_ < A.diagonals && offsets.data()[main_] != 0) ++main_;
      if (main_ == A.diagonals) return;
      offsets_ = kept_offsets(offsets.data());
    }
    std::size_t bytes = 0;
    place(nullptr, bytes);
    const double free = free_bytes(queue.device);  // 0: not known
    if (free > 0 && free < share_of_free * double(bytes))
      throw OutOfMemory("UnitDiagonal", bytes, static_cast<std::size_t>(free));
    memory_.emplace(queue.device, bytes);
    bytes = 0;
    place(memory_->template as<std::byte>(), bytes);
    if constexpr (requires { A.diagonals; })
      copy_to_device(queue, places_, offsets_.data(), offsets_.size() * sizeof(index_t));
  }

  /// Takes the values of a matrix whose other arrays are those that it is made of. False: they are not.
  bool takes(const Operand& A) {
    if (A.values != made_of_.values) forget_values();
    made_of_.values = A.values;
    return known(A) == known(made_of_);
  }
  /// To be called when values are others.
  void forget_values() { inverse_ = nullptr; }

  /// Scales the values with this diagonal, unless it has them. False: it is not that of the matrix, or has no root. Waits for the
  /// device then.
  bool scale(const Queue& queue, const V* inverse) {
    if (!memory_) return false;
    if (inverse == inverse_) return true;
    forget_values();
    std::int32_t* const unfit = flag_.template as<std::int32_t>();
    *unfit = 0;
    const index_t rows = made_of_.rows;
    launch("root", queue, grid(rows), root_kernel<V>, rows, inverse, root_, diagonal_, unfit);
    scale_entries(queue, made_of_, inverse, unfit);
    synchronize(queue);
    if (*unfit != 0) return false;
    inverse_ = inverse;
    return true;
  }

  /// Without its diagonal.
  const Operand& operand() const { return scaled_; }
  /// By which sums of squares of a scaled residual are those of the one that it stands for.
  const V* diagonal() const { return diagonal_; }

  /// The vectors of a recurrence become those of the scaled system, or, if not `enters`, of the one given.
  template <bool enters, class Method>
  void change_system(const Queue& queue, const MethodVectors<V>& v) const {
    using S = typename Method::Scaled;
    launch("change_system", queue, vector_grid(queue, made_of_.rows, max_vector_threads),
           change_system_kernel<enters, V>, made_of_.rows, root_, v[S::residual], v[S::direction],
           v[S::iterate], v[S::preconditioned]);
  }

 private:
  /// Free memory has to be so many times what this takes: most is left to others.
  static constexpr double share_of_free = 2;

  /// What tells one matrix from another.
  static Operand known(Operand A) {
    A.transpose = nullptr;
    A.plan = nullptr;
    return A;
  }
  static Grid grid(offset_t threads) {
    return {static_cast<index_t>((threads + scaling_threads - 1) / scaling_threads),
            scaling_threads};
  }

  /// The offsets of all diagonals but the main one.
  std::vector<index_t> kept_offsets(const index_t* offsets) const {
    std::vector<index_t> kept;
    for (index_t d = 0; d < made_of_.diagonals; ++d)
      if (d != main_) kept.push_back(offsets[d]);
    return kept;
  }

  /// The next array.
  template <class T>
  static void place(std::byte* memory, std::size_t& end, T*& at, offset_t n) {
    constexpr std::size_t alignment = 256;
    at = memory == nullptr ? nullptr : reinterpret_cast<T*>(memory + end);
    end = (end + std::size_t(n) * sizeof(T) + alignment - 1) / alignment * alignment;
  }
  /// All arrays, from `end` on.
  void place(std::byte* memory, std::size_t& end) {
    const Operand& A = made_of_;
    place(memory, end, root_, A.rows);
    place(memory, end, diagonal_, A.rows);
    scaled_ = known(A);
    scaled_.dictionary = {};
    const auto place_columns = [&](auto& scaled, offset_t n) {
      if (scaled.short_columns != nullptr)
        place(memory, end, short_columns_, n);
      else
        place(memory, end, columns_, n);
      scaled.columns = columns_;
      scaled.short_columns = short_columns_;
    };
    if constexpr (std::is_same_v<Operand, DiaOperand<V>>) {
      scaled_.diagonals = A.diagonals - 1;
      place(memory, end, values_, offset_t(scaled_.diagonals) * A.rows);
      place(memory, end, places_, scaled_.diagonals);
      scaled_.offsets = places_;
    } else if constexpr (std::is_same_v<Operand, BsellOperand<V>>) {
      scaled_.slots = A.slots - offset_t(A.slices()) * A.slice_height;
      place(memory, end, values_, scaled_.slots);
      place(memory, end, places_, A.slices() + 1);
      scaled_.slice_offsets = places_;
      place_columns(scaled_, scaled_.slots);
    } else {
      scaled_.blocks = A.blocks - A.rows;
      place(memory, end, values_, scaled_.blocks);
      place(memory, end, places_, offset_t(A.rows) + 1);
      scaled_.row_offsets = places_;
      place_columns(scaled_, scaled_.blocks);
    }
    scaled_.values = values_;
  }

  void scale_entries(const Queue& queue, const DiaOperand<V>& A, const V* inverse,
                     std::int32_t* unfit) {
    launch("scale_diagonals", queue, grid(A.rows), scale_diagonals_kernel<V>, A, main_, inverse,
           root_, values_, unfit);
  }
  void scale_entries(const Queue& queue, const BsellOperand<V>& A, const V* inverse,
                     std::int32_t* unfit) {
    const Grid threads = grid(offset_t(A.slices()) * A.slice_height + 1);
    if (A.short_columns != nullptr)
      launch("scale_slices", queue, threads, scale_slices_kernel<ShortColumn, V>, A,
             A.short_columns, inverse, root_, places_, short_columns_, values_, unfit);
    else
      launch("scale_slices", queue, threads, scale_slices_kernel<index_t, V>, A, A.columns, inverse,
             root_, places_, columns_, values_, unfit);
  }
  void scale_entries(const Queue& queue, const BcsrOperand<V>& A, const V* inverse,
                     std::int32_t* unfit) {
    const Grid threads = grid(offset_t(A.rows) + 1);
    if (A.short_columns != nullptr)
      launch("scale_csr", queue, threads, scale_csr_kernel<ShortColumn, V>, A, A.short_columns,
             inverse, root_, places_, short_columns_, values_, unfit);
    else
      launch("scale_csr", queue, threads, scale_csr_kernel<index_t, V>, A, A.columns, inverse,
             root_, places_, columns_, values_, unfit);
  }

  using Place = std::conditional_t<std::is_same_v<Operand, BsellOperand<V>>, offset_t, index_t>;

  Operand made_of_, scaled_;
  PinnedBuffer flag_;
  std::optional<DeviceBuffer> memory_;
  const V* inverse_ = nullptr;  ///< by which the values were scaled; null: they are to be
  V *root_ = nullptr, *diagonal_ = nullptr, *values_ = nullptr;
  Place* places_ = nullptr;  ///< of rows, slices or diagonals
  index_t* columns_ = nullptr;
  ShortColumn* short_columns_ = nullptr;
  index_t main_ = 0;  ///< place of the main diagonal
  std::vector<index_t> offsets_;
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
