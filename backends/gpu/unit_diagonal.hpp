#pragma once

#include <gpu/row_pattern.hpp>
#include <gpu/runtime.hpp>

#include <cnc/contract/error.hpp>
#include <cnc/contract/methods.hpp>

#include <cstddef>
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
    std::vector<index_t> kept;  // offsets of diagonals
    if constexpr (requires { A.diagonals; }) {
      const auto offsets = on_host(queue, A.offsets, std::size_t(A.diagonals));
      for (const index_t offset : offsets)
        if (offset != 0) kept.push_back(offset);
      if (kept.size() == offsets.size()) return;  // no main diagonal
      while (offsets[std::size_t(main_)] != 0) ++main_;
    }
    std::size_t bytes = 0;
    place(nullptr, bytes);
    const double free = free_bytes(queue.device);  // 0: not known
    if (free > 0 && free < share_of_free * double(bytes))
      throw OutOfMemory("UnitDiagonal", bytes, static_cast<std::size_t>(free));
    memory_.emplace(queue.device, bytes);
    bytes = 0;
    place(memory_->template as<std::byte>(), bytes);
    if (!kept.empty()) copy_to_device(queue, places_, kept.data(), kept.size() * sizeof(index_t));
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
  bool scale(const Queue&, const V* inverse);  // in gpu/scale_matrix.hpp

  /// Without its diagonal.
  const Operand& operand() const { return scaled_; }
  /// By which sums of squares of a scaled residual are those of the one that it stands for.
  const V* diagonal() const { return diagonal_; }

  /// Of the diagonal's inverse: what vectors are scaled with.
  const V* root() const { return root_; }

 private:
  /// Free memory has to be so many times what this takes: most is left to others.
  static constexpr double share_of_free = 2;

  /// What tells one matrix from another.
  static Operand known(Operand A) {
    A.transpose = nullptr;
    A.plan = nullptr;
    return A;
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

  void scale_entries(const Queue&, const DiaOperand<V>&, const V* inverse, std::int32_t* unfit);
  void scale_entries(const Queue&, const BsellOperand<V>&, const V* inverse, std::int32_t* unfit);
  void scale_entries(const Queue&, const BcsrOperand<V>&, const V* inverse, std::int32_t* unfit);

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
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
