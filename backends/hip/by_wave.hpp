#pragma once

#include <gpu/table.hpp>
#include <target/launch.hpp>

// One table for devices of either wave width: every entry asks the queue's device, which costs a look into a
// table, and calls the kernels compiled for its waves.

namespace cnc::gpu::inline CNC_GPU_TARGET {

template <auto wide, auto narrow>
struct EitherWave;
template <class Result, class... Arguments, Result (*wide)(const Queue&, Arguments...),
          Result (*narrow)(const Queue&, Arguments...)>
struct EitherWave<wide, narrow> {
  static Result call(const Queue& queue, Arguments... arguments) {
    const bool is_wide = device_facts(queue.device).wave == widest_wave;
    return (is_wide ? wide : narrow)(queue, arguments...);
  }
};
template <auto wide, auto narrow>
inline constexpr auto either_wave = EitherWave<wide, narrow>::call;

template <class V>
constexpr VectorOps<V> vector_table_by_wave() {
  constexpr VectorOps<V> wide = vector_table<widest_wave, V>();
  constexpr VectorOps<V> narrow = vector_table<32, V>();
  return {.axpy = either_wave<wide.axpy, narrow.axpy>,
          .axpby = either_wave<wide.axpby, narrow.axpby>,
          .scal = either_wave<wide.scal, narrow.scal>,
          .multiply = either_wave<wide.multiply, narrow.multiply>,
          .dot = either_wave<wide.dot, narrow.dot>,
          .nrm2 = either_wave<wide.nrm2, narrow.nrm2>,
          .precondition = either_wave<wide.precondition, narrow.precondition>,
          .pcg_start = either_wave<wide.pcg_start, narrow.pcg_start>,
          .pcg_direction = either_wave<wide.pcg_direction, narrow.pcg_direction>,
          .pcg_update = either_wave<wide.pcg_update, narrow.pcg_update>,
          .pcg_single_reduction_update =
              either_wave<wide.pcg_single_reduction_update, narrow.pcg_single_reduction_update>};
}

template <class Operand, class V>
constexpr MatrixOps<Operand, V> matrix_ops_by_wave() {
  using Wide = MatrixEntries<widest_wave, Operand, V>;
  using Narrow = MatrixEntries<32, Operand, V>;
  return {.spmv = either_wave<Wide::spmv, Narrow::spmv>,
          .spmv_dot = either_wave<Wide::spmv_dot, Narrow::spmv_dot>,
          .pcg_run = either_wave<Wide::pcg_run, Narrow::pcg_run>,
          .pcg_plan = either_wave<Wide::pcg_plan, Narrow::pcg_plan>};
}

template <class M, class V>
constexpr MatrixTable<M, V> matrix_table_by_wave() {
  return {.bcsr = matrix_ops_by_wave<BcsrOperand<M>, V>(),
          .bsell = matrix_ops_by_wave<BsellOperand<M>, V>(),
          .dia = matrix_ops_by_wave<DiaOperand<M>, V>()};
}

template <RowMapping mapping, class M, class V>
constexpr MatrixTable<M, V> mapping_table_by_wave() {
  return {.bcsr = {.spmv = either_wave<MappingEntries<widest_wave, mapping, M, V>::spmv,
                                       MappingEntries<32, mapping, M, V>::spmv>}};
}

constexpr Backend backend_table_by_wave(const BackendText& text) {
  return {.name = text.name,
          .description = text.description,
          .memory = text.memory,
          .availability = text.availability,
          .free_bytes = text.free_bytes,
          .vector_f32 = vector_table_by_wave<float>(),
          .vector_f64 = vector_table_by_wave<double>(),
          .matrix_f32 = matrix_table_by_wave<float, float>(),
          .matrix_f64 = matrix_table_by_wave<double, double>(),
          .matrix_f32_f64 = matrix_table_by_wave<float, double>()};
}

/// A variant: products with one mapping, beside the plain vector operations.
template <RowMapping mapping>
constexpr Backend mapping_backend_table_by_wave(const BackendText& text) {
  return {.name = text.name,
          .description = text.description,
          .memory = text.memory,
          .variant = true,
          .availability = text.availability,
          .free_bytes = text.free_bytes,
          .vector_f32 = vector_table_by_wave<float>(),
          .vector_f64 = vector_table_by_wave<double>(),
          .matrix_f32 = mapping_table_by_wave<mapping, float, float>(),
          .matrix_f64 = mapping_table_by_wave<mapping, double, double>(),
          .matrix_f32_f64 = mapping_table_by_wave<mapping, float, double>()};
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
