#include <cnc/preconditioner.hpp>
#include <parallel.hpp>
#include <precondition/diagonal_block.hpp>

namespace cnc {
namespace {

/// Keeps the fault of the lowest row of all that the threads report.
void report(PreconditionerSetup& result, const detail::BlockFault& fault) {
#pragma omp critical(cnc_preconditioner_report)
  if (result.ok() || fault.row < result.row) {
    result.row = fault.row;
    result.singular_block = fault.singular_block;
  }
}

/// invert(i) for each of `blocks` blocks; the first fault of all.
template <class Invert>
PreconditionerSetup invert_all(index_t blocks, const Invert& invert) {
  PreconditionerSetup result;
  detail::parallel_for(blocks, [&](index_t i) {
    const detail::BlockFault fault = invert(i);
    if (fault.row >= 0) report(result, fault);
  });
  return result;
}

}  // namespace

template <class V, class S, class Space>
PreconditionerSetup set_up_preconditioner(const CsrMatrix<S, Space>& A, PreconditionerKind kind,
                                          int block_size, Preconditioner<V, Space>& M) {
  const detail::SetUpPlan plan = detail::open_set_up(A, kind, block_size, M);
  const bool ascending = plan.ascending;
  const auto source = A.operand();
  const int b = M.block_size;
  V* inverse = M.inverse.data();
  if (b == 1)
    return invert_all(plan.blocks, [=](index_t i) {
      return detail::invert_entry(source, ascending, i, inverse[i]);
    });
  return invert_all(plan.blocks, [=](index_t i) {
    return detail::invert_diagonal_block<max_block_size>(
        source, ascending, b, i, inverse + static_cast<offset_t>(i) * b * b);
  });
}

template PreconditionerSetup set_up_preconditioner(const CsrMatrix<float>&, PreconditionerKind, int,
                                                   Preconditioner<float>&);
template PreconditionerSetup set_up_preconditioner(const CsrMatrix<double>&, PreconditionerKind,
                                                   int, Preconditioner<float>&);
template PreconditionerSetup set_up_preconditioner(const CsrMatrix<float>&, PreconditionerKind, int,
                                                   Preconditioner<double>&);
template PreconditionerSetup set_up_preconditioner(const CsrMatrix<double>&, PreconditionerKind,
                                                   int, Preconditioner<double>&);

}  // namespace cnc
