#include <openmp/careful.hpp>

#include <openmp/isa_includes.hpp>

#include <cnc/contract/careful_rows.hpp>

#include <algorithm>

#define CNC_ISA any_isa
#define CNC_ISA_VECTOR_BYTES 16
#include <openmp/bcsr_spmv.hpp>
#include <openmp/bsell_spmv.hpp>
#include <openmp/dia_spmv.hpp>
#include <openmp/isa_begin.hpp>
#include <openmp/isa_end.hpp>
#include <openmp/pass.hpp>

namespace cnc::openmp {

using namespace any_isa;

namespace {

/// N sums of the rows [0, n), in groups that depend on n alone: add(terms, i) adds what row i has to add.
template <int N, class Add>
void sum_rows(const Queue& queue, index_t n, const Add& add, double (&totals)[N]) {
  using Group = CompensatedTerms<N>;
  auto* const groups = reinterpret_cast<Group*>(queue.partials);
  for_shares(queue, n, reduction_block, [=](index_t begin, index_t end) {
    for (index_t i = begin; i < end; i += reduction_block) {
      const index_t stop = end - i < reduction_block ? end : i + reduction_block;
      Group group{};
      for (index_t row = i; row < stop; ++row) add(group, row);
      groups[i / reduction_block] = group;
    }
  });
  Group all{};
  for (index_t g = 0; g < ceil_div(n, reduction_block); ++g)
    for (int k = 0; k < N; ++k) all.sums[k] += groups[g].sums[k];
  for (int k = 0; k < N; ++k) totals[k] = all.sums[k].value();
}

template <class Pass, class V>
void sums_of_pass(const Queue& queue, index_t n, const MethodVectors<V>& v,
                  MethodScalars* scalars) {
  MethodScalars s = begin_pass<Pass>(*scalars);
  if (s.breakdown != Breakdown::none) {
    scalars->breakdown = s.breakdown;
    return;
  }
  const Pass pass(s);
  double sums[Pass::sums.count];
  sum_rows(
      queue, n,
      [&v, &pass](CompensatedTerms<Pass::sums.count>& terms, index_t i) {
        Row<V> row;
        load_row<Pass::summed>(row, v, i);
        pass.sums_of(row, terms);
      },
      sums);
  end_pass<Pass>(s, sums);
  *scalars = s;
}

}  // namespace

template <class V>
void CarefulSums<V>::dot(const Queue& queue, index_t n, const V* x, const V* y, double* result) {
  double sum[1];
  sum_rows(
      queue, n, [=](CompensatedTerms<1>& terms, index_t i) { terms(0, x[i], y[i]); }, sum);
  *result = sum[0];
}

template <class V>
void CarefulSums<V>::of_pass(const Queue& queue, PassName name, index_t n,
                             const MethodVectors<V>& v, MethodScalars* scalars) {
  for_summing_pass<V>(name, [&]<class Pass>() { sums_of_pass<Pass>(queue, n, v, scalars); });
}

template <class Operand, class V>
void CarefulProduct<Operand, V>::spmv(const Queue& queue, Arithmetic arithmetic, const Operand& A,
                                      const V* x, V* y) {
  const detail::StoredRows<Operand, 0> rows{A};
  run_team(threads_for<V>(queue, A), Shares::equal, [&](const Team& team) {
    const Range share = share_of<V>(A, team.part(), team.parts());
    // A last block row may stick out of the matrix.
    const offset_t end = std::min(share.end * rows.per_unit(), rows.count());
    for (offset_t t = share.begin * rows.per_unit(); t < end; ++t)
      detail::careful_row(rows, t, arithmetic, x, y);
  });
}

#define CNC_INSTANTIATE(V) template struct CarefulSums<V>;
CNC_FOR_VECTOR_TYPES(CNC_INSTANTIATE)
#undef CNC_INSTANTIATE
#define CNC_INSTANTIATE(M, V)                         \
  template struct CarefulProduct<BcsrOperand<M>, V>;  \
  template struct CarefulProduct<BsellOperand<M>, V>; \
  template struct CarefulProduct<DiaOperand<M>, V>;
CNC_FOR_PRECISIONS(CNC_INSTANTIATE)

}  // namespace cnc::openmp
