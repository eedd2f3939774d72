#include "kokkos/kokkos.hpp"

#include "kokkos/availability.hpp"
#include "kokkos/kernels.hpp"

namespace cnc {
namespace kokkos {

/// The passes of all methods, as fill_passes wants them.
template <class Exec, class V>
struct PassesByType {
  template <class Method, class Pass>
  struct Entry {
    static void run(const Queue& queue, index_t n, const PreconditionerOperand<V>& M,
                    const MethodVectors<V>& v, MethodScalars* scalars, PassPart part) {
      Passes<Exec, V>::run(queue, name_of<V, Method, Pass>(), n, M, v, scalars, part);
    }
  };
};

/// The same for several columns.
template <class Exec, class V>
struct PassesOfColumns {
  template <class Method, class Pass>
  struct Entry {
    static void run(const Queue& queue, index_t n, int columns, const PreconditionerOperand<V>& M,
                    const MethodVectors<V>& v, ColumnScalars* scalars, PassPart part) {
      Columns<Exec, V>::run_pass(queue, name_of<V, Method, Pass>(), n, columns, M, v, scalars,
                                 part);
    }
  };
};

template <class Exec, class V>
constexpr VectorOps<V> vector_table() {
  VectorOps<V> table = {
      .axpy = Elementwise<Exec, V>::axpy,
      .axpby = Elementwise<Exec, V>::axpby,
      .scal = Elementwise<Exec, V>::scal,
      .multiply = Elementwise<Exec, V>::multiply,
      .dot = Reductions<Exec, V>::dot,
      .nrm2 = Reductions<Exec, V>::nrm2,
      .mdot = Reductions<Exec, V>::mdot,
      .maxpy = Reductions<Exec, V>::maxpy,
      .normalize = Elementwise<Exec, V>::normalize,
      .precondition = Precondition<Exec, V>::apply,
      .dot_compensated = CarefulSums<Exec, V>::dot,
      .sums_compensated = CarefulSums<Exec, V>::of_pass,
      .dot_columns = Columns<Exec, V>::dot,
      .precondition_columns = Columns<Exec, V>::precondition,
  };
  fill_passes<V, PassesByType<Exec, V>::template Entry>(table.methods);
  fill_column_passes<V, PassesOfColumns<Exec, V>::template Entry>(table.column_methods);
  return table;
}

// No runs: Kokkos has no barrier across a whole grid, so there is nothing to fuse.
template <class Exec, class M, class V>
constexpr MatrixTable<M, V> matrix_table() {
  return MatrixTable<M, V>::each([]<class Operand>() {
    return MatrixOps<Operand, V>{.spmv = Spmv<Exec, Operand, V>::spmv,
                                 .spmv_careful = CarefulProduct<Exec, Operand, V>::spmv,
                                 .relax = Spmv<Exec, Operand, V>::relax,
                                 .spmv_dot = Spmv<Exec, Operand, V>::spmv_dot,
                                 .spmm = ColumnProduct<Exec, Operand, V>::spmm};
  });
}

template <class Exec>
constexpr Backend backend_table(MemorySpace memory) {
  return {
      .name = "kokkos",
      .description = "portable Kokkos kernels, the line that tuned kernels must beat",
      .memory = memory,
      .baseline = false,
      .variant = false,
      .availability = availability<Exec>,
      .threads = threads<Exec>,
      .vectors = for_vector_types([]<class V>() { return vector_table<Exec, V>(); }),
      .matrices = for_precisions([]<class M, class V>() { return matrix_table<Exec, M, V>(); }),
  };
}

}  // namespace kokkos

constexpr Backend kokkos_backend = kokkos::backend_table<kokkos::HostExec>(MemorySpace::host);

#ifdef CNC_KOKKOS_HAS_DEVICE
constexpr Backend kokkos_device_backend =
    kokkos::backend_table<kokkos::DeviceExec>(MemorySpace::device);
#endif

}  // namespace cnc
