#pragma once

#include "convert/search.hpp"
#include "precondition/amg/aggregate.hpp"
#include "precondition/amg/inverse_diagonal.hpp"

// From aggregates to a prolongation: the near-null space cut to aggregates and made orthonormal (tentative), then smoothed.
//
// Method   Vanek, Mandel & Brezina, Algebraic multigrid by smoothed aggregation for second and fourth order elliptic problems, 1996,
//          section 3 (algorithms 1 and 2).

namespace cnc::detail {

/// A block for each node that has an aggregate. Counts, or writes.
struct PlaceAggregates {
  const index_t* aggregate;
  const index_t* offsets;  ///< null: counts
  index_t* to;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    const bool has_one = aggregate[i] >= 0;
    if (offsets == nullptr)
      to[i + 1] = has_one;
    else if (has_one)
      to[offsets[i]] = aggregate[i];
  }
};

// The near-null space of each aggregate is made orthonormal, B = Q R, by the Cholesky factor of B^T B, and once more from Q: each
// step has as many threads as there is work. A vector that depends on those before it, or is zero there, gives a column of zeros,
// of Q and on the diagonal of R.
//
// Method   Yamamoto, Nakatsukasa, Yanagisawa & Fukaya, Roundoff error analysis of the CholeskyQR2 algorithm, 2015.

/// The near-null vectors of a node to its block.
template <class T>
struct TakeNode {
  BlocksOperand<T> tentative;
  const T* fine;  ///< [nodes b][k]
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    const int block = tentative.height * tentative.width;
    for (index_t at = tentative.row_offsets[i]; at < tentative.row_offsets[i + 1]; ++at)
      for (int e = 0; e < block; ++e) tentative.block(at)[e] = fine[i * block + e];
  }
};

/// gram[a][p][q] := the product of vectors p <= q over an aggregate.
template <class T>
struct GramEntry {
  BlocksOperand<T> tentative;  ///< nodes x aggregates
  const index_t* offsets;      ///< of aggregates
  const index_t* nodes;        ///< [offsets of the last]
  double* gram;                ///< [aggregates k][k]
  KOKKOS_INLINE_FUNCTION void operator()(offset_t unit) const {
    const int b = tentative.height, k = tentative.width;
    const offset_t a = unit / (k * k);
    const int p = static_cast<int>(unit % (k * k)) / k, q = static_cast<int>(unit % k);
    constexpr int together = 4;  // nodes whose loads overlap
    double sum = 0;
    const index_t end = p <= q ? offsets[a + 1] : 0;
    for (index_t at = offsets[a]; at < end; at += together) {
      const T* rows[together];
      for (int u = 0; u < together; ++u)
        rows[u] = tentative.block(tentative.row_offsets[nodes[at + u < end ? at + u : at]]);
      for (int u = 0; u < together && at + u < end; ++u)
        for (int r = 0; r < b; ++r)
          sum += static_cast<double>(rows[u][r * k + p]) * static_cast<double>(rows[u][r * k + q]);
    }
    gram[unit] = sum;
  }
};

/// gram[a] := R, R^T R being what was there; coarse[a] := R, or R times what was there.
template <class T>
struct FactorizeGram {
  int k;
  bool again;
  double* gram;
  T* coarse;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t a) const {
    constexpr double dependent = 1e-12;  // of its square is left of a vector
    double* const R = gram + a * k * k;
    for (int j = 0; j < k; ++j) {
      double left = R[j * k + j];
      const double square = left;
      for (int q = 0; q < j; ++q) {
        for (int p = 0; p < q; ++p) R[q * k + j] -= R[p * k + q] * R[p * k + j];
        R[q * k + j] = R[q * k + q] > 0 ? R[q * k + j] / R[q * k + q] : 0;
        left -= R[q * k + j] * R[q * k + j];
      }
      R[j * k + j] = left > dependent * square ? sqrt(left) : 0;
    }
    T* const to = coarse + a * k * k;
    for (int p = 0; p < k; ++p)  // row p of a product of triangles needs rows p and below
      for (int j = 0; j < k; ++j) {
        double entry = again || j < p ? 0 : R[p * k + j];
        for (int q = p; again && q <= j; ++q)
          entry += R[p * k + q] * static_cast<double>(to[q * k + j]);
        to[p * k + j] = static_cast<T>(entry);
      }
  }
};

/// What is left of entry j of a row vector x when x R^-1 has its entries before j: forward substitution.
template <class X, class T>
KOKKOS_INLINE_FUNCTION double left_of_entry(const X* x, const T* R, int k, int j) {
  double left = static_cast<double>(x[j]);
  for (int q = 0; q < j; ++q) left -= static_cast<double>(x[q]) * static_cast<double>(R[q * k + j]);
  return left;
}

/// A row of the tentative prolongation times R^-1.
template <class T>
struct DivideRow {
  BlocksOperand<T> tentative;
  const double* gram;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t row) const {
    const int k = tentative.width;
    const double* const R = gram + offset_t(tentative.columns[row / tentative.height]) * k * k;
    T* const x = tentative.values + row * k;
    for (int j = 0; j < k; ++j) {
      const double entry = left_of_entry(x, R, k, j);
      x[j] = R[j * k + j] > 0 ? static_cast<T>(entry / R[j * k + j]) : T(0);
    }
  }
};

/// The tentative prolongation, blocks of b x k, and the near-null space of the coarse matrix; its pattern transposed, the nodes of each
/// aggregate, goes to `members_out` unless that is null. Waits.
template <class Exec, class T, class Space>
SparseBlocks<T, Space> tentative_prolongation(const Exec& exec, const Aggregates<Space>& aggregates,
                                              int b, const NearNullSpace<T, Space>& fine,
                                              NearNullSpace<T, Space>& coarse,
                                              TransposedPattern<Space>* members_out = nullptr) {
  const index_t nodes = checked_extent(aggregates.of.extent(0));
  const int k = fine.vectors;
  SparseBlocks<T, Space> P;
  P.rows = nodes;
  P.cols = aggregates.count;
  P.height = b;
  P.width = k;
  const auto offsets =
      zeroed<index_t, Space>("cnc::tentative", static_cast<std::size_t>(nodes) + 1);
  on_each(exec, nodes, PlaceAggregates{aggregates.of.data(), nullptr, offsets.data()});
  const std::size_t blocks = offsets_from_counts(exec, offsets.data(), nodes, "aggregated nodes");
  const auto columns = in_large_pages<index_t, Space>("cnc::tentative", blocks);
  on_each(exec, nodes, PlaceAggregates{aggregates.of.data(), offsets.data(), columns.data()});
  exec.fence();
  P.row_offsets = offsets;
  P.columns = columns;
  P.values = in_large_pages<T, Space>("cnc::tentative", blocks * static_cast<std::size_t>(b * k));
  const TransposedPattern<Space> members = transposed_blocks(P);
  if (members_out != nullptr) *members_out = {members.row_offsets, members.columns, {}};
  coarse.vectors = k;
  coarse.rows =
      in_large_pages<T, Space>("cnc::near_null_space", static_cast<std::size_t>(aggregates.count) *
                                                           static_cast<std::size_t>(k * k));
  const BlocksOperand<T> tentative = operand_of(P);
  const offset_t entries = offset_t(aggregates.count) * k * k;
  const auto gram = in_large_pages<double, Space>("cnc::gram", static_cast<std::size_t>(entries));
  on_each(exec, nodes, TakeNode<T>{tentative, fine.rows.data()});
  for (int turn = 0; turn < (k > 1 ? 2 : 1); ++turn) {
    on_each(
        exec, entries,
        GramEntry<T>{tentative, members.row_offsets.data(), members.columns.data(), gram.data()});
    on_each(exec, aggregates.count, FactorizeGram<T>{k, turn > 0, gram.data(), coarse.rows.data()});
    on_each(exec, P.blocks() * b, DivideRow<T>{tentative, gram.data()});
  }
  exec.fence();
  return P;
}

// The smoothed prolongation is P = T - omega D^-1 F T. F is A without its weak couplings, of which only their effect on the
// near-null space stays, in the column of the row's own aggregate: where T B_c = B and the vectors are independent there, the row of P B_c is that of
// (I - omega D^-1 A) B.

/// Columns of row i of P, ascending: the aggregates of the node and of its strong neighbours. Into room, with their number.
struct CollectAggregates {
  GraphOperand graph;
  const index_t* aggregate;
  index_t* room;  ///< row i at graph.offsets[i] + i
  index_t* lengths;

  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    constexpr index_t long_row = 200;
    index_t* const columns = room + graph.offsets[i] + i;
    const bool sorts_all = graph.degree(i) > long_row;
    index_t n = 0;
    const auto add = [&](index_t column) {
      if (column < 0) return;
      const auto at =
          sorts_all ? n
                    : static_cast<index_t>(first_not_less(columns, columns + n, column) - columns);
      if (at < n && columns[at] == column) return;
      for (index_t k = n++; k > at; --k) columns[k] = columns[k - 1];
      columns[at] = column;
    };
    add(aggregate[i]);
    for (index_t k = graph.offsets[i]; k < graph.ends[i]; ++k) add(aggregate[graph.neighbours[k]]);
    lengths[i + 1] = sorts_all ? sort_once(columns, n) : n;
  }
};

/// The same by a group of a device, whose lanes look at neighbours beside each other; one lane alone where there are many.
struct CollectAggregatesOfGroup {
  static constexpr index_t most = 64;
  static constexpr int bytes = 2 * most * static_cast<int>(sizeof(index_t));
  CollectAggregates alone;

  template <class Group>
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, const Group& group) const {
    const GraphOperand& graph = alone.graph;
    const index_t n = graph.degree(i) + 1, begin = graph.offsets[i];
    if (n > most) {
      group.each(1, [&](index_t) { alone(i); });
      return;
    }
    auto* const found = static_cast<index_t*>(group.scratch);  // [most]
    auto* const is_new = found + most;                         // [most]
    group.each(n, [&](index_t j) {
      found[j] = alone.aggregate[j == 0 ? i : graph.neighbours[begin + j - 1]];
    });
    group.each(n, [&](index_t j) {
      bool is_first = found[j] >= 0;
      for (index_t k = 0; k < j; ++k) is_first = is_first && found[k] != found[j];
      is_new[j] = is_first;
    });
    index_t* const columns = alone.room + begin + i;
    group.each(n, [&](index_t j) {
      index_t before = 0;
      for (index_t k = 0; k < n; ++k) before += is_new[k] != 0 && found[k] < found[j];
      if (is_new[j] != 0) columns[before] = found[j];
    });
    group.each(1, [&](index_t) {
      index_t sum = 0;
      for (index_t k = 0; k < n; ++k) sum += is_new[k];
      alone.lengths[i + 1] = sum;
    });
  }
};

/// Row i of P, as it was collected.
struct PlaceColumns {
  const index_t* graph_offsets;
  const index_t* room;
  const index_t* row_offsets;
  index_t* columns;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    const index_t* from = room + graph_offsets[i] + i;
    for (index_t k = row_offsets[i]; k < row_offsets[i + 1]; ++k) columns[k] = *from++;
  }
};

/// Scalar row `unit` of T - omega D^-1 F T, in blocks of b x k: B x K, or those of run time, at most `capacity`, where these are zero.
template <int B, int K, int capacity, class T>
struct SmoothRow {
  static constexpr int most_rows = B > 0 ? B : capacity, most_columns = K > 0 ? K : capacity;

  BlocksOperand<T> A;
  GraphOperand strong;
  BlocksOperand<T> tentative, P;
  const T* inverse;  ///< [rows b b]
  const T* fine;     ///< near-null space: [rows b][k]
  const T* coarse;   ///< the same: [aggregates k][k], upper triangles
  double omega;

  /// x with x R = g. An entry is zero that would be large beside those of T, which are one at most: its vector is nearly a
  /// combination of those before it in this aggregate.
  KOKKOS_INLINE_FUNCTION void solve(const T* R, int k, double* g) const {
    constexpr double large = 10;
    for (int c = 0; c < k; ++c) {
      const double entry = left_of_entry(g, R, k, c), pivot = static_cast<double>(R[c * k + c]);
      g[c] = pivot > 0 && std::abs(entry) < large * pivot ? entry / pivot : 0;
    }
  }
  KOKKOS_INLINE_FUNCTION void operator()(offset_t unit) const {
    const int b = B > 0 ? B : P.height, k = K > 0 ? K : P.width;
    const auto i = static_cast<index_t>(unit / b);
    const int r = static_cast<int>(unit % b);
    const index_t row_begin = P.row_offsets[i], length = P.row_offsets[i + 1] - row_begin;
    if (length == 0) return;
    const index_t* const columns = P.columns + row_begin;
    const auto row_at = [&](offset_t at) { return P.values + ((row_begin + at) * b + r) * k; };
    const auto row_of = [&](index_t column) {
      return row_at(first_not_less(columns, columns + length, column) - columns);
    };
    for (index_t at = 0; at < length; ++at)
      for (int c = 0; c < k; ++c) row_at(at)[c] = 0;
    const index_t own = tentative.row_offsets[i];
    const bool has_own = own < tentative.row_offsets[i + 1];
    double weights[most_rows], left[most_columns] = {};
    for (int q = 0; q < b; ++q)
      weights[q] = -omega * static_cast<double>(inverse[(offset_t(i) * b + r) * b + q]);
    bool leaves_out = false;
    index_t g = strong.offsets[i];
    const index_t strong_end = strong.ends[i];
    for (index_t at = A.row_offsets[i]; at < A.row_offsets[i + 1]; ++at) {
      const index_t column = A.columns[at];
      while (g < strong_end && strong.neighbours[g] < column) ++g;
      const bool stays = column == i || (g < strong_end && strong.neighbours[g] == column);
      const index_t t = tentative.row_offsets[column];
      // A node without an aggregate has no row in T.
      if (stays && t == tentative.row_offsets[column + 1]) continue;
      const T* const other =
          stays ? tentative.values + offset_t(t) * b * k : fine + offset_t(column) * b * k;
      double sums[most_columns] = {};
      for (int q = 0; q < b; ++q) {
        double entry = 0;
        for (int p = 0; p < b; ++p)
          entry += weights[p] * static_cast<double>(A.values[(offset_t(at) * b + p) * b + q]);
        for (int c = 0; c < k; ++c) sums[c] += entry * static_cast<double>(other[q * k + c]);
      }
      if (stays) {
        T* const to = row_of(tentative.columns[t]);
        for (int c = 0; c < k; ++c) to[c] += static_cast<T>(sums[c]);
      } else {
        leaves_out = true;
        for (int c = 0; c < k; ++c) left[c] += sums[c];
      }
    }
    if (!has_own) return;
    if (leaves_out) solve(coarse + offset_t(tentative.columns[own]) * k * k, k, left);
    T* const to = row_of(tentative.columns[own]);
    for (int c = 0; c < k; ++c)
      to[c] += static_cast<T>(left[c]) + tentative.values[(offset_t(own) * b + r) * k + c];
  }
};

/// The same for scalars by a group of a device: its lanes find what entries beside each other add and where, then each lane adds up, in the
/// order of the row, what has its place, in double.
template <class T>
struct SmoothRowOfGroup {
  SmoothRow<1, 1, 1, T> row;
  index_t most;      ///< columns of a row of P; longer ones are left to one lane
  bool of_own_rows;  ///< the graph has no other couplings than those of A's row

  static int bytes(int lanes, index_t most) {
    return static_cast<int>((most + 1 + lanes) * sizeof(double) +
                            static_cast<std::size_t>(lanes + lanes % 2) * sizeof(index_t));
  }
  template <class Group>
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, const Group& group) const {
    const auto &A = row.A, &P = row.P, &tentative = row.tentative;
    const index_t first = P.row_offsets[i], length = P.row_offsets[i + 1] - first;
    if (length > most) {
      group.each(1, [&](index_t) { row(i); });
      return;
    }
    auto* const sums =
        static_cast<double*>(group.scratch);  // [most + 1]; the last: what is left out
    double* const added = sums + most + 1;    // [lanes]
    auto* const places = reinterpret_cast<index_t*>(added + group.lanes);
    group.each(length + 1, [&](index_t p) { sums[p] = 0; });
    const index_t* const columns = P.columns + first;
    const index_t* const strong = row.strong.neighbours + row.strong.offsets[i];
    const index_t* const strong_end = row.strong.neighbours + row.strong.ends[i];
    const double weight = -row.omega * static_cast<double>(row.inverse[i]);
    const index_t end = A.row_offsets[i + 1];
    // The diagonal is no coupling, and stays.
    const bool all_stay = of_own_rows && strong_end - strong + 1 == end - A.row_offsets[i];
    for (index_t begin = A.row_offsets[i]; begin < end; begin += group.lanes) {
      const index_t n = end - begin < group.lanes ? end - begin : group.lanes;
      group.each(n, [&](index_t j) {
        const index_t column = A.columns[begin + j], t = tentative.row_offsets[column];
        bool stays = column == i || all_stay;
        if (!stays) {
          const index_t* const at = first_not_less(strong, strong_end, column);
          stays = at < strong_end && *at == column;
        }
        places[j] = length;
        double other = 0;  // of a node without an aggregate, which has no row in T
        if (!stays) {
          other = static_cast<double>(row.fine[column]);
        } else if (t < tentative.row_offsets[column + 1]) {
          other = static_cast<double>(tentative.values[t]);
          places[j] = static_cast<index_t>(
              first_not_less(columns, columns + length, tentative.columns[t]) - columns);
        }
        added[j] = weight * static_cast<double>(A.values[begin + j]) * other;
      });
      group.each(length + 1, [&](index_t p) {
        for (index_t j = 0; j < n; ++j)
          if (places[j] == p) sums[p] += added[j];
      });
    }
    const index_t own = tentative.row_offsets[i];
    const bool has_own = own < tentative.row_offsets[i + 1];
    group.each(length, [&](index_t p) {
      double entry = sums[p];
      if (has_own && tentative.columns[own] == columns[p]) {
        double left = sums[length];
        row.solve(row.coarse + tentative.columns[own], 1, &left);
        entry += left + static_cast<double>(tentative.values[own]);
      }
      P.values[first + p] = static_cast<T>(entry);
    });
  }
};

/// The pattern of the smoothed prolongation; values are room. Waits.
template <class Exec, class T, class Space>
SparseBlocks<T, Space> smoothed_pattern(const Exec& exec, const StrengthGraph<Space>& strong,
                                        const Aggregates<Space>& aggregates,
                                        const SparseBlocks<T, Space>& tentative,
                                        const std::string& what) {
  const auto n = static_cast<std::size_t>(strong.nodes);
  const auto offsets = zeroed<index_t, Space>("cnc::prolongation", n + 1);
  const auto room = in_large_pages<index_t, Space>("cnc::room", strong.neighbours.extent(0) + n);
  const CollectAggregates alone{operand_of(strong), aggregates.of.data(), room.data(),
                                offsets.data()};
  const double length = double(strong.neighbours.extent(0)) / std::max<index_t>(strong.nodes, 1);
  if (!on_threads<Exec> && length >= long_row_of_device)
    on_each_group(exec, strong.nodes, lanes_for(length / 2), CollectAggregatesOfGroup::bytes,
                  CollectAggregatesOfGroup{alone});
  else
    on_each(exec, strong.nodes, alone);
  const std::size_t blocks =
      offsets_from_counts(exec, offsets.data(), strong.nodes, "blocks of a prolongation");
  const auto block = static_cast<std::size_t>(tentative.block_values());
  require_blocks<T, Space>(what.c_str(), blocks, block);
  const auto columns = in_large_pages<index_t, Space>("cnc::prolongation", blocks);
  on_each(exec, strong.nodes,
          PlaceColumns{strong.offsets.data(), room.data(), offsets.data(), columns.data()});
  exec.fence();
  return {strong.nodes,
          tentative.cols,
          tentative.height,
          tentative.width,
          offsets,
          columns,
          in_large_pages<T, Space>("cnc::prolongation", blocks * block)};
}

/// Its values: T - omega D^-1 F T. Enqueued on a device.
template <class Exec, class T, class Space>
void smooth(const Exec& exec, const SparseBlocks<T, Space>& A, const StrengthGraph<Space>& strong,
            const SparseBlocks<T, Space>& tentative, const Vector<T, Space>& inverse,
            const NearNullSpace<T, Space>& fine, const NearNullSpace<T, Space>& coarse,
            double omega, const SparseBlocks<T, Space>& P) {
  const auto row_of = [&]<int B, int K, int capacity>() {
    return SmoothRow<B, K, capacity, T>{
        operand_of(A),  operand_of(strong), operand_of(tentative), operand_of(P),
        inverse.data(), fine.rows.data(),   coarse.rows.data(),    omega};
  };
  if constexpr (!on_threads<Exec>) {
    const double length = A.row_length();
    if (P.height == 1 && P.width == 1 && length >= long_row_of_device) {
      constexpr index_t most = 15;
      const int lanes = lanes_for(length / 3);
      on_each_group(exec, A.rows, lanes, SmoothRowOfGroup<T>::bytes(lanes, most),
                    SmoothRowOfGroup<T>{row_of.template operator()<1, 1, 1>(), most,
                                        strong.offsets.data() == A.row_offsets.data()});
      return;
    }
  }
  const auto run = [&]<int B, int K, int capacity>() {
    on_each(exec, offset_t(A.rows) * A.height, row_of.template operator()<B, K, capacity>());
  };
  for_block_sizes(P.height, P.height, P.width, [&]<int B, int, int K>() {
    constexpr int ordinary = 6;  // a thread of a device has less room than its largest blocks take
    if (B > 0 || std::max(P.height, P.width) <= ordinary)
      run.template operator()<B, K, ordinary>();
    else
      run.template operator()<B, K, max_block_size>();
  });
}

/// Unknowns that no column of the prolongation stands for have a row of zeros: that of the identity instead. Columns ascend.
template <class T>
struct KeepRegular {
  BlocksOperand<T> A;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    const int b = A.height;
    const index_t* const end = A.columns + A.row_offsets[i + 1];
    const index_t* const at = first_not_less(A.columns + A.row_offsets[i], end, i);
    if (at == end || *at != i) return;
    T* const block = A.block(static_cast<index_t>(at - A.columns));
    for (int r = 0; r < b; ++r)
      if (block[r * b + r] == 0) block[r * b + r] = 1;
  }
};

/// The number of blocks in a row.
struct TakeLength {
  const index_t* row_offsets;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, Largest& longest) const {
    longest.take(row_offsets[i + 1] - row_offsets[i]);
  }
};

}  // namespace cnc::detail
