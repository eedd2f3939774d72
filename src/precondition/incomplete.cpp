#include <cnc/incomplete.hpp>
#include <cnc/reorder.hpp>

#include "convert/sorted_rows.hpp"
#include "convert/spaces.hpp"
#include "precondition/colours.hpp"
#include "precondition/triangular_solve.hpp"

#include <algorithm>
#include <cstdio>

namespace cnc {

template <class V, class Exec>
struct IncompleteFactorization<V, Exec>::State {
  IncompleteOptions options;
  detail::TriangularSolve<V, Exec> lower, upper;
  Vector<V, Space> inverse;
  Vector<V, Space> steps[2];  ///< of sweeps
  offset_t entries = 0;
  double shift = 0;
};

template <class V, class Exec>
IncompleteFactorization<V, Exec>::IncompleteFactorization(const IncompleteOptions& options)
    : state_(std::make_unique<State>()) {
  require(options.drop >= 0 && options.drop < 1,
          "IncompleteFactorization: drop must be 0 to less than 1");
  require(options.block_rows >= 0, "IncompleteFactorization: rows of a block must not be negative");
  require(options.block_rows == 0 || !options.by_colours,
          "IncompleteFactorization: blocks have rows in their own order, not by colours");
  require(options.sweeps >= 0 && options.sweeps <= 100,
          "IncompleteFactorization: sweeps must be 0 to 100");
  require(options.fill >= 1 && options.fill <= 1000,
          "IncompleteFactorization: fill must be 1 to 1000");
  state_->options = options;
}
template <class V, class Exec>
IncompleteFactorization<V, Exec>::~IncompleteFactorization() = default;

template <class V, class Exec>
bool IncompleteFactorization<V, Exec>::keeps_symmetry() const {
  return state_->options.kind != IncompleteKind::ilut;
}

template <class V, class Exec>
std::string IncompleteFactorization<V, Exec>::name() const {
  const IncompleteOptions& o = state_->options;
  std::string text = o.kind == IncompleteKind::ic0 ? "ic0" : "ilu0";
  if (has_threshold(o.kind)) {
    char with_drop[32];
    std::snprintf(with_drop, sizeof with_drop, "%s:%.6g",
                  o.kind == IncompleteKind::ict ? "ict" : "ilut", o.drop);
    text = with_drop;
  }
  const auto add = [&text](const std::string& word) {
    text += (text.find(':') == std::string::npos ? ":" : ",") + word;
  };
  if (o.block_rows > 0) add("block=" + std::to_string(o.block_rows));
  if (o.by_colours) add("colours");
  if (o.sweeps > 0) add("sweeps=" + std::to_string(o.sweeps));
  return text;
}

template <class V, class Exec>
double IncompleteFactorization<V, Exec>::bytes(index_t rows, offset_t nonzeros) const {
  return double(nonzeros) * (sizeof(V) + sizeof(index_t)) +
         double(rows) *
             ((1 + std::min(state_->options.sweeps, 2)) * sizeof(V) + 4 * sizeof(index_t));
}

template <class V, class Exec>
PreconditionerSetup IncompleteFactorization<V, Exec>::set_up(Context<Exec>&,
                                                             const CsrMatrix<V, Space>& A,
                                                             const Matrix<V, Space>&) {
  require(A.rows == A.cols, "IncompleteFactorization: the matrix must be square");
  State& s = *state_;
  s.inverse = {};
  auto host = copy_to<HostSpace>(A);
  host.checked = A.checked;
  host = detail::ascending_csr<Kokkos::DefaultHostExecutionSpace>(host);
  std::vector<index_t> rows;  // of the caller's, in the order in which they are factorised
  if (s.options.by_colours) {
    rows = detail::coloured(host).rows;
    host = permute(
        host, Vector<const index_t>(detail::copied_there<HostSpace>("cnc::preconditioner", rows)));
  }
  detail::Factors factors;
  const index_t fault = detail::factorize(host, s.options, factors, s.shift);
  if (fault >= 0)
    return {.row = rows.empty() ? fault : rows[static_cast<std::size_t>(fault)],
            .fault = "has no usable pivot, however much is added"};
  const bool swept = s.options.sweeps > 0;
  s.lower.set_up(factors.lower, {false, s.options.block_rows, swept, rows});
  s.upper.set_up(factors.upper, {true, s.options.block_rows, swept, rows});
  std::vector<V> inverse(factors.inverse.begin(), factors.inverse.end());
  for (std::size_t k = 0; k < rows.size(); ++k)
    inverse[static_cast<std::size_t>(rows[k])] = static_cast<V>(factors.inverse[k]);
  s.inverse = detail::copied_there<Space>("cnc::preconditioner", inverse);
  s.entries = static_cast<offset_t>(factors.lower.columns.size() + factors.upper.columns.size() +
                                    inverse.size());
  for (int k = 0; k < 2; ++k)
    s.steps[k] =
        uninitialized<V, Space>("cnc::incomplete", k < s.options.sweeps ? inverse.size() : 0);
  return {};
}

template <class V, class Exec>
void IncompleteFactorization<V, Exec>::apply(const Context<Exec>& ctx,
                                             const Vector<const V, Space>& r,
                                             const Vector<V, Space>& z) const {
  const State& s = *state_;
  require(s.inverse.extent(0) == r.extent(0),
          "IncompleteFactorization: apply without a set_up for a matrix of so many rows");
  if (s.options.sweeps > 0) {
    V *const first = s.steps[0].data(), *const second = s.steps[1].data();
    s.lower.sweep(ctx, s.options.sweeps, s.inverse.data(), r.data(), z.data(), first);
    s.upper.sweep(ctx, s.options.sweeps, nullptr, first, second, z.data());
    return;
  }
  s.lower.apply(ctx, nullptr, r.data(), z.data());
  s.upper.apply(ctx, s.inverse.data(), z.data(), z.data());
}

template <class V, class Exec>
offset_t IncompleteFactorization<V, Exec>::entries() const {
  return state_->entries;
}
template <class V, class Exec>
double IncompleteFactorization<V, Exec>::shift() const {
  return state_->shift;
}
template <class V, class Exec>
int IncompleteFactorization<V, Exec>::levels() const {
  return state_->lower.levels();
}

template class IncompleteFactorization<float>;
template class IncompleteFactorization<double>;
#ifdef CNC_KOKKOS_HAS_DEVICE
template class IncompleteFactorization<float, Kokkos::DefaultExecutionSpace>;
template class IncompleteFactorization<double, Kokkos::DefaultExecutionSpace>;
#endif

}  // namespace cnc
