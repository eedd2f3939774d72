#pragma once

#include <gpu/entries.hpp>
#include <gpu/halo_run.hpp>
#include <gpu/halo_run_of_two.hpp>
#include <gpu/halo_scale.hpp>
#include <gpu/row_pattern.hpp>

#include <target/launch.hpp>
#include <target/tuning.hpp>

#include <cnc/contract/error.hpp>

#include "parts/part_maker.hpp"

#include <algorithm>

// Runs with one meeting per product: whether a matrix fits on the processors, and their launch. No format here: parts have a
// layout of their own.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Shared memory that the kernel has besides: sums of waves, and what its first wave decides.
inline constexpr std::size_t halo_static_bytes = 2048;

template <int threads, class Run>
CNC_GPU_DENSE_KERNEL(threads, threads)
halo_kernel(Run it, MethodScalars* scalars, RunState run, RunOutcome* outcome,
            std::uint32_t epoch) {
  run_in_parts(it, scalars, run, outcome, epoch);
}

template <int threads, class Scale>
CNC_GPU_DENSE_KERNEL(threads, threads)
halo_scale_kernel(Scale it, std::uint32_t epoch) {
  it.scale(epoch);
}

template <int wave, int per_thread, class V, class Method, bool among>
using HaloRunOf =
    std::conditional_t<Method::Iteration::size == 2, HaloRun<wave, per_thread, V, Method, among>,
                       HaloRunOfTwo<wave, per_thread, V, Method, among>>;

/// Calls f(kernel, run) with the run for so many rows per thread, among devices or on one.
template <int wave, class V, class Method, class F>
void with_halo_kernel(int per_thread, bool among, const F& f) {
  const auto with = [&](auto rows) {
    constexpr int k = decltype(rows)::value;
    const auto with_run = [&]<class Run>(std::type_identity<Run> run) {
      f(halo_kernel<tuning::halo_threads, Run>, run);
    };
    if (among) return with_run(std::type_identity<HaloRunOf<wave, k, V, Method, true>>());
    with_run(std::type_identity<HaloRunOf<wave, k, V, Method, false>>());
  };
  switch (compiled_halo_rows(per_thread)) {
    case 1: return with(std::integral_constant<int, 1>());
    case 2: return with(std::integral_constant<int, 2>());
    case 4: return with(std::integral_constant<int, 4>());
    default: return with(std::integral_constant<int, most_halo_rows>());
  }
}

/// Blocks for a matrix of so many rows.
inline index_t halo_blocks(const DeviceFacts& facts, index_t rows) {
  return std::min<index_t>(facts.processors, ceil_div(rows, tuning::least_halo_rows));
}

template <int wave, class M, class V>
bool HaloEntries<wave, M, V>::may_fit(const Queue& queue, index_t rows, offset_t values) {
  constexpr double padding = 4;  // of layouts that store zeros
  const DeviceFacts& facts = device_facts(queue.device);
  const index_t blocks = halo_blocks(facts, rows);
  return facts.cooperative && blocks >= 1 &&
         ceil_div(rows, blocks) <= most_halo_rows * tuning::halo_threads &&
         double(values) * sizeof(V) <= padding * blocks * double(facts.shared_bytes);
}

/// Whether all blocks of a kernel are resident at once; asks the device once.
template <class V, class... Parameters>
bool is_resident(const Queue& queue, HaloPlan<V>& plan, void (*kernel)(Parameters...)) {
  const auto entry = reinterpret_cast<const void*>(kernel);
  if (std::find(plan.resident.begin(), plan.resident.end(), entry) != plan.resident.end())
    return true;
  if (resident_blocks(queue, kernel, plan.grid.threads, plan.grid.shared_bytes) < plan.grid.blocks)
    return false;
  plan.resident.push_back(entry);
  return true;
}

/// What the kernels of a plan have in common.
template <class OnChip, class V>
OnChip part_of_launch(const HaloPlan<V>& plan, bool unit_diagonal) {
  OnChip part{plan.parts,
              plan.scaled,
              unit_diagonal,
              plan.words,
              plan.word_count,
              {plan.slots, plan.arrived},
              plan.notes.template as<HaloNotes>(),
              {}};
  if constexpr (OnChip::is_among) part.peers = *plan.peers;
  return part;
}

/// Calls f(kernel, scale), without the values yet, for the kernel that scales them.
template <int wave, bool symmetric, class M, class V, class F>
bool with_scale_kernel(const HaloPlan<V>& plan, bool unit_diagonal, const F& f) {
  const auto with = [&]<bool among>() {
    using Scale = HaloScale<wave, M, V, symmetric, among>;
    return f(halo_scale_kernel<tuning::halo_threads, Scale>,
             Scale{part_of_launch<typename Scale::OnChip>(plan, unit_diagonal), nullptr, nullptr});
  };
  return plan.peers ? with.template operator()<true>() : with.template operator()<false>();
}

/// On the host.
template <class V>
cnc::detail::PatternBeyond pattern_beyond(const Queue& queue, const PeerOperand<V>& peers) {
  const auto rows = std::size_t(peers.rows);
  cnc::detail::PatternBeyond beyond{peers.halo,
                                    on_host(queue, peers.row, rows),
                                    on_host(queue, peers.offsets, rows + 1),
                                    {},
                                    on_host(queue, peers.sent_rows, std::size_t(peers.sent))};
  beyond.column = on_host(queue, peers.columns, std::size_t(beyond.offsets[rows]));
  return beyond;
}

template <int wave, class M, class V>
std::unique_ptr<HaloPlan<V>> HaloEntries<wave, M, V>::plan(const Queue& queue, int method,
                                                           bool preconditioned,
                                                           const cnc::detail::RowPattern& A,
                                                           const PeerOperand<V>* peers) {
  const DeviceFacts& facts = device_facts(queue.device);
  const index_t blocks = halo_blocks(facts, A.rows);
  const std::size_t room = facts.shared_bytes - halo_static_bytes;
  // What is surely too large is not cut up first.
  const int per_thread = ceil_div(ceil_div(A.rows, blocks), tuning::halo_threads);
  const double pairs = double(A.columns.size()) / 2 - double(A.rows) * halo_held<V>(per_thread);
  if (pairs * sizeof(EntryPair<V>) > double(blocks) * double(room)) return nullptr;

  std::optional<cnc::detail::PatternBeyond> beyond;
  if (peers != nullptr) beyond = pattern_beyond(queue, *peers);
  const cnc::detail::HostParts parts =
      cnc::detail::make_parts(A, {blocks, tuning::halo_threads, !preconditioned, halo_held<V>},
                              beyond ? &*beyond : nullptr);
  const int halo_vectors = halo_vectors_of<V>(method);
  std::size_t bytes = 0;
  for (const Part& part : parts.part) bytes = std::max(bytes, halo_bytes<V>(part, halo_vectors));
  if (!parts.numbered || bytes > room) return nullptr;
  auto plan = std::make_unique<HaloPlan<V>>(queue.device);
  plan->per_thread = parts.rows_per_thread;
  plan->halo_vectors = halo_vectors;
  plan->has_diagonal = !preconditioned;
  if (peers != nullptr) plan->peers = *peers;
  plan->grid = {blocks, tuning::halo_threads, bytes};
  bool resident = false;
  with_halo_recurrence<V>(method, [&]<class Method>() {
    with_halo_kernel<wave, V, Method>(plan->per_thread, peers != nullptr, [&](auto kernel, auto) {
      resident = is_resident(queue, *plan, kernel);
    });
    resident = resident && with_scale_kernel<wave, Method::symmetric, M>(
                               *plan, preconditioned, [&](auto kernel, const auto&) {
                                 return is_resident(queue, *plan, kernel);
                               });
  });
  if (!resident) return nullptr;
  plan->copy(queue, parts);
  return plan;
}

/// Scales the values in parts, unless they are. The kernels that takes; none: the device does not start them.
template <int wave, bool symmetric, class M, class V>
std::optional<int> scale_parts(const Queue& queue, HaloPlan<V>& plan, const M* values,
                               const V* inverse) {
  // Other ranks, which wait for each other here, know of no addresses.
  const bool among = plan.peers.has_value();
  const ScaledOf of{among ? nullptr : values, among ? nullptr : inverse, symmetric};
  if (plan.scaled_of == of) return 0;
  plan.scaled_of.reset();
  fill_bytes(queue, plan.scaled.unfit, 0, sizeof *plan.scaled.unfit);
  const bool started =
      with_scale_kernel<wave, symmetric, M>(plan, inverse != nullptr, [&](auto kernel, auto scale) {
        scale.values = values;
        scale.inverse = inverse;
        return is_resident(queue, plan, kernel) &&
               launch_resident("halo_scale", queue, plan.grid, kernel, scale, plan.epoch);
      });
  if (!started) return std::nullopt;
  if (among) ++plan.epoch;
  plan.scaled_of = of;
  return 1;
}

template <int wave, class M, class V>
int HaloEntries<wave, M, V>::launch(const Queue& queue, int method, HaloPlan<V>& plan,
                                    const M* values, const V* inverse, const MethodVectors<V>& v,
                                    MethodScalars* scalars, const RunState& run,
                                    RunOutcome* outcome) {
  *plan.notes.template as<HaloNotes>() = {};
  int started = 0;
  with_halo_recurrence<V>(method, [&]<class Method>() {
    with_halo_kernel<wave, V, Method>(
        plan.per_thread, plan.peers.has_value(),
        [&]<class Run>(auto kernel, std::type_identity<Run>) {
          if (!is_resident(queue, plan, kernel)) return;
          const auto scaling = scale_parts<wave, Method::symmetric>(queue, plan, values, inverse);
          if (!scaling) return;
          Run halo_run{{{part_of_launch<typename Run::OnChip>(plan, inverse != nullptr), v}}};
          if (launch_resident("halo_run", queue, plan.grid, kernel, halo_run, scalars, run, outcome,
                              plan.epoch))
            started = *scaling + 1;
        });
  });
  return started;
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
