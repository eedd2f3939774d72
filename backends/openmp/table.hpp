#pragma once

#include <openmp/bcsr_spmv.hpp>
#include <openmp/bsell_spmv.hpp>
#include <openmp/dia_spmv.hpp>
#include <openmp/pcg_run.hpp>

namespace cnc::openmp::CNC_ISA {

template <class V>
constexpr VectorOps<V> vector_table() {
  return {.axpy = axpy<V>,
          .axpby = axpby<V>,
          .scal = scal<V>,
          .multiply = multiply<V>,
          .dot = dot<V>,
          .nrm2 = nrm2<V>,
          .precondition = precondition<V>,
          .pcg_start = pcg_start<V>,
          .pcg_direction = pcg_direction<V>,
          .pcg_update = pcg_update<V>,
          .pcg_single_reduction_update = pcg_single_reduction_update<V>};
}

template <class Operand, class V>
constexpr MatrixOps<Operand, V> format_table() {
  return {
      .spmv = spmv<Operand, V>, .spmv_dot = spmv_dot<Operand, V>, .pcg_run = pcg_run<Operand, V>};
}

template <class M, class V>
constexpr MatrixTable<M, V> matrix_operations() {
  return {.bcsr = format_table<BcsrOperand<M>, V>(),
          .bsell = format_table<BsellOperand<M>, V>(),
          .dia = format_table<DiaOperand<M>, V>()};
}

constexpr Backend make_backend(const char* name, const char* description,
                               Availability (*availability)()) {
  return {.name = name,
          .description = description,
          .memory = MemorySpace::host,
          .yardstick = false,
          .variant = true,
          .availability = availability,
          .threads = [](const Queue& queue) { return queue.threads; },
          .vector_f32 = vector_table<float>(),
          .vector_f64 = vector_table<double>(),
          .matrix_f32 = matrix_operations<float, float>(),
          .matrix_f64 = matrix_operations<double, double>(),
          .matrix_f32_f64 = matrix_operations<float, double>()};
}

}  // namespace cnc::openmp::CNC_ISA
