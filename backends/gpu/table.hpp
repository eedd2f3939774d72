#pragma once

#include <cnc/contract/backend.hpp>

#include <gpu/entries.hpp>
#include <gpu/runtime.hpp>

#include <target/tuning.hpp>

#include <utility>

// The operation tables of a GPU backend, for devices whose waves have any of the given widths.

namespace cnc::gpu::inline CNC_GPU_TARGET {

template <int... waves>
struct Waves {};

/// The entry for the queue's device, of entries compiled for these waves: with more than one of them, every call
/// asks for the device's facts, which costs a lookup in a table.
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

  /// The passes of methods, as fill_passes wants them.
  template <class V>
  struct Passes {
    template <class Method, class Pass>
    struct Entry {
      static void run(const Queue& queue, index_t n, const PreconditionerOperand<V>& M,
                      const MethodVectors<V>& v, MethodScalars* scalars, PassPart part) {
        constexpr PassName name = name_of<V, Method, Pass>();
        by_wave<PassEntries<waves, V>::launch...>(queue, name, n, M, v, scalars, part, RunLink());
      }
    };
  };

  /// The same for several columns.
  template <class V>
  struct PassesOfColumns {
    template <class Method, class Pass>
    struct Entry {
      static void run(const Queue& queue, index_t n, int columns, const PreconditionerOperand<V>& M,
                      const MethodVectors<V>& v, ColumnScalars* scalars, PassPart part) {
        constexpr PassName name = name_of<V, Method, Pass>();
        by_wave<PassEntries<waves, V>::launch_columns...>(queue, name, n, columns, M, v, scalars,
                                                          part);
      }
    };
  };

  /// What a product has to do with other ranks, where it stands alone.
  template <int wave, class V>
  struct Exchanges {
    static void send(const Queue& queue, const PeerOperand<V>& peers, const V* x) {
      PeerEntries<wave, V>::send(queue, peers, x, nullptr);
    }
    static void receive(const Queue& queue, const PeerOperand<V>& peers, V* y, RowScale<V> scale,
                        const V* with, double* result) {
      PeerEntries<wave, V>::receive(queue, peers, y, scale, with, result, false, nullptr);
    }
  };

  template <class V>
  static constexpr VectorOps<V> vectors() {
    VectorOps<V> table = {
        .axpy = by_wave<VectorEntries<waves, V>::axpy...>,
        .axpby = by_wave<VectorEntries<waves, V>::axpby...>,
        .scal = by_wave<VectorEntries<waves, V>::scal...>,
        .multiply = by_wave<VectorEntries<waves, V>::multiply...>,
        .dot = by_wave<VectorEntries<waves, V>::dot...>,
        .nrm2 = by_wave<VectorEntries<waves, V>::nrm2...>,
        .mdot = by_wave<VectorEntries<waves, V>::mdot...>,
        .maxpy = by_wave<VectorEntries<waves, V>::maxpy...>,
        .normalize = by_wave<VectorEntries<waves, V>::normalize...>,
        .precondition = by_wave<VectorEntries<waves, V>::precondition...>,
        .plan_coarse = by_wave<CoarseEntries<waves, V>::plan...>,
        .coarse_cycle = by_wave<CoarseEntries<waves, V>::run...>,
        .dot_compensated = by_wave<CarefulEntries<waves, V>::dot...>,
        .sums_compensated = by_wave<CarefulEntries<waves, V>::sums...>,
        .send_to_peers = by_wave<Exchanges<waves, V>::send...>,
        .add_from_peers = by_wave<Exchanges<waves, V>::receive...>,
        .dot_columns = by_wave<VectorEntries<waves, V>::dot_columns...>,
        .precondition_columns = by_wave<VectorEntries<waves, V>::precondition_columns...>};
    fill_passes<V, Passes<V>::template Entry>(table.methods);
    fill_column_passes<V, PassesOfColumns<V>::template Entry>(table.column_methods);
    return table;
  }

  template <class Operand, class V, int method>
  static constexpr auto run_entry = by_wave<RunEntries<waves, Operand, V, method>::run...>;

  template <class Operand, class V>
  static constexpr MatrixOps<Operand, V> format_table() {
    MatrixOps<Operand, V> table = {
        .spmv = by_wave<MatrixEntries<waves, Operand, V>::spmv...>,
        .spmv_careful = CarefulProducts<Operand, V>::spmv,
        .relax = by_wave<MatrixEntries<waves, Operand, V>::relax...>,
        .residual = by_wave<MatrixEntries<waves, Operand, V>::residual...>,
        .spmv_dot = by_wave<MatrixEntries<waves, Operand, V>::spmv_dot...>,
        .spmm = by_wave<MatrixEntries<waves, Operand, V>::spmm...>,
        .arnoldi = by_wave<BasisEntries<waves, Operand, V>::arnoldi...>,
        .plan = by_wave<MatrixEntries<waves, Operand, V>::plan...>,
        .run_plan = by_wave<PlanEntries<waves, Operand, V>::plan...>};
    [&]<int... method>(std::integer_sequence<int, method...>) {
      ((table.run[method] = run_entry<Operand, V, method>), ...);
    }
    (std::make_integer_sequence<int, method_count>());
    return table;
  }

  template <RowMapping mapping, class M, class V>
  static constexpr MatrixTable<M, V> matrix() {
    if constexpr (mapping == RowMapping::automatic) {
      return MatrixTable<M, V>::each([&]<class Operand>() { return format_table<Operand, V>(); });
    } else {
      MatrixTable<M, V> table;
      table.template of<BcsrOperand<M>>().spmv =
          by_wave<MappingEntries<waves, mapping, M, V>::spmv...>;
      return table;
    }
  }

  /// The whole backend, or (with a mapping) a variant: products with that mapping, beside the vector operations.
  template <RowMapping mapping = RowMapping::automatic>
  static constexpr Backend backend(const BackendText& text) {
    return {
        .name = text.name,
        .description = text.description,
        .memory = text.memory,
        .variant = mapping != RowMapping::automatic,
        .dictionaries =
            mapping == RowMapping::automatic ? ReadsDictionaries::as_rows : ReadsDictionaries::no,
        .short_columns = mapping == RowMapping::automatic,
        .value_tables = mapping == RowMapping::automatic,
        .least_table_values = tuning::least_table_values,
        .availability = gpu::availability,
        .record = RecordedOperations::record,
        .free_bytes = text.memory == MemorySpace::device ? gpu::free_bytes : nullptr,
        .peers = gpu::peer_memory,
        .vectors = for_vector_types([&]<class V>() { return vectors<V>(); }),
        .matrices = for_precisions([&]<class M, class V>() { return matrix<mapping, M, V>(); })};
  }
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
