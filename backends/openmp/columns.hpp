#pragma once

#include <openmp/dia_spmv.hpp>
#include <openmp/matrix_ops.hpp>
#include <openmp/pass.hpp>

// Several interleaved columns (cnc/contract/columns.hpp). A product has the columns side by side in registers; a pass
// takes a tile of rows apart, runs over one column after the other as over any vector, and puts it together again.

namespace cnc::openmp::CNC_ISA {

/// Groups of rows that share a partial sum are larger, so that those of all columns have room.
constexpr int groups_together(int columns) { return (columns + 1) / 2; }

/// Rows of all columns that are in the nearest cache at one time.
inline constexpr index_t column_tile = 64;

/// Calls f(std::integral_constant<int, columns>).
template <class F>
CNC_INLINE void with_columns(int columns, const F& f) {
  switch (columns) {
    case 1: return f(std::integral_constant<int, 1>());
    case 2: return f(std::integral_constant<int, 2>());
    case 4: return f(std::integral_constant<int, 4>());
    case 8: return f(std::integral_constant<int, 8>());
    default: return f(std::integral_constant<int, max_columns>());
  }
}

/// One row of A X: K columns in registers.
template <class V, int K>
struct RowOfColumns {
  static constexpr int W = K < lanes<V> ? K : lanes<V>;
  static constexpr int chunks = K / W;
  Vec<V, W> sums[chunks] = {};

  CNC_INLINE void add(V value, const V* x) {
    for (int j = 0; j < chunks; ++j) sums[j] += value * load<V, W>(x + j * W);
  }
  CNC_INLINE void store_to(V alpha, V beta, V* y) const {
    for (int j = 0; j < chunks; ++j) {
      Vec<V, W> result = alpha * sums[j];
      if (beta != V(0)) result += beta * load<V, W>(y + j * W);
      store<V, W>(y + j * W, result);
    }
  }
};

template <int K, class V>
CNC_INLINE void add_dots(const V* with, const V* y, double* with_sums, double* self_sums) {
  for (int c = 0; c < K; ++c) with_sums[c] += double(with[c]) * double(y[c]);
  for (int c = 0; c < K; ++c) self_sums[c] += double(y[c]) * double(y[c]);
}

/// Rows [begin, end) in the order of storage, with sums of the dots that are wanted.
template <int K, class Rows, class V>
CNC_INLINE void multiply_columns(const Rows& rows, V alpha, const V* x, V beta, V* y,
                                 offset_t begin, offset_t end, const V* with, double* with_sums,
                                 double* self_sums) {
  const auto cols = static_cast<std::uint32_t>(rows.A.cols);
  for (offset_t t = begin; t < end; ++t) {
    const auto row = rows.at(t);
    if (row.row < 0) continue;
    RowOfColumns<V, K> product;
    for (auto k = row.begin; k < row.end; k += row.step) {
      const index_t column = row.column(k);
      for (int w = 0; w < rows.width(); ++w)
        if (static_cast<std::uint32_t>(column + w) < cols)
          product.add(static_cast<V>(row.value(k, w)), x + static_cast<offset_t>(column + w) * K);
    }
    V* const to = y + static_cast<offset_t>(row.row) * K;
    product.store_to(alpha, beta, to);
    if (with != nullptr)
      add_dots<K>(with + static_cast<offset_t>(row.row) * K, to, with_sums, self_sums);
  }
}

/// The same by diagonals: their values and what they meet of x are read in one run each.
template <int K, class T, class V>
CNC_INLINE void multiply_columns(const detail::StoredRows<DiaOperand<T>, 1>& stored, V alpha,
                                 const V* x, V beta, V* y, offset_t begin, offset_t end,
                                 const V* with, double* with_sums, double* self_sums) {
  constexpr index_t tile = column_tile;
  const DiaOperand<T>& A = stored.A;
  for (auto i = static_cast<index_t>(begin); i < end; i += tile) {
    const index_t stop = end - i < tile ? static_cast<index_t>(end) : i + tile;
    RowOfColumns<V, K> sums[tile] = {};
    const auto add = [&](const T* values, index_t shift, Range part)
        __attribute__((always_inline)) {
      for (index_t row = part.begin; row < part.end; ++row)
        sums[row - i].add(static_cast<V>(values[row]),
                          x + (static_cast<offset_t>(row) + shift) * K);
    };
    for (index_t d = 0; d < A.diagonals; ++d) {
      const index_t offset = A.offsets[d];
      const T* const diagonal = A.values + static_cast<offset_t>(d) * A.rows;
      add(diagonal, offset, inside(A, offset, i, stop));
      if (A.symmetric && offset > 0)
        add(diagonal - offset, -offset, {i > offset ? i : (offset < stop ? offset : stop), stop});
    }
    for (index_t row = i; row < stop; ++row) {
      const offset_t place = static_cast<offset_t>(row) * K;
      sums[row - i].store_to(alpha, beta, y + place);
      if (with != nullptr) add_dots<K>(with + place, y + place, with_sums, self_sums);
    }
  }
}

template <class Operand, class V>
void spmm(const Queue& queue, int columns, V alpha, const Operand& A, const V* x, V beta, V* y,
          const ColumnDots<V>& dots) {
  using Kernel = FormatKernel<Operand, V>;
  const index_t units = Kernel::units(A);
  const index_t group = Kernel::units_per_group(A) * groups_together(columns);
  const index_t groups = ceil_div(units, group);
  const int threads = useful_threads(queue, Kernel::work_before(A, units) * columns);
  double* const partials = queue.partials;
  run_team(threads, Shares::equal, [&](const Team& team) {
    const auto unit_at = [=](index_t g) {
      const offset_t unit = static_cast<offset_t>(g) * group;
      return unit < units ? static_cast<index_t>(unit) : units;
    };
    const Range share = balanced_share(groups, team.part(), team.parts(), [&](index_t g) {
      return Kernel::work_before(A, unit_at(g));
    });
    with_columns(columns, [&](auto constant) {
      constexpr int K = decltype(constant)::value;
      const auto multiply = [&](const auto& rows) {
        for (index_t g = share.begin; g < share.end; ++g) {
          double sums[2][K] = {};
          // A last block row may stick out of the matrix.
          const offset_t end = unit_at(g + 1) * rows.per_unit();
          multiply_columns<K>(rows, alpha, x, beta, y, unit_at(g) * rows.per_unit(),
                              end < rows.count() ? end : rows.count(), dots.with, sums[0], sums[1]);
          if (dots.with == nullptr) continue;
          for (int c = 0; c < 2 * K; ++c)
            partials[static_cast<offset_t>(c) * groups + g] = sums[c / K][c % K];
        }
      };
      if constexpr (requires { A.block_size; })
        if (A.block_size != 1) return multiply(detail::StoredRows<Operand, 0>{A});
      multiply(detail::StoredRows<Operand, 1>{A});
    });
  });
  if (dots.with == nullptr) return;
  for (int c = 0; c < columns; ++c) {
    MethodScalars& scalars = dots.scalars->of[c];
    const auto total = [&](int which) {
      return sum_partials(partials + static_cast<offset_t>(which * columns + c) * groups, groups);
    };
    scalars[dots.with_scalar] = total(0);
    if (dots.self_scalar >= 0) scalars[dots.self_scalar] = total(1);
  }
}

/// Calls body(group, begin, end) for groups of rows, whole tiles of them, on threads that these many columns keep busy; how
/// many groups.
template <class Body>
CNC_INLINE index_t for_row_groups(const Queue& queue, index_t n, int columns, index_t tile,
                                  const Body& body) {
  const index_t unit = ceil_div(reduction_block * groups_together(columns), tile) * tile;
  const index_t groups = ceil_div(n, unit);
  const int threads = useful_threads(queue, double(n) * columns);
  run_team(threads, Shares::equal, [&](const Team& team) {
    const Range share = equal_share(groups, team.part(), team.parts());
    for (index_t g = share.begin; g < share.end; ++g)
      body(g, g * unit, n - g * unit < unit ? n : (g + 1) * unit);
  });
  return groups;
}

template <class V>
void dot_columns(const Queue& queue, index_t n, int columns, const V* x, const V* y,
                 double* result) {
  double* const partials = queue.partials;
  const index_t groups =
      for_row_groups(queue, n, columns, 1, [=](index_t g, index_t begin, index_t end) {
        double sums[max_columns] = {};
        for (index_t i = begin; i < end; ++i)
          for (int c = 0; c < columns; ++c) {
            const offset_t place = static_cast<offset_t>(i) * columns + c;
            sums[c] += double(x[place]) * double(y[place]);
          }
        for (int c = 0; c < columns; ++c)
          partials[static_cast<offset_t>(g) * columns + c] = sums[c];
      });
  for (int c = 0; c < columns; ++c) {
    result[c] = 0;
    for (index_t g = 0; g < groups; ++g)
      result[c] += partials[static_cast<offset_t>(g) * columns + c];
  }
}

template <class V>
void precondition_columns(const Queue& queue, index_t n, int columns,
                          const PreconditionerOperand<V>& M, const V* r, V* z) {
  const int b = M.kind == PreconditionerKind::block_jacobi ? M.block_size : 1;
  for_row_groups(queue, n, columns, 1, [=](index_t, index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i) {
      const index_t first = i / b * b;
      const int size = n - first < b ? n - first : b;
      for (int c = 0; c < columns; ++c) {
        const auto place = [=](index_t row) { return static_cast<offset_t>(row) * columns + c; };
        V value = 0;
        if (M.kind == PreconditionerKind::none)
          value = r[place(i)];
        else
          for (int k = 0; k < size; ++k)
            value += M.inverse[static_cast<offset_t>(i) * b + k] * r[place(first + k)];
        z[place(i)] = value;
      }
    }
  });
}

/// Between K interleaved columns and each of them by itself, of a tile.
template <int K, class V>
CNC_INLINE void take_apart(const V* __restrict from, V* __restrict to, index_t rows) {
#pragma omp simd
  for (index_t r = 0; r < rows; ++r)
    for (int c = 0; c < K; ++c) to[c * column_tile + r] = from[r * K + c];
}
template <int K, class V>
CNC_INLINE void put_together(const V* __restrict from, V* __restrict to, index_t rows) {
#pragma omp simd
  for (index_t r = 0; r < rows; ++r)
    for (int c = 0; c < K; ++c) to[r * K + c] = from[c * column_tile + r];
}

/// The rows of a tile, column by column and vector by vector.
template <class V>
struct ColumnTile {
  int columns;
  V at[max_method_vectors][max_columns * column_tile];

  MethodVectors<V> column(int c) {
    MethodVectors<V> all;
    for (int k = 0; k < max_method_vectors; ++k) all.at[k] = at[k] + c * column_tile;
    return all;
  }
  [[gnu::noinline]] void load(VectorSet set, const MethodVectors<V>& v, index_t begin,
                              index_t rows) {
    with_columns(columns, [&](auto constant) {
      constexpr int K = decltype(constant)::value;
      for (int k = 0; k < max_method_vectors; ++k)
        if (contains(set, k)) take_apart<K>(v[k] + static_cast<offset_t>(begin) * K, at[k], rows);
    });
  }
  [[gnu::noinline]] void store(VectorSet set, const MethodVectors<V>& v, index_t begin,
                               index_t rows) {
    with_columns(columns, [&](auto constant) {
      constexpr int K = decltype(constant)::value;
      for (int k = 0; k < max_method_vectors; ++k)
        if (contains(set, k)) put_together<K>(at[k], v[k] + static_cast<offset_t>(begin) * K, rows);
    });
  }
};

/// The preconditioner of rows [begin, ...), counted from there.
template <class V>
CNC_INLINE PreconditionerOperand<V> from_row(PreconditionerOperand<V> M, index_t begin) {
  const offset_t values = static_cast<offset_t>(begin) * M.block_size;
  if (M.inverse != nullptr) M.inverse += values;
  if (M.transposed_inverse != nullptr) M.transposed_inverse += values;
  return M;
}

/// Which vectors a pass over columns takes from memory into its tiles, and back.
struct TileTraffic {
  VectorSet loads, stores;
};
template <class Pass>
constexpr TileTraffic traffic_of(PreconditionerKind M, PassPart part) {
  if (part == PassPart::after) return {Pass::summed, 0};
  // What passes alone read is worked out again where that is a multiplication.
  const bool multiplies = M != PreconditionerKind::block_jacobi;
  TileTraffic traffic{Pass::reads | Pass::writes, Pass::writes};
  if (Pass::again.active() && multiplies)
    traffic.loads = (traffic.loads & ~set_of(Pass::again.to)) | set_of(Pass::again.from);
  if (part == PassPart::whole && Pass::M.active() && !(Pass::M.passes_only && multiplies)) {
    traffic.stores |= set_of(Pass::M.to);
    traffic.loads |= set_of(Pass::M.to);  // of columns that are not moved
  }
  return traffic;
}

/// A pass over columns: each is taken out of the tile, and passes over it like any vector. Those without `rows` stay as they
/// are. The total of each sum of each column.
template <class V>
void pass_over_columns(const Queue& queue, index_t n, int columns,
                       const AnyPass<V> (&passes)[max_columns], int count,
                       const PreconditionerOperand<V>& M, const MethodVectors<V>& v, PassPart part,
                       const TileTraffic& traffic, double (&totals)[max_columns][3]) {
  double* const partials = queue.partials;
  const auto slot = [=](index_t group, int c) {
    return partials + (static_cast<offset_t>(group) * columns + c) * count;
  };
  const index_t tile_rows = M.kind == PreconditionerKind::block_jacobi
                                ? column_tile / M.block_size * M.block_size
                                : column_tile;
  const index_t groups =
      for_row_groups(queue, n, columns, tile_rows, [&](index_t g, index_t begin, index_t end) {
        ColumnTile<V> tile;
        tile.columns = columns;
        double sums[max_columns][3] = {};
        for (index_t i = begin; i < end; i += tile_rows) {
          const index_t rows = end - i < tile_rows ? end - i : tile_rows;
          tile.load(traffic.loads, v, i, rows);
          for (int c = 0; c < columns; ++c) {
            if (passes[c].rows == nullptr) continue;
            double of_tile[3] = {};
            passes[c].rows(passes[c].pass, from_row(M, i), tile.column(c), part, 0, rows, of_tile);
            for (int k = 0; k < count; ++k) sums[c][k] += of_tile[k];
          }
          tile.store(traffic.stores, v, i, rows);
        }
        for (int c = 0; c < columns; ++c)
          for (int k = 0; k < count; ++k) slot(g, c)[k] = sums[c][k];
      });
  for (int c = 0; c < columns; ++c)
    for (index_t g = 0; g < groups; ++g)
      for (int k = 0; k < count; ++k) totals[c][k] += slot(g, c)[k];
}

template <class Method, class Pass, class V>
void run_column_pass(const Queue& queue, index_t n, int columns, const PreconditionerOperand<V>& M,
                     const MethodVectors<V>& v, ColumnScalars* scalars, PassPart part) {
  MethodScalars begun[max_columns];
  std::optional<Pass> of_column[max_columns];
  AnyPass<V> passes[max_columns] = {};
  for (int c = 0; c < columns; ++c) {
    if (begin_column<Method, Pass>(*scalars, c, begun[c]))
      passes[c] = any_pass<true, V>(of_column[c].emplace(begun[c]));
    else
      give_up_column(*scalars, c, begun[c]);
  }
  double totals[max_columns][3] = {};
  pass_over_columns(queue, n, columns, passes, Pass::sums.count, M, v, part,
                    traffic_of<Pass>(M.kind, part), totals);
  if (!stores_scalars<Pass> || part == PassPart::before) return;
  for (int c = 0; c < columns; ++c)
    if (of_column[c]) end_column<Method, Pass>(*scalars, c, begun[c], totals[c]);
}

/// The entries of the operation table.
template <class V>
struct ColumnPassesOf {
  template <class Method, class Pass>
  struct Entry {
    static constexpr ColumnPassEntry<V> run = run_column_pass<Method, Pass, V>;
  };
};

}  // namespace cnc::openmp::CNC_ISA
