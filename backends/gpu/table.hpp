#pragma once

#include <contract/backend.hpp>

#include <gpu/pcg_update.hpp>

// The operation tables of a GPU backend. What works on matrices is only declared here: gpu/matrix_entries.hpp
// defines it, and a target instantiates it in one source per format and precision, so that they compile side by
// side.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// How rows of CSR and BCSR are dealt out to threads.
enum class RowMapping {
  automatic,      ///< lanes per row by the mean row length; one wave per block row
  row_per_wave,   ///< Verschoor & Jalba 2012, section 4: one warp per block row
  row_per_block,  ///< the same: one thread block per block row
  balanced,       ///< Dehnavi et al. 2010: equal numbers of nonzeros per thread block (CSR only)
};

/// Everything for one format.
template <int wave, class Operand, class V>
struct MatrixEntries {
  static void spmv(const Queue&, V alpha, const Operand& A, const V* x, V beta, V* y);
  static void spmv_dot(const Queue&, const Operand& A, const V* x, V* y, double* result);
  static void pcg_run(const Queue&, const Operand& A, const PreconditionerOperand<V>& M,
                      const PcgVectors<V>& v, PcgScalars* scalars, PcgRun* run);
  static std::unique_ptr<PcgPlan> pcg_plan(const Queue&, const Operand& A);
};

/// Products with one mapping, to compare with.
template <int wave, RowMapping mapping, class M, class V>
struct MappingEntries {
  static void spmv(const Queue&, V alpha, const BcsrOperand<M>& A, const V* x, V beta, V* y);
};

template <int wave, class V>
constexpr VectorOps<V> vector_table() {
  using Vectors = VectorLaunch<wave, V>;
  using Steps = PcgLaunch<wave, V>;
  return {.axpy = Vectors::axpy,
          .axpby = Vectors::axpby,
          .scal = Vectors::scal,
          .multiply = Vectors::multiply,
          .dot = Vectors::dot,
          .nrm2 = Vectors::nrm2,
          .precondition = Steps::precondition,
          .pcg_start = Steps::start,
          .pcg_direction = Steps::direction,
          .pcg_update = Steps::classic,
          .pcg_single_reduction_update = Steps::single_reduction};
}

template <int wave, class Operand, class V>
constexpr MatrixOps<Operand, V> matrix_ops_of() {
  using Entries = MatrixEntries<wave, Operand, V>;
  return {.spmv = Entries::spmv,
          .spmv_dot = Entries::spmv_dot,
          .pcg_run = Entries::pcg_run,
          .pcg_plan = Entries::pcg_plan};
}

template <int wave, class M, class V>
constexpr MatrixTable<M, V> matrix_table_of() {
  return {.bcsr = matrix_ops_of<wave, BcsrOperand<M>, V>(),
          .bsell = matrix_ops_of<wave, BsellOperand<M>, V>(),
          .dia = matrix_ops_of<wave, DiaOperand<M>, V>()};
}

template <int wave, RowMapping mapping, class M, class V>
constexpr MatrixTable<M, V> mapping_table() {
  return {.bcsr = {.spmv = MappingEntries<wave, mapping, M, V>::spmv}};
}

/// What a target says about a backend.
struct BackendText {
  const char* name;
  const char* description;
  MemorySpace memory;
  Availability (*availability)();
  double (*free_bytes)(int device);
};

template <int wave>
constexpr Backend backend_table(const BackendText& text) {
  return {.name = text.name,
          .description = text.description,
          .memory = text.memory,
          .availability = text.availability,
          .free_bytes = text.free_bytes,
          .vector_f32 = vector_table<wave, float>(),
          .vector_f64 = vector_table<wave, double>(),
          .matrix_f32 = matrix_table_of<wave, float, float>(),
          .matrix_f64 = matrix_table_of<wave, double, double>(),
          .matrix_f32_f64 = matrix_table_of<wave, float, double>()};
}

/// A variant: products with one mapping, beside the plain vector operations.
template <int wave, RowMapping mapping>
constexpr Backend mapping_backend_table(const BackendText& text) {
  return {.name = text.name,
          .description = text.description,
          .memory = text.memory,
          .variant = true,
          .availability = text.availability,
          .free_bytes = text.free_bytes,
          .vector_f32 = vector_table<wave, float>(),
          .vector_f64 = vector_table<wave, double>(),
          .matrix_f32 = mapping_table<wave, mapping, float, float>(),
          .matrix_f64 = mapping_table<wave, mapping, double, double>(),
          .matrix_f32_f64 = mapping_table<wave, mapping, float, double>()};
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
