#include <cnc/incomplete.hpp>

#include "convert/sorted_rows.hpp"
#include "convert/spaces.hpp"
#include "precondition/triangular_solve.hpp"

#include <cstdio>

namespace cnc {

template <class V, class Exec>
struct IncompleteFactorization<V, Exec>::State {
  IncompleteOptions options;
  detail::TriangularSolve<V, Exec> lower, upper;
  Vector<V, Space> inverse;
  offset_t entries = 0;
  double shift = 0;
};

template <class V, class Exec>
IncompleteFactorization<V, Exec>::IncompleteFactorization(const IncompleteOptions& options)
    : state_(std::make_unique<State>()) {
  require(options.drop >= 0 && options.drop < 1,
          "IncompleteFactorization: drop must be 0 to less than 1");
  require(options.block_rows >= 0, "IncompleteFactorization: rows of a block must not be negative");
  require(options.fill >= 1 && options.fill <= 1000,
          "IncompleteFactorization: fill must be 1 to 1000");
  state_->options = options;
}
template <class V, class Exec>
IncompleteFactorization<V, Exec>::~IncompleteFactorization() = default;

template <class V, class Exec>
std::string IncompleteFactorization<V, Exec>::name() const {
  const IncompleteOptions& o = state_->options;
  std::string text = o.kind == IncompleteKind::ic0 ? "ic0" : "ilu0";
  if (o.kind == IncompleteKind::ilut) {
    char with_drop[32];
    std::snprintf(with_drop, sizeof with_drop, "ilut:%.6g", o.drop);
    text = with_drop;
  }
  if (o.block_rows == 0) return text;
  return text + (o.kind == IncompleteKind::ilut ? ",block=" : ":block=") +
         std::to_string(o.block_rows);
}

template <class V, class Exec>
double IncompleteFactorization<V, Exec>::bytes(index_t rows, offset_t nonzeros) const {
  return double(nonzeros) * (sizeof(V) + sizeof(index_t)) +
         double(rows) * (sizeof(V) + 4 * sizeof(index_t));
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
  detail::Factors factors;
  const index_t fault = detail::factorize(host, s.options, factors, s.shift);
  if (fault >= 0) return {.row = fault, .fault = "has no usable pivot, however much is added"};
  s.lower.set_up(factors.lower, false, s.options.block_rows);
  s.upper.set_up(factors.upper, true, s.options.block_rows);
  const std::vector<V> inverse(factors.inverse.begin(), factors.inverse.end());
  s.inverse = detail::copied_to<Space>(inverse);
  s.entries = static_cast<offset_t>(factors.lower.columns.size() + factors.upper.columns.size() +
                                    inverse.size());
  return {};
}

template <class V, class Exec>
void IncompleteFactorization<V, Exec>::apply(const Context<Exec>& ctx,
                                             const Vector<const V, Space>& r,
                                             const Vector<V, Space>& z) const {
  const State& s = *state_;
  require(s.inverse.extent(0) == r.extent(0),
          "IncompleteFactorization: apply without a set_up for a matrix of so many rows");
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
