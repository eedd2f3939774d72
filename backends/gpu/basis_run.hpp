#pragma once

#include <gpu/resident_basis.hpp>
#include <gpu/resident_launch.hpp>

// Steps on a basis: from the entry of the table to the launch.

namespace cnc::gpu::inline CNC_GPU_TARGET {

template <int wave, class Operand, class V>
bool BasisEntries<wave, Operand, V>::arnoldi(const Queue& queue, const Operand& A,
                                             const PreconditionerOperand<V>& M,
                                             const ArnoldiSteps<V>& steps) {
  auto& plan = static_cast<DeviceRunPlan<Operand, V>&>(*steps.plan);
  ResidentLaunch<tuning::basis_threads, Operand, V> launch{
      queue, A, M, plan, steps.forced, tuning::least_basis_rows};
  const auto make = [&]<class Rows>(Rows rows) {
    if constexpr (always_resident<Rows>) {
      using Basis = ResidentBasis<wave, Rows, V>;
      const auto kernel = basis_kernel<tuning::basis_threads, Basis>;
      // w, 1/diag, v
      const auto wanted =
          static_cast<std::size_t>(steps.vectors) + (M.kind == PreconditionerKind::jacobi ? 2 : 1);
      if (!launch.lay_out(rows, kernel, wanted, 1, sizeof(double) * basis_numbers(steps.vectors)))
        return false;
      const Basis basis{{rows, A.rows, launch.layout}, M, steps, plan.dots.template as<double>()};
      const GridBarrier<1> barrier{nullptr, plan.arrived.template as<std::uint32_t>()};
      return launch.launch("arnoldi", kernel, basis, barrier);
    } else {
      return false;
    }
  };
  const bool waits = is_balanced(A) && !steps.forced;  // all blocks, for a long row
  const bool done = !waits && with_rows<wave, V>(queue, A, [&](const auto& rows, int) {
    return make(rows.resident());
  });
  if (!done && steps.forced) refuse_resident();
  return done;
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
