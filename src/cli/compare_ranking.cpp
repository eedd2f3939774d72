#include "compare_ranking.hpp"

namespace cnc::cli {
namespace {

/// The fastest of those rows that `admits` says yes to; null when there is none.
template <class Admits>
const MatrixRow* fastest_of(const std::vector<MatrixRow>& rows, const Admits& admits) {
  const MatrixRow* best = nullptr;
  for (const MatrixRow& row : rows)
    if (row.spmv.timing.resolved() && admits(row) &&
        (best == nullptr || row.spmv.timing.median < best->spmv.timing.median))
      best = &row;
  return best;
}

}  // namespace

Ranking rank(const std::vector<MatrixRow>& rows, Precision precision) {
  Ranking ranking;
  ranking.best = fastest_of(rows, [&](const MatrixRow& row) { return row.precision == precision; });
  if (ranking.best == nullptr) return ranking;
  const MatrixRow& best = *ranking.best;
  ranking.second = fastest_of(
      rows, [&](const MatrixRow& row) { return row.precision == precision && &row != &best; });
  const auto comparable = [&](const MatrixRow& row) {
    return row.precision == precision && row.format == "csr" && &row != &best &&
           row.backend->memory == best.backend->memory &&
           (on_device(row) || row.threads == best.threads);
  };
  ranking.same_threads_csr = fastest_of(
      rows, [&](const MatrixRow& row) { return comparable(row) && row.backend != best.backend; });
  if (ranking.same_threads_csr == nullptr) ranking.same_threads_csr = fastest_of(rows, comparable);
  return ranking;
}

const char* same_threads_csr_text(const MatrixRow& best) {
  return on_device(best) ? "csr on the same device" : "csr with as many threads";
}

}  // namespace cnc::cli
