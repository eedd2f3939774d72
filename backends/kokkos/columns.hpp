#pragma once

#include "kokkos/kernels.hpp"
#include "kokkos/pass.hpp"

#include <cnc/contract/stored_rows.hpp>

// Several interleaved columns (cnc/contract/columns.hpp). Products have a row and a column for each thread; what sums has a
// team for each part of the rows in each column.

namespace cnc::kokkos {

/// The parts of n rows in each of the columns: team j has part j / columns of column j % columns.
struct ColumnParts {
  index_t n;
  int columns;

  /// More rows than in a part of one vector, so that the sums of all columns have room.
  KOKKOS_INLINE_FUNCTION index_t rows() const { return reduction_block * ((columns + 1) / 2); }
  KOKKOS_INLINE_FUNCTION index_t parts() const {
    return n == 0 ? 1 : n / rows() + (n % rows() != 0);
  }
  KOKKOS_INLINE_FUNCTION index_t teams() const { return parts() * columns; }
  KOKKOS_INLINE_FUNCTION int column(index_t team) const { return team % columns; }
  KOKKOS_INLINE_FUNCTION index_t begin(index_t team) const { return team / columns * rows(); }
  KOKKOS_INLINE_FUNCTION index_t end(index_t team) const {
    return n - begin(team) < rows() ? n : begin(team) + rows();
  }
  KOKKOS_INLINE_FUNCTION offset_t place(index_t row, int column) const {
    return static_cast<offset_t>(row) * columns + column;
  }
};

/// Adds up the partial sums of one column and hands them to store(column, sums).
template <int N, class Store>
struct FinishColumn {
  ColumnParts parts;
  const double* partials;
  Store store;
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t column, index_t) const {
    const double* const from = partials;
    const int columns = parts.columns;
    Sum<double, N> total;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, index_t(0), parts.parts()),
        [&](const index_t part, Sum<double, N>& sum) {
          for (int k = 0; k < N; ++k)
            sum.value[k] += from[(static_cast<offset_t>(part) * columns + column) * N + k];
        },
        total);
    Kokkos::single(Kokkos::PerTeam(team), [&]() { store(static_cast<int>(column), total.value); });
  }
};

/// Sums of every column: body(team, j, j + 1, sum) adds up those of team j.
template <class Exec, int N, class Body, class Store>
void sum_columns(const char* label, const Queue& queue, const ColumnParts& parts, const Body& body,
                 const Store& store) {
  for_each_part<Exec>(label, queue, entry_team<Exec>, parts.teams(), 1,
                      PartSum<Exec, N, Body>{body, queue.partials, 1});
  for_each_part<Exec>("cnc::columns_sum", queue, entry_team<Exec>, parts.columns, 1,
                      FinishColumn<N, Store>{parts, queue.partials, store});
}

template <class V, class Method, class Pass>
struct PassOverColumns {
  ColumnParts parts;
  PreconditionerOperand<V> M;
  MethodVectors<V> v;
  const ColumnScalars* scalars;
  PassPart part;

  KOKKOS_FUNCTION void move(const Pass& pass, index_t i, offset_t place, Row<V>& row) const {
    load<Pass::reads>(v, place, row);
    pass(row);
    store<Pass::writes>(v, place, row);
    if constexpr (Pass::M.active()) {
      if (part != PassPart::whole) return;
      const V inverse = M.kind == PreconditionerKind::jacobi ? M.inverse[i] : V(1);
      v[Pass::M.to][place] = inverse * v[Pass::M.from][place];
    }
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t j, index_t) const {
    const int column = parts.column(j);
    MethodScalars s;
    if (!begin_column<Method, Pass>(*scalars, column, s)) return;
    const Pass pass(s);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, parts.begin(j), parts.end(j)),
                         [&](const index_t i) {
                           Row<V> row;
                           move(pass, i, parts.place(i, column), row);
                         });
  }

  template <class Team, int N>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t j, index_t, Sum<double, N>& sum) const {
    const int column = parts.column(j);
    MethodScalars s;
    if (!begin_column<Method, Pass>(*scalars, column, s)) return;
    const Pass pass(s);
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, parts.begin(j), parts.end(j)),
        [&](const index_t i, Sum<double, N>& partial) {
          const offset_t place = parts.place(i, column);
          Row<V> row;
          if (part != PassPart::after) move(pass, i, place, row);
          load<Pass::summed>(v, place, row);
          AddTo<N> to{partial};
          pass.sums_of(row, to);
        },
        sum);
  }
};

/// Moves the scalars of a column on, or records why the pass did nothing in it.
template <class Method, class Pass>
struct StoreColumn {
  ColumnScalars* scalars;
  KOKKOS_FUNCTION void operator()(int column, const double* sums) const {
    MethodScalars s;
    if (!begin_column<Method, Pass>(*scalars, column, s))
      give_up_column(*scalars, column, s);
    else if constexpr (stores_scalars<Pass>)
      end_column<Method, Pass>(*scalars, column, s, sums);
  }
  /// For a pass without sums.
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t column, index_t) const {
    Kokkos::single(Kokkos::PerTeam(team), [&]() { (*this)(static_cast<int>(column), nullptr); });
  }
};

template <class Exec, class V, class Method, class Pass>
void run_column_pass(const Queue& queue, index_t n, int columns, const PreconditionerOperand<V>& M,
                     const MethodVectors<V>& vectors, ColumnScalars* scalars, PassPart part) {
  constexpr int N = Pass::sums.count;
  const PassOverColumns<V, Method, Pass> body{{n, columns}, M, vectors, scalars, part};
  const StoreColumn<Method, Pass> store{scalars};
  if constexpr (N > 0) {
    if (part != PassPart::before)
      return sum_columns<Exec, N>("cnc::column_sums", queue, body.parts, body, store);
  }
  if (part != PassPart::after)
    for_each_part<Exec>("cnc::columns", queue, entry_team<Exec>, body.parts.teams(), 1, body);
  if constexpr (N == 0 && stores_without_sums<Pass>) {
    if (part != (Pass::stores ? PassPart::before : PassPart::after))
      for_each_part<Exec>("cnc::scalars", queue, entry_team<Exec>, columns, 1, store);
  }
}

/// x . y in every column.
template <class V>
struct DotOverColumns {
  ColumnParts parts;
  const V* x;
  const V* y;
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t j, index_t, Sum<double, 1>& sum) const {
    const int column = parts.column(j);
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, parts.begin(j), parts.end(j)),
        [&](const index_t i, Sum<double, 1>& partial) {
          const offset_t place = parts.place(i, column);
          partial.value[0] += static_cast<double>(x[place]) * static_cast<double>(y[place]);
        },
        sum);
  }
};

struct StoreColumnDot {
  double* result;
  KOKKOS_INLINE_FUNCTION void operator()(int column, const double* sums) const {
    result[column] = sums[0];
  }
};
struct StoreColumnScalar {
  ColumnScalars* scalars;
  int scalar;
  KOKKOS_INLINE_FUNCTION void operator()(int column, const double* sums) const {
    scalars->of[column].value[scalar] = sums[0];
  }
};

template <class V>
struct PreconditionColumns {
  ColumnParts parts;
  PreconditionerOperand<V> M;
  const V* r;
  V* z;
  KOKKOS_FUNCTION void operator()(offset_t entry) const {
    const auto i = static_cast<index_t>(entry / parts.columns);
    const int column = static_cast<int>(entry % parts.columns);
    if (M.kind == PreconditionerKind::none) {
      z[entry] = r[entry];
      return;
    }
    const int b = M.kind == PreconditionerKind::block_jacobi ? M.block_size : 1;
    const index_t first = i / b * b;
    V sum = 0;
    for (int k = 0; k < b; ++k)
      if (first + k < parts.n)
        sum += M.inverse[static_cast<offset_t>(i) * b + k] * r[parts.place(first + k, column)];
    z[entry] = sum;
  }
};

/// y := alpha A x + beta y, a row in a column.
template <class Operand, class V>
struct MultiplyColumns {
  detail::StoredRows<Operand, 0> rows;
  int columns;
  V alpha;
  const V* x;
  V beta;
  V* y;
  KOKKOS_FUNCTION void operator()(offset_t entry) const {
    const auto row = rows.at(entry / columns);
    const int c = static_cast<int>(entry % columns);
    if (row.row < 0) return;
    V sum = 0;
    for (auto k = row.begin; k < row.end; k += row.step) {
      const index_t first = row.column(k);
      for (int w = 0; w < rows.width(); ++w) {
        const index_t column = first + w;
        if (column >= 0 && column < rows.A.cols)
          sum += static_cast<V>(row.value(k, w)) * x[static_cast<offset_t>(column) * columns + c];
      }
    }
    V& to = y[static_cast<offset_t>(row.row) * columns + c];
    to = beta == V(0) ? alpha * sum : alpha * sum + beta * to;
  }
};

template <class Exec, class Body>
void for_each_place(const char* label, const Queue& queue, offset_t count, const Body& body) {
  const Kokkos::RangePolicy<Exec, Kokkos::IndexType<offset_t>> policy(execution_space<Exec>(queue),
                                                                      0, count);
  Kokkos::parallel_for(label, policy, body);
}

template <class Exec, class V>
void Columns<Exec, V>::run_pass(const Queue& queue, PassName name, index_t n, int columns,
                                const PreconditionerOperand<V>& M, const MethodVectors<V>& vectors,
                                ColumnScalars* scalars, PassPart part) {
  ColumnMethods<V>::for_each([&]<class Method>(int) {
    if (method_index<V, Method>() != name.method) return;
    for_pass<Method>(name, [&]<class Pass>() {
      run_column_pass<Exec, V, Method, Pass>(queue, n, columns, M, vectors, scalars, part);
    });
  });
}
template <class Exec, class V>
void Columns<Exec, V>::dot(const Queue& queue, index_t n, int columns, const V* x, const V* y,
                           double* result) {
  const DotOverColumns<V> body{{n, columns}, x, y};
  sum_columns<Exec, 1>("cnc::dot", queue, body.parts, body, StoreColumnDot{result});
}
template <class Exec, class V>
void Columns<Exec, V>::precondition(const Queue& queue, index_t n, int columns,
                                    const PreconditionerOperand<V>& M, const V* r, V* z) {
  for_each_place<Exec>("cnc::precond", queue, static_cast<offset_t>(n) * columns,
                       PreconditionColumns<V>{{n, columns}, M, r, z});
}
template <class Exec, class Operand, class V>
void ColumnProduct<Exec, Operand, V>::spmm(const Queue& queue, int columns, V alpha,
                                           const Operand& A, const V* x, V beta, V* y,
                                           const ColumnDots<V>& dots) {
  const detail::StoredRows<Operand, 0> rows{A};
  for_each_place<Exec>("cnc::spmm", queue, rows.count() * columns,
                       MultiplyColumns<Operand, V>{rows, columns, alpha, x, beta, y});
  if (dots.with == nullptr) return;
  DotOverColumns<V> body{{A.rows, columns}, dots.with, y};
  sum_columns<Exec, 1>("cnc::dot", queue, body.parts, body,
                       StoreColumnScalar{dots.scalars, dots.with_scalar});
  if (dots.self_scalar < 0) return;
  body.x = y;
  sum_columns<Exec, 1>("cnc::dot", queue, body.parts, body,
                       StoreColumnScalar{dots.scalars, dots.self_scalar});
}

// Instances for a type of vectors, and for matrices of M with it.
#define CNC_INSTANTIATE_COLUMNS(V)      \
  template struct Columns<HostExec, V>; \
  CNC_IF_DEVICE(template struct Columns<DeviceExec, V>;)
#define CNC_INSTANTIATE_COLUMN_PRODUCT(Operand, V)     \
  template struct ColumnProduct<HostExec, Operand, V>; \
  CNC_IF_DEVICE(template struct ColumnProduct<DeviceExec, Operand, V>;)
#define CNC_INSTANTIATE_COLUMN_PRODUCTS(M, V)        \
  CNC_INSTANTIATE_COLUMN_PRODUCT(BcsrOperand<M>, V)  \
  CNC_INSTANTIATE_COLUMN_PRODUCT(BsellOperand<M>, V) \
  CNC_INSTANTIATE_COLUMN_PRODUCT(DiaOperand<M>, V)

}  // namespace cnc::kokkos
