#pragma once

#include "convert/bsell.hpp"
#include "convert/row_stencil.hpp"
#include "convert/sorted_rows.hpp"
#include "convert/spaces.hpp"
#include "precondition/amg/dense_inverse.hpp"
#include "precondition/amg/hierarchy.hpp"
#include "precondition/amg/spectral_radius.hpp"
#include "precondition/amg/symmetry.hpp"
#include "precondition/diagonal_block.hpp"

#include <cnc/copy.hpp>
#include <cnc/formats.hpp>
#include <cnc/incomplete.hpp>
#include <cnc/relaxation.hpp>

#include <cmath>
#include <type_traits>
#include <utility>

// From the levels as they are set up to those of a cycle: other precision, layouts, smoothers, the last level's inverse.

namespace cnc::detail {

/// Values of a matrix in another precision; the index arrays are shared.
template <class M, class Exec, class V, class Space>
Vector<M, Space> values_in(const Exec& exec, const Vector<V, Space>& values) {
  if constexpr (std::is_same_v<M, V>) {
    return values;
  } else {
    const auto to = in_large_pages<M, Space>("cnc::amg", values.extent(0));
    on_each(exec, static_cast<offset_t>(values.extent(0)),
            ConvertTo<V, M>{values.data(), to.data()});
    return to;
  }
}
/// Entries of a dictionary of rows in another precision or in memory of their own: those given may get new values in place.
template <class V, class M>
struct ConvertEntry {
  const RowEntry<V>* from;
  RowEntry<M>* to;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    to[i] = {static_cast<M>(from[i].value), from[i].offset};
  }
};
template <class M, class Exec, class V, class Space>
RowDictionary<M, Space> dictionary_in(const Exec& exec, const RowDictionary<V, Space>& rows) {
  if (rows.empty()) return {};
  const auto entries = uninitialized<RowEntry<M>, Space>("cnc::amg", rows.entries.extent(0));
  on_each(exec, static_cast<offset_t>(rows.entries.extent(0)),
          ConvertEntry<V, M>{rows.entries.data(), entries.data()});
  RowDictionary<M, Space> to = {rows.codes,      rows.starts,  entries,         rows.runs,
                                rows.first_rows, rows.longest, rows.block_size, rows.run_period};
  set_up::add_stencil(exec, to);
  return to;
}
/// Of values in another precision; which of them is where stays the same.
template <class M, class Exec, class V, class Space>
ValueTable<M, Space> table_in(const Exec& exec, const ValueTable<V, Space>& table) {
  if (table.empty()) return {};
  return {table.codes, values_in<M>(exec, table.values), table.kinds};
}
template <class M, class Exec, class V, class Space>
Matrix<M, Space> layout_in(const Exec& exec, const Matrix<V, Space>& A) {
  const auto in_other = [&](const auto& a) -> Matrix<M, Space> {
    const auto values = values_in<M>(exec, a.values);
    const auto dictionary = dictionary_in<M>(exec, a.dictionary);
    if constexpr (requires { a.slice_height; }) {
      return BsellMatrix<M, Space>{a.rows,
                                   a.cols,
                                   a.block_size,
                                   a.slice_height,
                                   a.sort_window,
                                   a.slice_offsets,
                                   a.columns,
                                   a.row_permutation,
                                   values,
                                   a.nonzeros,
                                   dictionary,
                                   a.short_columns,
                                   table_in<M>(exec, a.value_table)};
    } else if constexpr (requires { a.symmetric; }) {
      return DiaMatrix<M, Space>{a.rows, a.cols,     a.symmetric, a.offsets,
                                 values, a.nonzeros, dictionary};
    } else {
      BcsrMatrix<M, Space> to(a.rows, a.cols, a.block_size, a.row_offsets, a.columns, values,
                              a.nonzeros);
      to.checked = a.checked;
      to.dictionary = dictionary;
      to.short_columns = a.short_columns;
      to.value_table = table_in<M>(exec, a.value_table);
      return to;
    }
  };
  return std::visit(in_other, A);
}

/// Scalar rows of a matrix of blocks. On a device `lanes` threads share one.
template <int lanes, class V, class M>
struct ExpandRow {
  BlocksOperand<V> A;
  index_t* row_offsets;
  index_t* columns;
  M* values;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t unit) const {
    const int h = A.height, w = A.width;
    const offset_t row = unit / lanes, i = row / h;
    const auto lane = static_cast<index_t>(unit % lanes);
    const int r = static_cast<int>(row % h);
    const index_t begin = A.row_offsets[i], length = A.row_offsets[i + 1] - begin;
    const index_t first = (begin * h + r * length) * w;
    if (lane == 0) row_offsets[row] = first;
    if (lane == 0 && row + 1 == offset_t(A.rows) * h) row_offsets[row + 1] = first + length * w;
    for (index_t k = lane; k < length; k += lanes)
      for (int c = 0; c < w; ++c) {
        columns[first + k * w + c] = A.columns[begin + k] * w + c;
        values[first + k * w + c] = static_cast<M>(A.block(begin + k)[r * w + c]);
      }
  }
};

/// A matrix of blocks as products take it: square blocks stay, others become CSR.
template <class M, class Exec, class V, class Space>
Matrix<M, Space> matrix_of(const Exec& exec, const SparseBlocks<V, Space>& A) {
  const index_t rows = A.rows * A.height, cols = A.cols * A.width;
  if (A.height == A.width) {
    BcsrMatrix<M, Space> square(rows, cols, A.height, A.row_offsets, A.columns,
                                values_in<M>(exec, A.values));
    square.checked = Checked::ascending;
    return square;
  }
  const auto n = static_cast<std::size_t>(rows);
  const auto entries = A.values.extent(0);
  require_offset<index_t>(static_cast<offset_t>(entries), "entries in a prolongation");
  const auto row_offsets = zeroed<index_t, Space>("cnc::amg", n + 1);
  const auto columns = in_large_pages<index_t, Space>("cnc::amg", entries);
  const auto values = in_large_pages<M, Space>("cnc::amg", entries);
  constexpr int lanes = row_lanes<Exec>;
  on_each(exec, offset_t(rows) * lanes,
          ExpandRow<lanes, V, M>{operand_of(A), row_offsets.data(), columns.data(), values.data()});
  exec.fence();
  CsrMatrix<M, Space> scalar(rows, cols, 1, row_offsets, columns, values);
  scalar.checked = Checked::ascending;
  return scalar;
}

/// A matrix of a level as products on a host take it: rows of scalars, which ascend, in slices, a row for each lane. The short rows of
/// coarse matrices and of transfers take half the time so, unless padding takes the gain.
template <class M, class Space>
Matrix<M, Space> in_slices_on_host(Matrix<M, Space> A) {
  if constexpr (is_host_space<Space>) {
    constexpr index_t least_rows = 256;  // fewer are not worth the conversion
    constexpr double most_slots_per_entry = 1.5;
    const auto* const rows = std::get_if<BcsrMatrix<M, Space>>(&A);
    if (rows != nullptr && rows->block_size == 1 && rows->rows >= least_rows)
      if (auto slices = set_up::to_bsell_within<SetUpExec<Space>>(*rows, most_slots_per_entry))
        return std::move(*slices);
  }
  return A;
}

/// Level 0 in blocks of b, over the memory of A or of its layout where that is possible.
template <class Exec, class V, class Space>
SparseBlocks<V, Space> finest_blocks(const CsrMatrix<V, Space>& A, const Matrix<V, Space>& layout,
                                     int b) {
  if (b == 1) {
    const CsrMatrix<V, Space> ascending = ascending_csr<SetUpExec<Space>>(A);
    return as_blocks(ascending);
  }
  const auto* const given = std::get_if<BcsrMatrix<V, Space>>(&layout);
  const BcsrMatrix<V, Space> blocks =
      given != nullptr && given->block_size == b ? *given : to_bcsr(A, b);
  return {blocks.block_rows(), blocks.block_cols(), b, b, blocks.row_offsets,
          blocks.columns,      blocks.values};
}

/// Products, diagonal and spectrum of a level that is not the last.
template <class M, class V, class Exec>
void set_up_smoother(Context<Exec>& ctx, const SetUpLevel<V, typename Exec::memory_space>& level,
                     const Matrix<V, typename Exec::memory_space>* layout, bool symmetric,
                     CycleLevel<M, Exec>& to) {
  const Exec& exec = ctx.execution_space_instance();
  to.rows = level.A.rows * level.A.height;
  to.block_size = level.A.height;
  to.A.take(ctx, layout != nullptr ? layout_in<M>(exec, *layout)
                                   : in_slices_on_host(matrix_of<M>(exec, level.A)));
  to.inverse = values_in<M>(exec, level.inverse);
  to.allocate(false);
  exec.fence();
  to.largest = symmetric ? largest_eigenvalue(ctx, to) : 0;
  if (to.largest == 0 || level.A.height == 1) {
    const double bound = row_sum_bound(exec, level.A, level.inverse);
    if (to.largest == 0 || bound < to.largest) to.largest = bound;
  }
}

/// The smoother of a level: the one asked for or, where the level does not let it, Chebyshev's polynomial, for which all is there. Waits.
template <class M, class V, class Exec>
void choose_smoother(Context<Exec>& ctx, AmgSmoother smoother,
                     const SetUpLevel<V, typename Exec::memory_space>& level, bool symmetric,
                     CycleLevel<M, Exec>& to) {
  using Space = typename Exec::memory_space;
  const Exec& exec = ctx.execution_space_instance();
  to.smoother = smoother;
  if (smoother == AmgSmoother::l1_jacobi) {
    const auto inverse = in_large_pages<V, Space>("cnc::amg", level.inverse.extent(0));
    if (invert_diagonal(exec, level.A, inverse, true) < 0)
      to.inverse = values_in<M>(exec, inverse);
    else
      to.smoother = AmgSmoother::chebyshev;
    exec.fence();
  }
  if (smoother != AmgSmoother::gauss_seidel && smoother != AmgSmoother::ilu0) return;
  const Matrix<M, Space> blocks = matrix_of<M>(exec, level.A);
  exec.fence();
  const CsrMatrix<M, Space> rows = cnc::to_csr(blocks);
  // Factors have nothing to keep, and a matrix may be symmetric no longer.
  const bool again = to.sweep != nullptr && smoother == AmgSmoother::gauss_seidel;
  if (!again && smoother == AmgSmoother::gauss_seidel)
    to.sweep = std::make_shared<Relaxation<M, Exec>>(
        RelaxationOptions{RelaxationKind::ssor, 1, SweepOrder::colours});
  else if (!again)
    // Of a symmetric matrix the factors are the same but for pivots that must be positive: a cycle that is not cannot be taken with CG.
    to.sweep = std::make_shared<IncompleteFactorization<M, Exec>>(
        IncompleteOptions{symmetric ? IncompleteKind::ic0 : IncompleteKind::ilu0});
  const PreconditionerSetup outcome =
      again ? to.sweep->update_values(ctx, rows, blocks) : to.sweep->set_up(ctx, rows, blocks);
  if (!outcome.ok()) {
    to.sweep.reset();
    to.smoother = AmgSmoother::chebyshev;
    return;
  }
  // From 2 on sweeps diverge. On M-matrices factors stay far below.
  constexpr double bound = 1.6;
  to.sweep_factor = M(1);
  if (smoother != AmgSmoother::ilu0 || !symmetric) return;
  const double largest = largest_eigenvalue(
      ctx, to, nullptr, [&](const auto& r, const auto& z) { to.sweep->apply(ctx, r, z); });
  if (largest > bound) to.sweep_factor = static_cast<M>(bound / largest);
}

/// Finds whether the inverse is the same in all rows of a level of scalars that has no sweeps of its own. Waits.
template <class M, class Exec>
void find_same_inverse(const Exec& exec, CycleLevel<M, Exec>& to) {
  const bool same = to.block_size == 1 && !to.sweep && to.rows > 0 &&
                    is_uniform(exec, to.rows, to.inverse.data());
  to.same_inverse = same ? fetch(to.inverse, 0) : M(0);
}

/// A row with a coupling that is not strong. Diagonal entries are there.
struct HasWeakCoupling {
  const index_t* row_offsets;
  GraphOperand strong;
  KOKKOS_INLINE_FUNCTION bool operator()(offset_t i) const {
    return strong.degree(i) + 1 != row_offsets[i + 1] - row_offsets[i];
  }
};
/// The entries of T in the aggregates of its one column each.
template <class V, class M>
struct TakeWeight {
  const index_t* offsets;
  const index_t* members;
  const V* tentative;
  M* weights;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t a) const {
    weights[a] = static_cast<M>(tentative[members[offsets[a]]]);
  }
};

/// Whether products with a matrix read a dictionary of its rows, which has to be large enough for that on a device.
template <class Exec, class M>
bool reads_dictionary(const Context<Exec>& ctx, const Matrix<M, typename Exec::memory_space>& A) {
  constexpr index_t least_rows_of_device = 1 << 17;
  const ReadsDictionaries read = ctx.backend().dictionaries;
  const auto reads = [&](const auto& a) {
    if (a.dictionary.empty() || read == ReadsDictionaries::no) return false;
    if (read == ReadsDictionaries::as_runs) return a.dictionary.runs.extent(0) > 0;
    return is_host_space<typename Exec::memory_space> || a.rows >= least_rows_of_device;
  };
  return std::visit(reads, A);
}

/// The way from the first level to the next and back by factors, where products read a dictionary of rows and P has no other
/// entries than (I - omega D^-1 A) T; false where it cannot be. Waits.
template <class M, class V, class Exec>
bool factor_prolongation(Context<Exec>& ctx,
                         const SetUpLevel<V, typename Exec::memory_space>& level, bool symmetric,
                         CycleLevel<M, Exec>& to) {
  using Space = typename Exec::memory_space;
  const Exec& exec = ctx.execution_space_instance();
  if (!symmetric || !level.smoothed || !level.near_null.is_one ||
      !reads_dictionary<Exec, M>(ctx, to.A.matrix) || level.tentative.blocks() != level.A.rows ||
      !is_uniform(exec, level.A.rows, level.inverse.data()) ||
      first_row(exec, level.A.rows,
                HasWeakCoupling{level.A.row_offsets.data(), operand_of(level.strong)}) >= 0)
    return false;
  const auto aggregates = static_cast<std::size_t>(level.tentative.cols);
  const auto weights = in_large_pages<M, Space>("cnc::amg", aggregates);
  on_each(exec, level.tentative.cols,
          TakeWeight<V, M>{level.members.row_offsets.data(), level.members.columns.data(),
                           level.tentative.values.data(), weights.data()});
  to.factored = {
      level.tentative.columns, level.members.row_offsets, level.members.columns, weights,
      static_cast<M>(smoothing_factor(to.largest) * static_cast<double>(fetch(level.inverse, 0)))};
  to.prolongation = {};
  to.restriction = {};
  return true;
}

/// The ways to the next coarser level and back. Waits.
template <class M, class V, class Exec>
void set_up_transfers(Context<Exec>& ctx, const SetUpLevel<V, typename Exec::memory_space>& level,
                      bool is_first, AmgHierarchy& facts, CycleLevel<M, Exec>& to) {
  const Exec& exec = ctx.execution_space_instance();
  const bool in_factors = is_first && factor_prolongation(ctx, level, facts.symmetric, to);
  if (is_first) facts.in_factors = in_factors;
  if (in_factors) return;
  to.factored = {};
  to.prolongation.take(ctx, in_slices_on_host(matrix_of<M>(exec, level.prolongation)));
  to.restriction.take(ctx, in_slices_on_host(matrix_of<M>(exec, level.restriction)));
}

/// The inverse of the last level's matrix. Its rank.
template <class M, class V, class Exec>
index_t invert_last(const Exec& exec, const SparseBlocks<V, typename Exec::memory_space>& A,
                    bool symmetric, CycleLevel<M, Exec>& to) {
  using Space = typename Exec::memory_space;
  const auto offsets = copy_to<HostSpace>(A.row_offsets);
  const auto columns = copy_to<HostSpace>(A.columns);
  const auto values = copy_to<HostSpace>(A.values);
  const int b = A.height;
  const auto n = static_cast<std::size_t>(A.rows * b);
  std::vector<double> dense(n * n, 0);
  for (index_t i = 0; i < A.rows; ++i)
    for (index_t k = offsets(i); k < offsets(i + 1); ++k)
      for (int r = 0; r < b; ++r)
        for (int c = 0; c < b; ++c)
          dense[static_cast<std::size_t>(i * b + r) * n +
                static_cast<std::size_t>(columns(k) * b + c)] =
              static_cast<double>(values((static_cast<std::size_t>(k) * b + r) * b + c));
  const DenseInverse inverse(dense, n, symmetric);
  const auto host = in_large_pages<M>("cnc::amg", n * n);
  for (std::size_t k = 0; k < n * n; ++k) host(k) = static_cast<M>(dense[k]);
  to.dense = copy_to<Space>(host);
  exec.fence();
  return static_cast<index_t>(inverse.rank());
}

/// Finds the levels that the backend goes through in one launch: as many as fit, from the last one on.
template <class M, class Exec>
void plan_coarse_levels(Context<Exec>& ctx, Cycle<M, Exec>& cycle, AmgHierarchy& facts) {
  constexpr offset_t most_coarse_entries = 4000000;  // more are not worth asking for
  cycle.coarse = {};
  facts.levels_together = 0;
  const auto& ops = ctx.template vectors<M>();
  auto& levels = cycle.levels;
  if (ops.plan_coarse == nullptr || cycle.kind != AmgCycle::v || levels.back().dense.extent(0) == 0)
    return;
  ctx.fence();
  std::vector<typename CoarseLaunch<M, Exec>::Level> found;
  for (std::size_t l = levels.size() - 1; l > 1; --l) {
    const CycleLevel<M, Exec>&finer = levels[l - 1], &last = levels[levels.size() - 2];
    if (finer.sweep || finer.smoother != last.smoother ||
        stored(finer.A.matrix) > most_coarse_entries ||
        found.size() + 2 > static_cast<std::size_t>(max_coarse_levels))
      return;
    found.emplace(found.begin(), finer);
    CoarseLaunch<M, Exec> launch;
    launch.levels = found;
    launch.first = l - 1;
    launch.cycle = cycle.coarse_operand(launch);
    launch.plan = ops.plan_coarse(ctx.queue(), launch.cycle);
    if (launch.plan == nullptr) return;
    launch.run = ops.coarse_cycle;
    cycle.coarse = std::move(launch);
    facts.levels_together = static_cast<int>(levels.size() - cycle.coarse.first);
    ctx.fence();  // what the plan has enqueued
  }
}

template <class M, class Exec>
AmgLevel described(const CycleLevel<M, Exec>& level, offset_t entries, int b) {
  const auto& matrix = level.A.matrix;
  const char* const name = std::visit([](const auto& a) { return a.format_name(); }, matrix);
  const std::string format = FormatSpec{name, block_size(matrix)}.text();
  return {level.rows, entries, b, level.dense.extent(0) > 0 ? "dense inverse" : format,
          level.largest};
}

/// Builds everything. Waits.
template <class M, class V, class Exec>
PreconditionerSetup build_hierarchy(
    Context<Exec>& ctx, const AmgOptions& options,
    const std::vector<Vector<const V, typename Exec::memory_space>>& near_null,
    const CsrMatrix<V, typename Exec::memory_space>& A,
    const Matrix<V, typename Exec::memory_space>& layout, Hierarchy<V, Exec>& hierarchy,
    Cycle<M, Exec>& cycle, AmgHierarchy& facts) {
  using Space = typename Exec::memory_space;
  const Exec& exec = ctx.execution_space_instance();
  require(A.rows == A.cols, "Amg: the matrix must be square");
  int b = options.block_size > 0 ? options.block_size : block_size(layout);
  if (A.rows % b != 0) {
    require(options.block_size == 0, "Amg: the rows are no multiple of the block size");
    b = 1;
  }
  facts.symmetric = is_symmetric(A, layout);
  ctx.reserve(A.rows);
  cycle.symmetric = facts.symmetric;
  if constexpr (sizeof(M) < sizeof(V)) cycle.norm = zeroed<double, Space>("cnc::amg", 1);

  auto& levels = hierarchy.levels;
  levels.emplace_back();
  levels[0].A = finest_blocks<Exec>(A, layout, b);
  levels[0].near_null = near_null_space<V>(exec, A.rows, b, near_null);
  for (std::size_t l = 0;; ++l) {
    Laps laps(exec);
    cycle.levels.emplace_back();
    auto& to = cycle.levels[l];
    const index_t rows = levels[l].A.rows * levels[l].A.height;
    const bool is_last = rows <= options.coarsest_rows;
    if (!is_last || l == 0) {
      levels[l].inverse =
          in_large_pages<V, Space>("cnc::amg", static_cast<std::size_t>(rows) *
                                                   static_cast<std::size_t>(levels[l].A.height));
      const index_t fault = invert_diagonal(exec, levels[l].A, levels[l].inverse);
      if (fault >= 0 && l == 0) return {.row = fault};
    }
    if (!is_last) {
      set_up_smoother(ctx, levels[l], l == 0 ? &layout : nullptr, facts.symmetric, to);
      choose_smoother(ctx, options.smoother, levels[l], facts.symmetric, to);
      if (l == 0) find_same_inverse(exec, to);
      laps.add_to(facts.smoother_seconds);
      SetUpLevel<V, Space> coarse;
      if (static_cast<int>(l) + 1 < options.max_levels &&
          coarsen(exec, options, facts.symmetric, to.largest, levels[l], coarse, l + 1, facts)) {
        Laps more(exec);
        set_up_transfers(ctx, levels[l], l == 0, facts, to);
        more.add_to(facts.smoother_seconds);
        to.visited_twice = l > 0 && double(rows) * double(1 << std::min<std::size_t>(l, 30)) <=
                                        2.0 * cycle.levels[1].rows;
        cycle.allocate_acceleration(to);
        facts.levels.push_back(described(to, levels[l].A.entries(), levels[l].A.height));
        levels.push_back(std::move(coarse));
        continue;
      }
    } else {
      to.rows = rows;
      to.allocate(true);
      facts.coarsest_rank = invert_last(exec, levels[l].A, facts.symmetric, to);
      laps.add_to(facts.coarsest_seconds);
    }
    facts.levels.push_back(described(to, levels[l].A.entries(), levels[l].A.height));
    plan_coarse_levels(ctx, cycle, facts);
    return {};
  }
}

/// New numbers on the aggregates and patterns that are there. Waits.
template <class M, class V, class Exec>
PreconditionerSetup update_hierarchy(Context<Exec>& ctx,
                                     const CsrMatrix<V, typename Exec::memory_space>& A,
                                     const Matrix<V, typename Exec::memory_space>& layout,
                                     Hierarchy<V, Exec>& hierarchy, Cycle<M, Exec>& cycle,
                                     AmgHierarchy& facts) {
  const Exec& exec = ctx.execution_space_instance();
  facts.symmetric = cycle.symmetric = facts.symmetric && is_symmetric(A, layout);
  cycle.coarse = {};  // its pointers are to what is allocated anew
  auto& levels = hierarchy.levels;
  const auto* const offsets = levels[0].A.row_offsets.data();
  levels[0].A = finest_blocks<Exec>(A, layout, levels[0].A.height);
  // The graph of a symmetric matrix has the room of its rows: of the arrays given now.
  if (levels[0].strong.offsets.data() == offsets)
    levels[0].strong.offsets = levels[0].A.row_offsets;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    auto& level = levels[l];
    auto& to = cycle.levels[l];
    if (level.inverse.extent(0) > 0) {
      const index_t fault = invert_diagonal(exec, level.A, level.inverse);
      if (fault >= 0 && l == 0) return {.row = fault};
    }
    if (to.dense.extent(0) > 0) {
      facts.coarsest_rank = invert_last(exec, level.A, facts.symmetric, to);
      continue;
    }
    set_up_smoother(ctx, level, l == 0 ? &layout : nullptr, facts.symmetric, to);
    choose_smoother(ctx, facts.smoother, level, facts.symmetric, to);
    if (l == 0) find_same_inverse(exec, to);
    facts.levels[l].largest_eigenvalue = to.largest;
    if (l + 1 == levels.size()) continue;
    Coarsening<V, Exec> coarsening(exec, level, levels[l + 1], true, "");
    if (level.smoothed) {
      coarsening.smooth_prolongation(to.largest);
      coarsening.transpose_prolongation();
    }
    coarsening.form_coarse();
    set_up_transfers(ctx, level, l == 0, facts, to);
  }
  plan_coarse_levels(ctx, cycle, facts);
  return {};
}

}  // namespace cnc::detail
