// The oracle itself, against values computed by hand, exact in binary but for the end of CG.

#include "support/catch.hpp"

#include <reference/reference.hpp>

#include <limits>
#include <vector>

namespace {

using namespace cnc;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class V>
using Values = std::vector<V>;

// A = [ 2 -1  0  0  0 ]
//     [ 0  0  0  0  0 ]
//     [ 1  0  3  0  4 ]
//     [ 0  5  0 -2  0 ]
//     [ 0  0  0  0  6 ]
constexpr index_t csr_offsets[] = {0, 2, 2, 5, 7, 8};
constexpr index_t csr_columns[] = {0, 1, 0, 2, 4, 1, 3, 4};
template <class M>
constexpr M csr_values[] = {2, -1, 1, 3, 4, 5, -2, 6};

// The same in 2 x 2 blocks: five rows leave a partial last block row and column.
constexpr index_t block_offsets[] = {0, 1, 4, 5};
constexpr index_t block_columns[] = {0, 0, 1, 2, 2};
template <class M>
constexpr M block_values[] = {2, -1, 0, 0,                           //
                              1, 0,  0, 5, 3, 0, 0, -2, 4, 0, 0, 0,  //
                              6, 0,  0, 0};

// The same in slices of two rows, sorted by length: rows 2 0 | 3 4 | 1 and a padding lane.
constexpr offset_t slice_offsets[] = {0, 6, 10, 10};
constexpr index_t slice_columns[] = {0, 0, 2, 1, 4, 1, 1, 4, 3, 4};
constexpr index_t slice_rows[] = {2, 0, 3, 4, 1, -1};
template <class M>
constexpr M slice_values[] = {1, 2, 3, -1, 4, 0, 5, 6, -2, 0};

// The same in 2 x 2 blocks and slices of two block rows: block rows 1 0 | 2 and a padding lane.
constexpr offset_t block_slice_offsets[] = {0, 6, 8};
constexpr index_t block_slice_columns[] = {0, 0, 1, 0, 2, 0, 2, 0};
constexpr index_t block_slice_rows[] = {1, 0, 2, -1};
template <class M>
constexpr M block_slice_values[] = {1, 2, 0, -1, 0, 0, 5,  0,  //
                                    3, 0, 0, 0,  0, 0, -2, 0,  //
                                    4, 0, 0, 0,  0, 0, 0,  0,  //
                                    6, 0, 0, 0,  0, 0, 0,  0};

// The same by diagonals: column - row is -2, 0, 1 or 2.
constexpr index_t dia_offsets[] = {-2, 0, 1, 2};
template <class M>
constexpr M dia_values[] = {0,  0, 1, 5, 0, 2, 0, 3, -2, 6,  //
                            -1, 0, 0, 0, 0, 0, 0, 4, 0,  0};

template <class M>
constexpr BcsrOperand<M> csr = {5, 5, 1, csr_offsets, csr_columns, csr_values<M>};
template <class M>
constexpr BcsrOperand<M> bcsr = {5, 5, 2, block_offsets, block_columns, block_values<M>};
template <class M>
constexpr BsellOperand<M> sell = {
    5, 5, 1, 2, slice_offsets, slice_columns, slice_rows, slice_values<M>};
template <class M>
constexpr BsellOperand<M> bsell = {
    5, 5, 2, 2, block_slice_offsets, block_slice_columns, block_slice_rows, block_slice_values<M>};

template <class M>
constexpr DiaOperand<M> dia = {5, 5, 4, false, dia_offsets, dia_values<M>};

template <class M, class V, class Operand>
void check_products(const Operand& A) {
  const auto& ops = matrix_ops(matrix_table<M, V>(reference_backend), A);
  const Values<V> x = {1, 2, 3, 4, 5};

  Values<V> y = {V(nan), V(nan), V(nan), V(nan), V(nan)};
  ops.spmv({}, 1, A, x.data(), 0, y.data());
  CHECK(y == Values<V>{0, 0, 30, 2, 30});

  y = {1, 2, 3, 4, 5};
  ops.spmv({}, V(-0.5), A, x.data(), 2, y.data());
  CHECK(y == Values<V>{2, 4, -9, 7, -5});

  double dot = nan;
  ops.spmv_dot({}, A, x.data(), y.data(), &dot);
  CHECK(y == Values<V>{0, 0, 30, 2, 30});
  CHECK(dot == 248);
}

template <class M, class V>
void check_formats() {
  check_products<M, V>(csr<M>);
  check_products<M, V>(bcsr<M>);
  check_products<M, V>(sell<M>);
  check_products<M, V>(bsell<M>);
  check_products<M, V>(dia<M>);
}

TEST_CASE("reference spmv and spmv_dot give hand-computed values") {
  check_formats<float, float>();
  check_formats<double, double>();
  check_formats<float, double>();
}

TEST_CASE("reference spmv of rectangular and empty matrices") {
  const auto spmv = reference_backend.matrix_f64.bcsr.spmv;
  const auto sliced = reference_backend.matrix_f64.bsell.spmv;
  const double x[] = {1, 10, 100};
  // [ 1 2 3 ] in a 2 x 2 block and half of one
  const index_t offsets[] = {0, 2};
  const index_t columns[] = {0, 1};
  const double values[] = {1, 2, 0, 0, 3, 0, 0, 0};
  double y[] = {nan, 7};
  spmv({}, 1, {1, 3, 2, offsets, columns, values}, x, 0, y);
  CHECK(y[0] == 321);
  CHECK(y[1] == 7);

  const index_t no_blocks[] = {0, 0, 0};
  spmv({}, 1, {2, 0, 1, no_blocks, nullptr, nullptr}, nullptr, 2, y);
  CHECK(y[0] == 642);
  CHECK(y[1] == 14);
  spmv({}, 1, {0, 3, 1, no_blocks, nullptr, nullptr}, x, 0, nullptr);

  const offset_t no_slots[] = {0};
  sliced({}, 1, {0, 3, 1, 4, no_slots, nullptr, nullptr, nullptr}, x, 0, nullptr);
  const offset_t empty_slice[] = {0, 0};
  const index_t rows[] = {0, 1, -1, -1};
  y[0] = nan;
  sliced({}, 1, {2, 0, 1, 4, empty_slice, nullptr, rows, nullptr}, nullptr, 0, y);
  CHECK(y[0] == 0);
  CHECK(y[1] == 0);
}

TEST_CASE("reference spmv of half a symmetric matrix") {
  // [ 1 4 0 ]   diagonal 1 2 3, upper diagonal 4 5
  // [ 4 2 5 ]
  // [ 0 5 3 ]
  const index_t offsets[] = {0, 1};
  const double values[] = {1, 2, 3, 4, 5, 0};
  const double x[] = {1, 10, 100};
  double y[] = {nan, nan, nan};
  reference_backend.matrix_f64.dia.spmv({}, 1, {3, 3, 2, true, offsets, values}, x, 0, y);
  CHECK(y[0] == 41);
  CHECK(y[1] == 524);
  CHECK(y[2] == 350);
}

TEST_CASE("a float matrix under double vectors keeps the digits of the vectors") {
  const double x[] = {1 + 0x1p-40, 0, 0, 0, 0};
  double y[5];
  reference_backend.matrix_f32_f64.bcsr.spmv({}, 1, csr<float>, x, 0, y);
  CHECK(y[0] == 2 + 0x1p-39);
}

template <class V>
void check_vector_operations() {
  const VectorOps<V>& ops = vector_ops<V>(reference_backend);
  const Values<V> x = {1, -2, 4};
  Values<V> y = {10, 20, 30};
  ops.axpy({}, 3, 2, x.data(), y.data());
  CHECK(y == Values<V>{12, 16, 38});
  ops.axpby({}, 3, 1, x.data(), V(0.5), y.data());
  CHECK(y == Values<V>{7, 6, 23});
  ops.scal({}, 3, -2, y.data());
  CHECK(y == Values<V>{-14, -12, -46});
  ops.multiply({}, 3, x.data(), y.data(), y.data());
  CHECK(y == Values<V>{-14, 24, -184});

  double result = nan;
  ops.dot({}, 3, x.data(), y.data(), &result);
  CHECK(result == -798);
  const Values<V> sides = {2, 3, 6};
  ops.nrm2({}, 3, sides.data(), &result);
  CHECK(result == 7);

  y = {V(nan), V(nan), V(nan)};
  ops.axpby({}, 3, 3, x.data(), 0, y.data());
  CHECK(y == Values<V>{3, -6, 12});
  y = {V(nan), V(nan), 1};
  ops.scal({}, 3, 0, y.data());
  CHECK(y == Values<V>{0, 0, 0});

  ops.axpy({}, 0, 1, nullptr, nullptr);
  ops.dot({}, 0, nullptr, nullptr, &result);
  CHECK(result == 0);
}

TEST_CASE("reference vector operations give hand-computed values") {
  check_vector_operations<float>();
  check_vector_operations<double>();
}

TEST_CASE("a dot product of floats accumulates in double") {
  const std::vector<float> x = {1, 1.0f / 4096, 1};
  const std::vector<float> y = {1, 1.0f / 4096, -1};
  double result = nan;
  reference_backend.vector_f32.dot({}, 3, x.data(), y.data(), &result);
  CHECK(result == 0x1p-24);
}

TEST_CASE("reference preconditioners give hand-computed values") {
  const auto apply = reference_backend.vector_f64.precondition;
  const Values<double> r = {1, 2, 3};
  Values<double> z(3, nan);
  apply({}, 3, {}, r.data(), z.data());
  CHECK(z == r);
  const double diagonal[] = {0.5, 4, -1};
  apply({}, 3, {PreconditionerKind::jacobi, 1, diagonal}, r.data(), z.data());
  CHECK(z == Values<double>{0.5, 8, -3});
  const double blocks[] = {1, 2, 3, 4, 5, 0, 0, 1};
  apply({}, 3, {PreconditionerKind::block_jacobi, 2, blocks}, r.data(), z.data());
  CHECK(z == Values<double>{5, 11, 15});
}

// Two steps on A = diag(1, 3), b = (3, 3), x = 0 without a preconditioner: r = b, rz = 18, q = (3, 9), pq = 36, alpha = 1/2,
// x = (3/2, 3/2), r = (3/2, -3/2), rz = 9/2; beta = 1/4, p = (9/4, -3/4), q = (9/4, -9/4),
// pq = 27/4, alpha = 2/3, x = (3, 1), r = (0, 0).
struct TwoByTwo {
  std::vector<double> x{0, 0}, r{3, 3}, z{nan, nan}, p{nan, nan}, q{nan, nan}, s{nan, nan};
  PcgScalars scalars;
  PcgVectors<double> vectors() {
    return {x.data(), r.data(), z.data(), p.data(), q.data(), s.data()};
  }
};
constexpr index_t diagonal_offsets[] = {0, 1, 2};
constexpr index_t diagonal_columns[] = {0, 1};
constexpr double diagonal_values[] = {1, 3};
constexpr BcsrOperand<double> diagonal = {
    2, 2, 1, diagonal_offsets, diagonal_columns, diagonal_values};

TEST_CASE("reference pcg steps give hand-computed values") {
  const VectorOps<double>& ops = reference_backend.vector_f64;
  const auto& matrix = reference_backend.matrix_f64.bcsr;
  TwoByTwo v;
  ops.pcg_start({}, 2, {}, v.vectors(), &v.scalars);
  CHECK(v.z == v.r);
  CHECK(v.scalars.rz == 18);
  CHECK(v.scalars.rr == 18);
  CHECK(v.scalars.rz_previous == 0);

  ops.pcg_direction({}, 2, v.vectors(), &v.scalars);
  CHECK(v.scalars.beta == 0);
  CHECK(v.p == std::vector<double>{3, 3});
  matrix.spmv_dot({}, diagonal, v.p.data(), v.q.data(), &v.scalars.pq);
  CHECK(v.scalars.pq == 36);
  ops.pcg_update({}, 2, {}, v.vectors(), &v.scalars);
  CHECK(v.scalars.alpha == 0.5);
  CHECK(v.x == std::vector<double>{1.5, 1.5});
  CHECK(v.r == std::vector<double>{1.5, -1.5});
  CHECK(v.scalars.rz == 4.5);
  CHECK(v.scalars.rz_previous == 18);

  ops.pcg_direction({}, 2, v.vectors(), &v.scalars);
  CHECK(v.scalars.beta == 0.25);
  CHECK(v.p == std::vector<double>{2.25, -0.75});
  matrix.spmv_dot({}, diagonal, v.p.data(), v.q.data(), &v.scalars.pq);
  CHECK(v.scalars.pq == 6.75);
  ops.pcg_update({}, 2, {}, v.vectors(), &v.scalars);
  CHECK(v.x[0] == Approx(3));
  CHECK(v.x[1] == Approx(1));
  CHECK(v.scalars.rr == Approx(0).margin(1e-28));
}

TEST_CASE("reference single-reduction steps reach the same iterates") {
  const VectorOps<double>& ops = reference_backend.vector_f64;
  const auto& matrix = reference_backend.matrix_f64.bcsr;
  TwoByTwo v;
  ops.pcg_start({}, 2, {}, v.vectors(), &v.scalars);
  matrix.spmv_dot({}, diagonal, v.z.data(), v.q.data(), &v.scalars.pq);
  CHECK(v.scalars.pq == 36);
  ops.pcg_single_reduction_update({}, 2, {}, v.vectors(), &v.scalars);
  CHECK(v.scalars.alpha == 0.5);
  CHECK(v.p == std::vector<double>{3, 3});
  CHECK(v.s == std::vector<double>{3, 9});
  CHECK(v.x == std::vector<double>{1.5, 1.5});
  CHECK(v.r == std::vector<double>{1.5, -1.5});

  matrix.spmv_dot({}, diagonal, v.z.data(), v.q.data(), &v.scalars.pq);
  CHECK(v.scalars.pq == 9);  // the curvature is 9 - 1/4 * 4.5 / 0.5 = 6.75, as above
  ops.pcg_single_reduction_update({}, 2, {}, v.vectors(), &v.scalars);
  CHECK(v.scalars.beta == 0.25);
  CHECK(v.p == std::vector<double>{2.25, -0.75});
  CHECK(v.s == std::vector<double>{2.25, -2.25});
  CHECK(v.x[0] == Approx(3));
  CHECK(v.x[1] == Approx(1));
}

TEST_CASE("a reference run stops at the limit, the target or the breakdown") {
  const auto run_with = [](TwoByTwo& v, index_t most, double target, double* history) {
    PcgRun run;
    run.max_iterations = most;
    run.rr_target = target;
    run.history = history;
    reference_backend.vector_f64.pcg_start({}, 2, {}, v.vectors(), &v.scalars);
    reference_backend.matrix_f64.bcsr.pcg_run({}, diagonal, {}, v.vectors(), &v.scalars, &run);
    CHECK(run.scalars.rr == v.scalars.rr);
    return run.iterations;
  };
  double history[] = {-1, -1, -1};
  TwoByTwo one, two, none;
  CHECK(run_with(one, 1, 0, history) == 1);
  CHECK(history[0] == 4.5);
  CHECK(history[1] == -1);
  CHECK(one.x == std::vector<double>{1.5, 1.5});
  CHECK(run_with(two, 100, 1e-20, nullptr) == 2);
  CHECK(two.x[1] == Approx(1));
  CHECK(run_with(none, 100, 18, nullptr) == 0);

  TwoByTwo indefinite;
  const double negative[] = {1, -3};
  BcsrOperand<double> A = diagonal;
  A.values = negative;
  reference_backend.vector_f64.pcg_start({}, 2, {}, indefinite.vectors(), &indefinite.scalars);
  PcgRun run;
  run.max_iterations = 5;
  reference_backend.matrix_f64.bcsr.pcg_run({}, A, {}, indefinite.vectors(), &indefinite.scalars,
                                            &run);
  CHECK(run.iterations == 0);
  CHECK(indefinite.scalars.breakdown == PcgBreakdown::not_positive_definite);
  CHECK(indefinite.x == std::vector<double>{0, 0});
}

}  // namespace
