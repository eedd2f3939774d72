#include <reference/reference.hpp>

#include <reference/bcsr_spmv.hpp>
#include <reference/blas1.hpp>
#include <reference/bsell_spmv.hpp>
#include <reference/dia_spmv.hpp>
#include <reference/pcg_run.hpp>
#include <reference/pcg_steps.hpp>
#include <reference/precondition.hpp>
#include <reference/spmv_dot.hpp>

namespace cnc {
namespace {

template <class V>
constexpr VectorOps<V> vector_table() {
  return {
      .axpy = reference::axpy<V>,
      .axpby = reference::axpby<V>,
      .scal = reference::scal<V>,
      .multiply = reference::multiply<V>,
      .dot = reference::dot<V>,
      .nrm2 = reference::nrm2<V>,
      .precondition = reference::precondition<V>,
      .pcg_start = reference::pcg_start<V>,
      .pcg_direction = reference::pcg_direction<V>,
      .pcg_update = reference::pcg_update<V>,
      .pcg_single_reduction_update = reference::pcg_single_reduction_update<V>,
  };
}

// Only spmv is written per format; the overload for Operand is found by its argument type.
template <class Operand, class V>
constexpr MatrixOps<Operand, V> format_table() {
  return {
      .spmv = reference::spmv<typename Operand::value_type, V>,
      .spmv_dot = reference::spmv_dot<Operand, V>,
      .pcg_run = reference::pcg_run<Operand, V>,
  };
}

template <class M, class V>
constexpr MatrixTable<M, V> matrix_table() {
  return {
      .bcsr = format_table<BcsrOperand<M>, V>(),
      .bsell = format_table<BsellOperand<M>, V>(),
      .dia = format_table<DiaOperand<M>, V>(),
  };
}

Availability availability() { return {true, "serial"}; }

}  // namespace

constexpr Backend reference_backend = {
    .name = "reference",
    .description = "serial textbook loops, sums in double: the oracle",
    .memory = MemorySpace::host,
    .availability = availability,
    .vector_f32 = vector_table<float>(),
    .vector_f64 = vector_table<double>(),
    .matrix_f32 = matrix_table<float, float>(),
    .matrix_f64 = matrix_table<double, double>(),
    .matrix_f32_f64 = matrix_table<float, double>(),
};

}  // namespace cnc
