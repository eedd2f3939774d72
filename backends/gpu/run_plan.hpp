#pragma once

#include <gpu/entries.hpp>
#include <gpu/halo_plan.hpp>
#include <gpu/resident_basis.hpp>
#include <gpu/resident_schedule.hpp>
#include <gpu/runtime.hpp>
#include <gpu/unit_diagonal.hpp>

#include <memory>
#include <optional>

// What a solver keeps for its runs.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// What a graph depends on: another is made when any of this changes.
template <class Operand, class V>
struct GraphKey {
  Operand A, transpose;
  std::uint64_t stencils[2];  ///< of their dictionaries: which they are
  PreconditionerOperand<V> M;
  MethodVectors<V> v;
  const MethodScalars* scalars;
  const double* partials;
  int block_threads;
  int method;
  std::uint64_t preconditioner;              ///< its version
  bool is_scaled;                            ///< StreamedRun::is_scaled
  PeerOperand<V> peers, peers_of_transpose;  ///< where there are some
  bool operator==(const GraphKey&) const = default;
};

template <class Operand, class V>
struct KeptGraph {
  GraphKey<Operand, V> key;
  std::unique_ptr<Graph> graph;
};
/// Solves that take turns with a few vectors x, or matrices, have a graph made for each of them once. (Kernels that
/// read the address of x from memory need more registers, and passes then run with fewer blocks.)
inline constexpr std::size_t kept_graphs = 4;

/// How many blocks of a kernel are resident, as the device once said: asking costs as much as a launch.
struct ResidencyAnswer {
  const void* kernel = nullptr;
  std::size_t shared_bytes = 0;
  index_t blocks = 0;
};

/// Everything that the runs of one solver need besides the solver's own vectors, whatever their method. Made once,
/// in prepare.
template <class Operand, class V>
struct DeviceRunPlan final : RunPlan {
  DeviceBuffer state;  ///< RunState
  DeviceBuffer slots;  ///< of the resident form's barrier
  DeviceBuffer dots;   ///< partial sums of the steps on a basis
  DeviceBuffer arrived;
  index_t most_blocks;
  PinnedBuffer outcome;  ///< RunOutcome
  Marker markers[2];
  std::optional<DeviceBuffer>
      seconds;  ///< vectors that a resident run has besides those of the method
  index_t rows_of_seconds = -1;
  KeptGraph<Operand, V> graphs[kept_graphs];
  std::size_t graphs_made = 0;   ///< so far; the oldest gives way
  ResidencyAnswer residency[2];  ///< without vectors on chip, and with them
  bool refused = false;          ///< the device did not start a resident launch: not asked again
  /// @{
  /// Runs with one meeting per product.
  std::unique_ptr<HaloPlan<V>> halo;  ///< null: none, or not yet
  int halo_refused = 0;               ///< see refuse_halo; 0: never
  int halo_unfit = 0;     ///< the values do not allow it, see is_halo_unfit; 0: not known
  offset_t products = 0;  ///< that were done in other forms and could have been of this one
  bool some_have_no_grid = false;  ///< of the ranks
  /// @}
  /// @{
  /// Runs one kernel after the other with a matrix scaled to a unit diagonal.
  bool may_scale = false;
  std::unique_ptr<UnitDiagonal<Operand>> scaled;  ///< null: not yet
  bool scaling_refused = false;      ///< there is no room, or the values do not allow it
  offset_t unscaled_iterations = 0;  ///< that were done without, until there were enough
  /// @}
  std::uint64_t unrecordable = 0;  ///< version of a preconditioner that a graph cannot hold

  DeviceRunPlan(int device, index_t rows, index_t blocks)
      : state(device, sizeof(RunState)),
        slots(device, GridBarrier<most_barrier_sums<V>>::slot_bytes(blocks)),
        dots(device, basis_slot_bytes(blocks)),
        arrived(device, sizeof(std::uint32_t)),
        most_blocks(blocks),
        outcome(device, sizeof(RunOutcome)),
        markers{Marker(device), Marker(device)} {
    make_seconds(device, rows);
  }

  void renew(bool pattern) override {
    halo_unfit = 0;
    if (halo) halo->scaled_of.reset();
    scaling_refused = false;
    if (scaled) scaled->forget_values();
    if (!pattern) return;
    forget_halo();
    scaled.reset();
    unscaled_iterations = 0;
    for (auto& kept : graphs) kept.graph.reset();  // other ranks may be reached otherwise
  }
  /// With so many vectors of the halo it does not fit, or the device did not start it: with so many or more it is not tried again.
  void refuse_halo(int vectors) {
    halo.reset();
    halo_refused = vectors;
  }
  bool is_halo_refused(int vectors) const { return halo_refused != 0 && vectors >= halo_refused; }
  /// Methods with more vectors of the halo ask less of the values.
  bool is_halo_unfit(int vectors) const { return vectors <= halo_unfit; }
  void forget_halo() {
    halo.reset();
    halo_refused = 0;
    some_have_no_grid = false;
    products = 0;
  }

  /// Room for them, unless there is enough.
  void make_seconds(int device, index_t rows) {
    if (most_seconds<V> == 0 || rows <= rows_of_seconds) return;
    seconds.reset();
    seconds.emplace(device, sizeof(V) * most_seconds<V> * std::size_t(std::max<index_t>(1, rows)));
    rows_of_seconds = rows;
  }
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
