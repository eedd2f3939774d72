#pragma once

#include <openmp/precondition.hpp>

// A pass over rows, of any method (cnc/contract/phases.hpp).

namespace cnc::openmp::CNC_ISA {

template <VectorSet set, class V, int k = 0>
CNC_INLINE void load_row(Row<V>& row, const MethodVectors<V>& v, index_t i) {
  if constexpr (contains(set, k)) row[k] = v[k][i];
  if constexpr (k + 1 < max_method_vectors) load_row<set, V, k + 1>(row, v, i);
}
template <VectorSet set, class V, int k = 0>
CNC_INLINE void store_row(const Row<V>& row, const MethodVectors<V>& v, index_t i) {
  if constexpr (contains(set, k)) v[k][i] = row[k];
  if constexpr (k + 1 < max_method_vectors) store_row<set, V, k + 1>(row, v, i);
}

/// What a row of a pass does about M^-1.
enum class InRow {
  nothing,  ///< it is not for rows: preconditioned vectors lie in memory
  copy,     ///< M is the identity
  scale,    ///< M is diagonal
  same,     ///< M is a multiple of the identity
};

/// Rows [begin, end): statements, M^-1 as far as it is of one row, sums. With `again` a preconditioned vector that
/// passes alone read is worked out again where it is, instead of being stored and read.
template <InRow in_row, bool again, bool with_sums, class Pass, class V>
CNC_INLINE void row_loop(const Pass pass, const V* __restrict inverse, const MethodVectors<V> v,
                         index_t begin, index_t end, double* sums) {
  constexpr bool local = in_row != InRow::nothing;
  constexpr bool works_out_again = local && again && Pass::again.active();
  constexpr VectorSet loads =
      works_out_again ? (Pass::reads & ~set_of(Pass::again.to)) | set_of(Pass::again.from)
                      : Pass::reads;
  constexpr bool applies = local && Pass::M.active();
  constexpr VectorSet stores =
      Pass::writes | (applies && !(again && Pass::M.passes_only) ? set_of(Pass::M.to) : 0);
  const V everywhere = in_row == InRow::same ? inverse[0] : V(1);
  const auto preconditioned = [inverse, everywhere](V value, index_t i) {
    return in_row == InRow::scale  ? inverse[i] * value
           : in_row == InRow::same ? everywhere * value
                                   : value;
  };
  // A function of its own: a struct declared in the loop itself has a copy for each lane, in memory, and is not vectorized.
  const auto row_at = [&](index_t i, double& term0, double& term1, double& term2)
      __attribute__((always_inline)) {
    Row<V> row;
    load_row<loads>(row, v, i);
    if constexpr (works_out_again) row[Pass::again.to] = preconditioned(row[Pass::again.from], i);
    pass(row);
    if constexpr (applies) row[Pass::M.to] = preconditioned(row[Pass::M.from], i);
    if constexpr (with_sums) {
      RowTerms terms;
      pass.sums_of(row, terms);
      term0 = terms.at[0], term1 = terms.at[1], term2 = terms.at[2];
    }
    store_row<stores>(row, v, i);
  };
  double sum0 = 0, sum1 = 0, sum2 = 0;
#pragma omp simd reduction(+ : sum0, sum1, sum2)
  for (index_t i = begin; i < end; ++i) {
    double term0 = 0, term1 = 0, term2 = 0;
    row_at(i, term0, term1, term2);
    if constexpr (with_sums) {
      sum0 += term0;
      sum1 += term1;
      sum2 += term2;
    }
  }
  if constexpr (with_sums) sums[0] = sum0, sums[1] = sum1, sums[2] = sum2;
}

/// The same with a loop for the first iteration and one for all others, if a row asks which it is: a branch in the row
/// keeps the loop from being vectorized.
template <class Pass, InRow in_row, bool again, bool with_sums, class V>
CNC_INLINE void rows_of_pass(Pass pass, const V* inverse, const MethodVectors<V>& v, index_t begin,
                             index_t end, double* sums) {
  if constexpr (Pass::writes != 0 && requires { pass.is_first; }) {
    if (pass.is_first) {
      row_loop<in_row, again, with_sums>(pass, inverse, v, begin, end, sums);
      return;
    }
    pass.is_first = false;  // known to the compiler from here on
  }
  row_loop<in_row, again, with_sums>(pass, inverse, v, begin, end, sums);
}

/// A pass as what is left of it when its statements are done: its sums, of vectors in memory.
template <class Pass>
struct SumsAlone : Pass {
  static constexpr VectorSet reads = Pass::summed, writes = 0;
  static constexpr Precondition M = {}, again = {};
  explicit constexpr SumsAlone(const Pass& pass) : Pass(pass) {}
  template <class Row>
  constexpr void operator()(Row&) const {}
};
template <class Pass, class V>
CNC_INLINE void sums_of_pass(const Pass& pass, const MethodVectors<V>& v, index_t begin,
                             index_t end, double* sums) {
  if constexpr (Pass::sums.count > 0)
    rows_of_pass<SumsAlone<Pass>, InRow::nothing, false, true>(
        SumsAlone<Pass>(pass), static_cast<const V*>(nullptr), v, begin, end, sums);
}

/// Rows [begin, end) of a pass, which start at a multiple of the preconditioner's block size.
template <class Pass, bool again, class V>
void pass_rows(const void* any, const PreconditionerOperand<V>& M, const MethodVectors<V>& v,
               PassPart part, index_t begin, index_t end, double* sums) {
  const Pass& pass = *static_cast<const Pass*>(any);
  constexpr bool has_sums = Pass::sums.count > 0;
  constexpr bool uses_M = Pass::M.active() || (again && Pass::again.active());
  if (part == PassPart::whole) {
    if constexpr (!uses_M)
      return rows_of_pass<Pass, InRow::nothing, again, has_sums>(pass, M.inverse, v, begin, end,
                                                                 sums);
    else if (M.kind == PreconditionerKind::none)
      return rows_of_pass<Pass, InRow::copy, again, has_sums>(pass, M.inverse, v, begin, end, sums);
    else if (M.kind == PreconditionerKind::jacobi && M.uniform)
      return rows_of_pass<Pass, InRow::same, again, has_sums>(pass, M.inverse, v, begin, end, sums);
    else if (M.kind == PreconditionerKind::jacobi)
      return rows_of_pass<Pass, InRow::scale, again, has_sums>(pass, M.inverse, v, begin, end,
                                                               sums);
  }
  // The rows stay in cache between the loops.
  if (part != PassPart::after)
    rows_of_pass<Pass, InRow::nothing, again, false>(pass, M.inverse, v, begin, end, sums);
  if constexpr (Pass::M.active())
    if (part == PassPart::whole)
      precondition_range(Pass::M.transposed ? M.transposed() : M,
                         static_cast<const V*>(v[Pass::M.from]), v[Pass::M.to], begin, end);
  if (part != PassPart::before) sums_of_pass(pass, v, begin, end, sums);
}

/// A pass as the loops around it see it, which are compiled once for all passes: its rows are behind a function pointer,
/// called for a group of them, or for a tile.
template <class V>
struct AnyPass {
  const void* pass;
  int sums;  ///< how many it has
  void (*rows)(const void* pass, const PreconditionerOperand<V>& M, const MethodVectors<V>& v,
               PassPart part, index_t begin, index_t end, double* sums);
};

template <bool again, class V, class Pass>
CNC_INLINE AnyPass<V> any_pass(const Pass& pass) {
  return {&pass, Pass::sums.count, pass_rows < Pass,
          again && (Pass::again.active() || Pass::M.passes_only), V > };
}

/// Where the sums of a pass go: `slots[k * groups + g]` is the k-th of group g.
struct GroupSums {
  double* slots;
  index_t groups;
  CNC_INLINE void store(index_t group, const double* sums, int count) const {
    for (int k = 0; k < count; ++k) slots[static_cast<offset_t>(k) * groups + group] = sums[k];
  }
  [[gnu::noinline]] void total(double* sums, int count) const {
    for (int k = 0; k < count; ++k)
      sums[k] = sum_partials(slots + static_cast<offset_t>(k) * groups, groups);
  }
};

/// Rows [begin, end) in groups of `unit`, each with its sums.
template <class V>
void pass_groups(const AnyPass<V>& pass, const PreconditionerOperand<V>& M,
                 const MethodVectors<V>& v, PassPart part, index_t unit, index_t begin, index_t end,
                 const GroupSums& groups) {
  for (index_t i = begin; i < end; i += unit) {
    double sums[3] = {};
    pass.rows(pass.pass, M, v, part, i, end - i < unit ? end : i + unit, sums);
    groups.store(i / unit, sums, pass.sums);
  }
}

/// All rows, and the total of each sum.
template <class V>
void pass_over_rows(const Queue& queue, index_t n, const AnyPass<V>& pass,
                    const PreconditionerOperand<V>& M, const MethodVectors<V>& v, PassPart part,
                    double* sums) {
  const index_t unit = group_of(M);
  const GroupSums groups{queue.partials, ceil_div(n, unit)};
  for_shares(queue, n, unit, [&](index_t begin, index_t end) {
    pass_groups(pass, M, v, part, unit, begin, end, groups);
  });
  if (part != PassPart::before) groups.total(sums, pass.sums);
}

template <class Pass, class V>
void run_pass(const Queue& queue, index_t n, const PreconditionerOperand<V>& M,
              const MethodVectors<V>& v, MethodScalars* scalars, PassPart part) {
  MethodScalars s = begin_pass<Pass>(*scalars);
  if (s.breakdown != Breakdown::none) {
    scalars->breakdown = s.breakdown;
    return;
  }
  double sums[3] = {};
  const Pass pass(s);
  // What a diagonal makes of a row is worked out again where it is read, as in runs. Passes around a preconditioner of the
  // caller are given none, and read what he has stored.
  const bool again = part == PassPart::whole && M.kind == PreconditionerKind::jacobi;
  pass_over_rows(queue, n, again ? any_pass<true, V>(pass) : any_pass<false, V>(pass), M, v, part,
                 sums);
  if (!stores_scalars<Pass> || part == PassPart::before) return;
  end_pass<Pass>(s, sums);
  *scalars = s;
}

/// The entries of the operation table.
template <class V>
struct PassesOf {
  template <class Method, class Pass>
  struct Entry {
    static constexpr PassEntry<V> run = run_pass<Pass, V>;
  };
};

}  // namespace cnc::openmp::CNC_ISA
