#pragma once

#include <openmp/bcsr_spmv.hpp>
#include <openmp/bsell_spmv.hpp>
#include <openmp/columns.hpp>
#include <openmp/dia_spmv.hpp>
#include <openmp/method_run.hpp>

namespace cnc::openmp::CNC_ISA {

template <class V>
constexpr VectorOps<V> vector_table() {
  VectorOps<V> table = {.axpy = axpy<V>,
                        .axpby = axpby<V>,
                        .scal = scal<V>,
                        .multiply = multiply<V>,
                        .dot = dot<V>,
                        .nrm2 = nrm2<V>,
                        .mdot = mdot<V>,
                        .maxpy = maxpy<V>,
                        .normalize = normalize<V>,
                        .precondition = precondition<V>,
                        .dot_compensated = CarefulSums<V>::dot,
                        .sums_compensated = CarefulSums<V>::of_pass,
                        .dot_columns = dot_columns<V>,
                        .precondition_columns = precondition_columns<V>};
  fill_passes<V, PassesOf<V>::template Entry>(table.methods);
  fill_column_passes<V, ColumnPassesOf<V>::template Entry>(table.column_methods);
  return table;
}

template <class Operand, class V>
constexpr MatrixOps<Operand, V> format_table() {
  MatrixOps<Operand, V> table = {.spmv = spmv<Operand, V>,
                                 .spmv_careful = CarefulProduct<Operand, V>::spmv,
                                 .relax = relax<Operand, V>,
                                 .spmv_dot = spmv_dot<Operand, V>,
                                 .spmm = spmm<Operand, V>};
  Methods<V>::for_each([&]<class Method>(int m) { table.run[m] = run<Method, Operand, V>; });
  return table;
}

constexpr Backend make_backend(const char* name, const char* description,
                               Availability (*availability)()) {
  return {
      .name = name,
      .description = description,
      .memory = MemorySpace::host,
      .baseline = false,
      .variant = true,
      .dictionaries = ReadsDictionaries::as_runs,
      .availability = availability,
      .threads = [](const Queue& queue) { return queue.threads; },
      .vectors = for_vector_types([]<class V>() { return vector_table<V>(); }),
      .matrices = for_precisions([]<class M, class V>() {
        return MatrixTable<M, V>::each([]<class Operand>() { return format_table<Operand, V>(); });
      })};
}

}  // namespace cnc::openmp::CNC_ISA
