#pragma once

#include <gpu/choose_rows.hpp>
#include <gpu/resident_rows.hpp>
#include <gpu/run_plan.hpp>

#include <cnc/contract/cost.hpp>
#include <cnc/contract/error.hpp>

#include <algorithm>

// Launches whose blocks are resident: whether one fits, how it is laid out, and how it is started.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// The block size that rows are compiled for; 0: any, in one kernel.
template <class Rows>
inline constexpr int compiled_block = 1;
template <int block, class M, class V, int values>
inline constexpr int compiled_block<BsellRows<block, M, V, values>> = block;
template <int wave, int block, int lanes, bool per_block, class M, class V>
inline constexpr int compiled_block<BcsrRows<wave, block, lanes, per_block, M, V>> = block;

template <class Rows>
inline constexpr bool reads_dictionary = false;
template <int points, int together, class M, class V>
inline constexpr bool reads_dictionary<StencilRows<points, together, M, V>> = true;

/// Whether runs of a method by the recurrence of another one (OneLaunchOf) pay: with sliced rows of blocks they were slower when they
/// were measured (docs/adr/0017-one-meeting.md).
template <class Rows>
inline constexpr bool one_reduction_pays = true;
template <int block, class M, class V, int values>
inline constexpr bool one_reduction_pays<BsellRows<block, M, V, values>> = block == 1;

/// Rows that every resident kernel is compiled for.
template <class Rows>
inline constexpr bool always_resident = compiled_block<Rows> == 1 || compiled_block<Rows> == 3;

[[noreturn]] inline void refuse_resident() {
  throw UnsupportedOperation(
      "the form 'resident' needs a device that runs a whole grid at one time (cooperative "
      "launch), a preconditioner that is local to a row or block, and a matrix of a block "
      "size compiled for the method, whose blocks the preconditioner's blocks match");
}

[[noreturn]] inline void refuse_one_meeting() {
  throw UnsupportedOperation(
      "the form 'one-meeting' needs a device that runs a whole grid at one time (cooperative "
      "launch), a method made for it, "
      "Jacobi by the diagonal as it is, which has no zero and for methods of symmetric matrices "
      "is positive, or no preconditioner, a plan made for it, and a matrix "
      "whose parts fit on the processors "
      "with the rows around them, of several ranks none without rows");
}

/// Whether so many vectors of so many bytes each that have no room on chip stay in the second-level cache from iteration to iteration.
inline bool stay_in_cache(std::size_t vectors, double bytes, const DeviceFacts& facts) {
  return double(vectors) * bytes <= tuning::resident_share_of_vectors * double(facts.cache_bytes);
}

template <int threads, class Operand, class V>
struct ResidentLaunch {
  const Queue& queue;
  const Operand& A;
  const PreconditionerOperand<V>& M;
  DeviceRunPlan<Operand, V>& plan;
  bool forced;         ///< fits, but may be slower
  index_t least_rows;  ///< fewer are not worth a block of their own
  ResidentLayout layout = {};
  Grid grid = {};

  /// Lays out a kernel that has use for so many vectors on chip, and cannot do without `least` of them and some bytes before
  /// them; false if it does not fit, or (not forced) would be slower. `gathered`: vectors that are in memory whatever room there is.
  template <class Rows, class Kernel>
  bool lay_out(Rows& rows, Kernel kernel, std::size_t vectors, std::size_t least,
               std::size_t bytes_before, std::size_t gathered = 0) {
    if (!keeps_blocks_together(rows)) return false;
    if (!forced && (plan.refused || !fits<Rows>())) return false;
    const index_t blocks = std::min({residency(plan.residency[0], kernel, 0), plan.most_blocks,
                                     std::max<index_t>(1, ceil_div(A.rows, least_rows))});
    if (blocks < 1) return false;
    const int together =
        M.kind == PreconditionerKind::block_jacobi && rows.unit_rows() == 1 ? M.block_size : 1;
    layout.units_per_block = ceil_div(ceil_div(rows.units(), blocks), together) * together;
    layout.rows_per_block = layout.units_per_block * rows.unit_rows();
    const std::size_t each = sizeof(V) * std::size_t(std::max<index_t>(1, layout.rows_per_block));
    const std::size_t taken = tuning::static_shared_bytes + bytes_before;
    const std::size_t all = device_facts(queue.device).shared_bytes;
    const std::size_t room = all > taken ? (all - taken) / each : 0;
    if (room < least) return false;
    layout.on_chip = static_cast<int>(std::min(vectors, room));
    const std::size_t in_memory = vectors - std::min(vectors, room) + gathered;
    if (reads_dictionary<Rows> && !forced &&
        !stay_in_cache(in_memory, double(A.rows) * sizeof(V), device_facts(queue.device)))
      return false;
    grid = {blocks, threads,
            bytes_before +
                sizeof(V) * std::size_t(layout.rows_per_block) * std::size_t(layout.on_chip)};
    if (residency(plan.residency[1], kernel, grid.shared_bytes) < blocks) return false;
    if constexpr (requires { rows.split; }) rows.split = split(layout.units_per_block);
    return true;
  }

  /// False if the device does not start it after all.
  template <class Kernel, class... Arguments>
  bool launch(const char* operation, Kernel kernel, const Arguments&... arguments) {
    fill_bytes(queue, plan.arrived.template as<std::uint32_t>(), 0, sizeof(std::uint32_t));
    plan.refused = !launch_resident(operation, queue, grid, kernel, arguments...);
    return !plan.refused;
  }

 private:
  /// Whether the rows of each of the preconditioner's blocks stay with one block of threads.
  template <class Rows>
  bool keeps_blocks_together(const Rows& rows) const {
    if (M.kind != PreconditionerKind::block_jacobi || M.block_size == 1) return true;
    if (rows.unit_rows() == M.block_size) return true;
    return rows.unit_rows() == 1 &&
           !std::is_same_v<Operand, BsellOperand<typename Operand::value_type>>;
  }

  template <class Kernel>
  index_t residency(ResidencyAnswer& known, Kernel kernel, std::size_t shared) const {
    const auto entry = reinterpret_cast<const void*>(kernel);
    if (known.kernel != entry || known.shared_bytes != shared)
      known = {entry, shared, resident_blocks(queue, kernel, threads, shared)};
    return known.blocks;
  }

  /// Beyond these sizes kernels in a graph hide the latency of memory better than one block per processor.
  template <class Rows>
  bool fits() const {
    const DeviceFacts& facts = device_facts(queue.device);
    const double rows_of_processor = double(A.rows) / facts.processors;
    if (reads_dictionary<Rows>)
      return rows_of_processor <= tuning::most_resident_rows_by_dictionary(sizeof(V));
    if (rows_of_processor > tuning::resident_rows_per_processor(sizeof(V))) return false;
    // Kernels in a graph read a dictionary in place of the matrix.
    const double most = has_short_kinds(A.dictionary) ? tuning::resident_short_rows_with_dictionary
                                                      : tuning::resident_rows_with_dictionary;
    if (A.dictionary.codes != nullptr && rows_of_processor > most) return false;
    return matrix_bytes(without_dictionary(A)) <=
           tuning::resident_cache_share * double(facts.cache_bytes);
  }
  /// Other resident kernels read the arrays of the format.
  static Operand without_dictionary(Operand matrix) {
    matrix.dictionary = {};
    return matrix;
  }
  template <class T>
  static double matrix_bytes(const BcsrOperand<T>& matrix) {
    return cost::spmv(matrix, matrix.blocks, 0, 0).bytes;
  }
  template <class T>
  static double matrix_bytes(const BsellOperand<T>& matrix) {
    return cost::spmv(matrix, matrix.slots, 0, 0).bytes;
  }
  template <class T>
  static double matrix_bytes(const DiaOperand<T>& matrix) {
    return cost::spmv(matrix, 0, 0).bytes;
  }

  /// Threads that share a row when a block has more threads than rows.
  int split(index_t units) const {
    int split = 1;
    if constexpr (requires { A.slots; }) {
      const double mean = A.block_rows() > 0 ? double(A.slots) / A.block_rows() : 0;
      while (split < 16 && units * 2 * split <= threads && mean >= 2.0 * split) split *= 2;
    }
    return split;
  }
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
