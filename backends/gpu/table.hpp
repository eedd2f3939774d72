#pragma once

#include <cnc/contract/backend.hpp>

#include <gpu/entries.hpp>
#include <gpu/runtime.hpp>

// The operation tables of a GPU backend, for devices whose waves have any of the given widths.

namespace cnc::gpu::inline CNC_GPU_TARGET {

template <int... waves>
struct Waves {};

/// The entry for the queue's device, of entries compiled for these waves: with more than one of them, every call
/// asks for the device's facts, which costs a look into a table.
template <class Waves, auto... entries>
struct EntryByWave;
template <int wave, auto entry>
struct EntryByWave<Waves<wave>, entry> {
  static constexpr auto call = entry;
};
template <int wave, int other_wave, class Result, class... Arguments,
          Result (*entry)(const Queue&, Arguments...), Result (*other)(const Queue&, Arguments...)>
struct EntryByWave<Waves<wave, other_wave>, entry, other> {
  static Result call(const Queue& queue, Arguments... arguments) {
    return (device_facts(queue.device).wave == wave ? entry : other)(queue, arguments...);
  }
};

/// What a target says about a backend.
struct BackendText {
  const char* name;
  const char* description;
  MemorySpace memory = MemorySpace::device;
};

template <int... waves>
struct Tables {
  template <auto... entries>
  static constexpr auto by_wave = EntryByWave<Waves<waves...>, entries...>::call;

  template <class V>
  static constexpr VectorOps<V> vectors() {
    return {.axpy = by_wave<VectorEntries<waves, V>::axpy...>,
            .axpby = by_wave<VectorEntries<waves, V>::axpby...>,
            .scal = by_wave<VectorEntries<waves, V>::scal...>,
            .multiply = by_wave<VectorEntries<waves, V>::multiply...>,
            .dot = by_wave<VectorEntries<waves, V>::dot...>,
            .nrm2 = by_wave<VectorEntries<waves, V>::nrm2...>,
            .precondition = by_wave<VectorEntries<waves, V>::precondition...>,
            .pcg_start = by_wave<VectorEntries<waves, V>::start...>,
            .pcg_direction = by_wave<VectorEntries<waves, V>::direction...>,
            .pcg_update = by_wave<VectorEntries<waves, V>::classic...>,
            .pcg_single_reduction_update = by_wave<VectorEntries<waves, V>::single_reduction...>};
  }

  template <class Operand, class V>
  static constexpr MatrixOps<Operand, V> matrix_ops() {
    return {.spmv = by_wave<MatrixEntries<waves, Operand, V>::spmv...>,
            .spmv_dot = by_wave<MatrixEntries<waves, Operand, V>::spmv_dot...>,
            .pcg_run = by_wave<MatrixEntries<waves, Operand, V>::pcg_run...>,
            .pcg_plan = by_wave<MatrixEntries<waves, Operand, V>::pcg_plan...>};
  }

  template <RowMapping mapping, class M, class V>
  static constexpr MatrixTable<M, V> matrix() {
    if constexpr (mapping == RowMapping::automatic)
      return {.bcsr = matrix_ops<BcsrOperand<M>, V>(),
              .bsell = matrix_ops<BsellOperand<M>, V>(),
              .dia = matrix_ops<DiaOperand<M>, V>()};
    else
      return {.bcsr = {.spmv = by_wave<MappingEntries<waves, mapping, M, V>::spmv...>}};
  }

  /// The whole backend, or (with a mapping) a variant: products with that mapping, beside the vector operations.
  template <RowMapping mapping = RowMapping::automatic>
  static constexpr Backend backend(const BackendText& text) {
    return {.name = text.name,
            .description = text.description,
            .memory = text.memory,
            .variant = mapping != RowMapping::automatic,
            .availability = gpu::availability,
            .free_bytes = text.memory == MemorySpace::device ? gpu::free_bytes : nullptr,
            .vector_f32 = vectors<float>(),
            .vector_f64 = vectors<double>(),
            .matrix_f32 = matrix<mapping, float, float>(),
            .matrix_f64 = matrix<mapping, double, double>(),
            .matrix_f32_f64 = matrix<mapping, float, double>()};
  }
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
