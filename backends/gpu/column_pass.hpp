#pragma once

#include <gpu/columns.hpp>
#include <gpu/pass_kernel.hpp>

// A pass of a method over several interleaved columns, and what there is of vectors besides.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Rows of its column that a thread has under way together.
inline constexpr int column_rows_together = 4;

template <int wave, class V, class Method, class Pass>
CNC_GPU_DENSE_KERNEL(max_column_threads, resident_column_threads)
column_pass_kernel(index_t n, int shift, PreconditionerOperand<V> M, MethodVectors<V> v,
                   ColumnScalars* scalars, PassPart part, GridScratch scratch) {
  constexpr bool has_sums = Pass::sums.count > 0;
  const ColumnThread mine(shift);
  MethodScalars begun;
  const bool moves = begin_column<Method, Pass>(*scalars, mine.column, begun);
  SumsOf<Pass> add;
  if (moves) {
    const Pass pass(begun);
    if (part == PassPart::after) {
      mine.for_rows(n, [&](offset_t i) {
        Row<V> row{};
        for_vectors<Pass::summed>([&](auto k) { row[k] = v[k][mine.place(i)]; });
        if constexpr (has_sums) pass.sums_of(row, add);
      });
    } else {
      const bool whole = part == PassPart::whole;
      // What passes alone read is worked out again where that is a multiplication.
      const bool is_local = M.kind != PreconditionerKind::block_jacobi;
      constexpr bool again = Pass::again.active();
      constexpr VectorSet loads =
          again ? (loaded_by<Pass> & ~set_of_one(Pass::again.to)) | set_of_one(Pass::again.from)
                : loaded_by<Pass>;
      constexpr int together = column_rows_together;
      const index_t groups = ceil_div(n, together);
      mine.for_rows(groups, [&](offset_t g) {
        // Rows a constant distance apart, so that neighbours still read what lies side by side.
        Row<V> rows[together] = {};
        V inverse[together];
        CNC_GPU_UNROLL
        for (int u = 0; u < together; ++u) {
          const offset_t i = g + u * offset_t(groups);
          if (i >= n) continue;
          for_vectors<loads>([&](auto k) { rows[u][k] = v[k][mine.place(i)]; });
          if constexpr (Pass::M.active() || again)
            inverse[u] = M.kind == PreconditionerKind::jacobi ? M.inverse[i] : V(1);
          if constexpr (again)
            if (!is_local) rows[u][Pass::again.to] = v[Pass::again.to][mine.place(i)];
        }
        CNC_GPU_UNROLL
        for (int u = 0; u < together; ++u) {
          const offset_t i = g + u * offset_t(groups);
          if (i >= n) continue;
          if constexpr (again)
            if (is_local) rows[u][Pass::again.to] = inverse[u] * rows[u][Pass::again.from];
          pass(rows[u]);
          for_vectors<Pass::writes>([&](auto k) { v[k][mine.place(i)] = rows[u][k]; });
          if (!whole) continue;
          if constexpr (Pass::M.active())
            v[Pass::M.to][mine.place(i)] = rows[u][Pass::M.to] = inverse[u] * rows[u][Pass::M.from];
          if constexpr (has_sums) pass.sums_of(rows[u], add);
        }
      });
    }
  }
  if constexpr (stores_scalars<Pass>) {
    if (part != PassPart::before) {
      bool last;
      if constexpr (has_sums)
        last = grid_sum_of_columns<wave>(add.sums, mine, scratch);
      else
        last = last_block(scratch.ticket);
      if (!last || thread_index() >= mine.columns()) return;
      // Worked out once more: nobody has stored anything since.
      MethodScalars s;
      if (begin_column<Method, Pass>(*scalars, mine.column, s))
        end_column<Method, Pass>(*scalars, mine.column, s, add.sums);
      else
        give_up_column(*scalars, mine.column, s);
      return;
    }
  }
  if (!moves && block_index() == 0 && thread_index() < mine.columns())
    give_up_column(*scalars, mine.column, begun);
}

template <int wave, class V>
void PassEntries<wave, V>::launch_columns(const Queue& queue, PassName name, index_t n, int columns,
                                          const PreconditionerOperand<V>& M,
                                          const MethodVectors<V>& v, ColumnScalars* scalars,
                                          PassPart part) {
  ColumnMethods<V>::for_each([&]<class Method>(int) {
    if (method_index<V, Method>() != name.method) return;
    for_pass<Method>(name, [&]<class Pass>() {
      const offset_t groups = ceil_div(n, column_rows_together);
      const Grid grid = column_grid(queue, groups * columns, Pass::sums.count * columns);
      gpu::launch("column_pass", queue, grid, column_pass_kernel<wave, V, Method, Pass>, n,
                  shift_of(columns), M, v, scalars, part, grid_scratch(queue));
    });
  });
}

template <int wave, class V>
CNC_GPU_KERNEL(max_column_threads)
dot_columns_kernel(index_t n, int shift, const V* x, const V* y, GridScratch scratch,
                   double* result) {
  const ColumnThread mine(shift);
  double sum[1] = {0};
  mine.for_rows(n,
                [&](offset_t i) { sum[0] += double(x[mine.place(i)]) * double(y[mine.place(i)]); });
  if (grid_sum_of_columns<wave>(sum, mine, scratch) && thread_index() < mine.columns())
    result[mine.column] = sum[0];
}

template <int wave, class V>
void VectorEntries<wave, V>::dot_columns(const Queue& queue, index_t n, int columns, const V* x,
                                         const V* y, double* result) {
  launch("dot_columns", queue, column_grid(queue, offset_t(n) * columns, columns),
         dot_columns_kernel<wave, V>, n, shift_of(columns), x, y, grid_scratch(queue), result);
}

template <class V>
CNC_GPU_KERNEL(max_column_threads)
precondition_columns_kernel(index_t n, int shift, PreconditionerOperand<V> M, const V* r, V* z) {
  const ColumnThread mine(shift);
  mine.for_rows(n, [&](offset_t i) {
    z[mine.place(i)] =
        preconditioned(M, n, static_cast<index_t>(i), [&](index_t j) { return r[mine.place(j)]; });
  });
}

template <int wave, class V>
void VectorEntries<wave, V>::precondition_columns(const Queue& queue, index_t n, int columns,
                                                  const PreconditionerOperand<V>& M, const V* r,
                                                  V* z) {
  launch("precondition_columns", queue, column_grid(queue, offset_t(n) * columns, 0),
         precondition_columns_kernel<V>, n, shift_of(columns), M, r, z);
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
