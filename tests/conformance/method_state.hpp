#pragma once

#include "conformance/layouts.hpp"
#include "conformance/per_backend.hpp"

#include <cnc/contract/methods.hpp>

namespace cnc::testing {

/// Vectors and scalars of a solve before its start: only x and r hold anything, all else is NaN.
template <class V>
struct MethodState {
  const MethodFacts* facts;
  std::vector<GuardedVector<V>> vectors;  ///< by the method's enumeration
  MethodScalars scalars;

  MethodState(Method method, index_t n, Alignment alignment)
      : facts(&method_facts(method)),
        vectors(static_cast<std::size_t>(facts->vectors), GuardedVector<V>(n, alignment)) {
    x().randomize(1);
    r().randomize(2);
    // What a start has to clear away.
    for (double& value : scalars.value) value = GuardedVector<double>::nan();
    scalars.breakdown = Breakdown::zero_divisor;
    scalars.first = 0;
    // Bounds of the eigenvalues of definite_matrix, with and without its diagonal for a preconditioner.
    const double bounds[] = {0.1, 10};
    for (int k = 0; k < facts->parameters.count; ++k)
      scalars.value[facts->parameters.at[k]] = bounds[k];
  }
  GuardedVector<V>& x() { return vectors[static_cast<std::size_t>(facts->x)]; }
  GuardedVector<V>& r() { return vectors[static_cast<std::size_t>(facts->r)]; }
  const GuardedVector<V>& x() const { return vectors[static_cast<std::size_t>(facts->x)]; }
  const GuardedVector<V>& r() const { return vectors[static_cast<std::size_t>(facts->r)]; }

  MethodVectors<V> in(const TestQueue& queue) {
    MethodVectors<V> all;
    for (std::size_t k = 0; k < vectors.size(); ++k) all.at[k] = queue(vectors[k]);
    return all;
  }
  bool walls_intact() const {
    return std::all_of(vectors.begin(), vectors.end(),
                       [](const auto& vector) { return vector.walls_intact(); });
  }
  /// x and r: what a run leaves for anybody but itself.
  bool same_result(const MethodState& other) const {
    return x().same_bits(other.x()) && r().same_bits(other.r());
  }
  bool same_vectors(const MethodState& other) const {
    for (std::size_t k = 0; k < vectors.size(); ++k)
      if (!vectors[k].same_bits(other.vectors[k])) return false;
    return true;
  }
};

/// Whether two sets of scalars have the same bits, NaN included.
inline bool same_scalars(const MethodScalars& a, const MethodScalars& b) {
  return a.breakdown == b.breakdown && a.first == b.first &&
         std::memcmp(a.value, b.value, sizeof a.value) == 0;
}

/// Strictly diagonally dominant, for a method that needs it symmetric: its eigenvalues are then between 1 and 9.6 by
/// Gershgorin's theorem. For other methods the entries above the diagonal are half of those below, as where something
/// flows. Neighbours at distance 1 and 5, so that every block size has blocks on and off the diagonal. `repeats`: rows differ at
/// the ends only.
template <class M>
CsrMatrix<M> definite_matrix(index_t n, bool symmetric, bool repeats = false) {
  std::vector<index_t> columns;
  std::vector<M> values;
  Kokkos::View<index_t*, HostSpace> row_offsets("row_offsets", static_cast<std::size_t>(n) + 1);
  for (index_t i = 0; i < n; ++i) {
    for (const index_t distance : {-5, -1, 0, 1, 5}) {
      const index_t j = i + distance;
      if (j < 0 || j >= n) continue;
      const index_t place = repeats ? 0 : std::min(i, j);
      Random random(static_cast<std::uint64_t>(7 * place + distance * distance));
      const double size = std::abs(random.value());
      const double beside = (-0.5 - 0.5 * size) * (symmetric || j < i ? 1 : 0.5);
      columns.push_back(j);
      values.push_back(static_cast<M>(distance == 0 ? 5 + 0.6 * size : beside));
    }
    row_offsets(i + 1) = static_cast<index_t>(columns.size());
  }
  Kokkos::View<index_t*, HostSpace> column_view("columns", columns.size());
  Vector<M> value_view("values", values.size());
  std::copy(columns.begin(), columns.end(), column_view.data());
  std::copy(values.begin(), values.end(), value_view.data());
  return {n, n, 1, row_offsets, column_view, value_view};
}

/// M with what methods need besides that multiply with M^-T.
template <class V>
void add_transpose(Preconditioner<V>& M) {
  const std::size_t n = M.inverse.extent(0), b = static_cast<std::size_t>(M.block_size);
  M.transposed_inverse = Vector<V>("transposed", n);
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t block = k / (b * b) * b * b, row = (k - block) / b, column = k % b;
    M.transposed_inverse(block + column * b + row) = M.inverse(k);
  }
}

/// The matrix that tests solve with a method.
template <class M>
CsrMatrix<M> matrix_for(Method method, index_t n, bool repeats = false) {
  return definite_matrix<M>(n, method_facts(method).symmetric, repeats);
}

/// Whether a matrix that is not definite breaks a method down; one that is given an interval of eigenvalues diverges.
inline bool needs_definite(const MethodFacts& method) {
  return method.symmetric && !method.indefinite && method.parameters.count == 0;
}

/// Whether a matrix of zeros or NaN breaks a method down in its first iteration. Least squares have found A^T r to be zero or
/// NaN before.
inline bool breaks_down_on_zero(const MethodFacts& method) {
  return !method.stationary && !method.least_squares && method.parameters.count == 0;
}

/// A copy with every value multiplied by a factor: -1 makes a definite matrix a negative definite one.
template <class SparseMatrix>
SparseMatrix scaled(SparseMatrix A, double factor) {
  using M = typename decltype(A.values)::non_const_value_type;
  Vector<M> values("scaled", A.values.extent(0));
  for (std::size_t k = 0; k < values.extent(0); ++k)
    values(k) = A.values(k) == 0 ? M(0) : static_cast<M>(A.values(k) * factor);  // fill stays zero
  A.values = values;
  auto& rows = A.dictionary;
  const auto entries = rows.entries;
  rows.entries = Kokkos::View<RowEntry<M>*, HostSpace>("scaled", entries.extent(0));
  for (std::size_t k = 0; k < entries.extent(0); ++k)
    rows.entries(k) = {static_cast<M>(entries(k).value * factor), entries(k).offset};
  const auto parts = rows.parts;
  rows.parts = Kokkos::View<RowPart<M>*, HostSpace>("scaled", parts.extent(0));
  for (std::size_t k = 0; k < parts.extent(0); ++k)
    rows.parts(k) = {static_cast<M>(parts(k).diagonal * factor), parts(k).entries};
  const auto stencil = rows.stencil;
  rows.stencil = Kokkos::View<RowStencil<M>*, HostSpace>("scaled", stencil.extent(0));
  for (std::size_t k = 0; k < stencil.extent(0); ++k) {
    rows.stencil(k) = stencil(k);
    rows.stencil(k).parts = rows.parts.data();
    static std::uint64_t last_revision = std::uint64_t(1) << 32;  // far from the library's own
    rows.stencil(k).revision = ++last_revision;
    for (M& value : rows.stencil(k).value) value = static_cast<M>(value * factor);
  }
  return A;
}

/// A symmetric matrix with one negative eigenvalue, which CG runs into after an iteration or a few.
template <class M>
CsrMatrix<M> indefinite_matrix(index_t n) {
  CsrMatrix<M> A = scaled(definite_matrix<M>(n, true), 1);
  const index_t row = n / 2;
  Vector<M> values("values", A.values.extent(0));
  for (std::size_t k = 0; k < values.extent(0); ++k) values(k) = A.values(k);
  for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k)
    if (A.columns(k) == row) values(k) = M(-8);
  A.values = values;
  return A;
}

/// A solve by the reference on CSR, from its start.
template <class M, class V>
MethodRun reference_run(Method method, const CsrMatrix<M>& A, const PreconditionerOperand<V>& P,
                        MethodState<V>& state, index_t iterations, double* energy_gains = nullptr) {
  const TestQueue queue(reference(), A.rows, 1);
  MethodRun run;
  run.starts = true;
  run.max_iterations = iterations;
  run.energy_gains = energy_gains;
  matrix_ops<BcsrOperand<M>, V>(reference())
      .run[static_cast<int>(method)](queue, A.operand(), P, state.in(queue), &state.scalars, &run);
  return run;
}

/// The states of the reference after 0, 1, ... `most` iterations, or as many as it can do.
template <class M, class V>
std::vector<MethodState<V>> reference_states(Method method, const CsrMatrix<M>& A,
                                             const PreconditionerOperand<V>& P, index_t most) {
  std::vector<MethodState<V>> states;
  for (index_t k = 0; k <= most; ++k) {
    MethodState<V> state(method, A.rows, Alignment::odd);
    const MethodRun run = reference_run(method, A, P, state, k);
    if (run.iterations < k) break;
    states.push_back(std::move(state));
  }
  return states;
}

}  // namespace cnc::testing
