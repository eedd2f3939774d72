// The oracle itself, against values computed by hand, exact in binary but for the end of CG.

#include "support/catch.hpp"

#include <reference/reference.hpp>

#include <cstring>
#include <limits>
#include <vector>

namespace {

using namespace cnc;
using namespace cnc::methods;

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
  const auto& ops = matrix_ops<V>(reference_backend, A);
  const Values<V> x = {1, 2, 3, 4, 5};

  Values<V> y = {V(nan), V(nan), V(nan), V(nan), V(nan)};
  ops.spmv({}, 1, A, x.data(), 0, y.data());
  CHECK(y == Values<V>{0, 0, 30, 2, 30});

  y = {1, 2, 3, 4, 5};
  ops.spmv({}, V(-0.5), A, x.data(), 2, y.data());
  CHECK(y == Values<V>{2, 4, -9, 7, -5});

  const Values<V> w = {1, 1, 1, -1, 0};
  double with = nan, self = nan;
  ops.spmv_dot({}, A, x.data(), y.data(), {x.data(), &with, nullptr});
  CHECK(y == Values<V>{0, 0, 30, 2, 30});
  CHECK(with == 248);
  ops.spmv_dot({}, A, x.data(), y.data(), {w.data(), &with, &self});
  CHECK(with == 28);
  CHECK(self == 1804);
  y = {V(nan), V(nan), V(nan), V(nan), V(nan)};
  ops.spmv_dot({}, A, x.data(), y.data(), {});
  CHECK(y == Values<V>{0, 0, 30, 2, 30});
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
  const auto spmv = matrix_ops<BcsrOperand<double>, double>(reference_backend).spmv;
  const auto sliced = matrix_ops<BsellOperand<double>, double>(reference_backend).spmv;
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
  matrix_ops<DiaOperand<double>, double>(reference_backend)
      .spmv({}, 1, {3, 3, 2, true, offsets, values}, x, 0, y);
  CHECK(y[0] == 41);
  CHECK(y[1] == 524);
  CHECK(y[2] == 350);
}

TEST_CASE("a float matrix under double vectors keeps the digits of the vectors") {
  const double x[] = {1 + 0x1p-40, 0, 0, 0, 0};
  double y[5];
  matrix_ops<BcsrOperand<float>, double>(reference_backend).spmv({}, 1, csr<float>, x, 0, y);
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
  vector_ops<float>(reference_backend).dot({}, 3, x.data(), y.data(), &result);
  CHECK(result == 0x1p-24);
}

TEST_CASE("reference preconditioners give hand-computed values") {
  const auto apply = vector_ops<double>(reference_backend).precondition;
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

/// A solve in double: x = 0, r = b and NaN in all else.
struct Solve {
  Method method;
  std::vector<Values<double>> vectors;
  MethodScalars scalars;
  MethodRun run;

  Solve(Method m, const Values<double>& b)
      : method(m),
        vectors(static_cast<std::size_t>(method_facts(m).vectors), Values<double>(b.size(), nan)) {
    x().assign(b.size(), 0);
    r() = b;
    scalars.breakdown = Breakdown::not_finite;  // of an earlier solve
  }
  Values<double>& operator[](int k) { return vectors[static_cast<std::size_t>(k)]; }
  Values<double>& x() { return (*this)[method_facts(method).x]; }
  Values<double>& r() { return (*this)[method_facts(method).r]; }

  /// Goes on for `most` iterations at most, or starts; returns how many were done.
  index_t iterate(const BcsrOperand<double>& A, bool starts, index_t most, double target = 0,
                  const PreconditionerOperand<double>& M = {}) {
    MethodVectors<double> v;
    for (std::size_t k = 0; k < vectors.size(); ++k) v.at[k] = vectors[k].data();
    run.starts = starts;
    run.max_iterations = most;
    run.rr_target = target;
    matrix_ops<BcsrOperand<double>, double>(reference_backend)
        .run[static_cast<int>(method)]({}, A, M, v, &scalars, &run);
    CHECK(std::memcmp(run.scalars.value, scalars.value, sizeof scalars.value) == 0);
    CHECK(run.scalars.breakdown == scalars.breakdown);
    return run.iterations;
  }
};

const Method all_of_cg[] = {Method::pcg, Method::pcg_single_reduction, Method::pcg_flexible};

// A = [  2 -1  0 ]  b = (1, 0, 1), x = 0, M = diag(A): z = (1/2, 0, 1/2), rz = 1;
//     [ -1  2 -1 ]  p = z, Ap = (1, -1, 1), p.Ap = 1, alpha = 1, x = (1/2, 0, 1/2), r = (0, 1, 0), rr = 1;
//     [  0 -1  2 ]  z = (0, 1/2, 0), rz = 1/2, beta = 1/2, p = (1/4, 1/2, 1/4), Ap = (0, 1/2, 0),
//                   p.Ap = 1/4, alpha = 2, x = (1, 1, 1), r = 0. Every number is exact in binary.
constexpr index_t second_offsets[] = {0, 2, 5, 7};
constexpr index_t second_columns[] = {0, 1, 0, 1, 2, 1, 2};
constexpr double second_values[] = {2, -1, -1, 2, -1, -1, 2};
constexpr BcsrOperand<double> second_difference = {
    3, 3, 1, second_offsets, second_columns, second_values};
constexpr double halves[] = {0.5, 0.5, 0.5};
constexpr PreconditionerOperand<double> half = {PreconditionerKind::jacobi, 1, halves};

TEST_CASE("a reference run of pcg gives hand-computed values") {
  using C = Cg<double>;
  Solve v(Method::pcg, {1, 0, 1});
  CHECK(v.iterate(second_difference, true, 0, 0, half) == 0);
  CHECK(v.scalars.breakdown == Breakdown::none);
  CHECK(v.scalars.rr() == 2);
  CHECK(v.scalars[C::rz] == 1);
  CHECK(v[C::z] == Values<double>{0.5, 0, 0.5});

  CHECK(v.iterate(second_difference, false, 1, 0, half) == 1);
  CHECK(v[C::p] == Values<double>{0.5, 0, 0.5});
  CHECK(v[C::q] == Values<double>{1, -1, 1});
  CHECK(v.scalars[C::pq] == 1);
  CHECK(v.x() == Values<double>{0.5, 0, 0.5});
  CHECK(v.r() == Values<double>{0, 1, 0});
  CHECK(v.scalars.rr() == 1);
  CHECK(v.scalars[C::rz] == 0.5);

  CHECK(v.iterate(second_difference, false, 1, 0, half) == 1);
  CHECK(v[C::p] == Values<double>{0.25, 0.5, 0.25});
  CHECK(v.scalars[C::pq] == 0.25);
  CHECK(v.x() == Values<double>{1, 1, 1});
  CHECK(v.r() == Values<double>{0, 0, 0});
  CHECK(v.scalars.rr() == 0);
}

// The same iterations: after the first z.q = -1/2 and so beta = 1/2.
TEST_CASE("a reference run of flexible pcg gives hand-computed values") {
  using C = CgFlexible<double>;
  Solve v(Method::pcg_flexible, {1, 0, 1});
  CHECK(v.iterate(second_difference, true, 1, 0, half) == 1);
  CHECK(v[C::p] == Values<double>{0.5, 0, 0.5});
  CHECK(v.scalars[C::pq] == 1);
  CHECK(v.scalars[C::qz] == -0.5);
  CHECK(v.x() == Values<double>{0.5, 0, 0.5});

  CHECK(v.iterate(second_difference, false, 1, 0, half) == 1);
  CHECK(v[C::p] == Values<double>{0.25, 0.5, 0.25});
  CHECK(v.x() == Values<double>{1, 1, 1});
  CHECK(v.r() == Values<double>{0, 0, 0});
  CHECK(v.scalars.rr() == 0);
}

TEST_CASE("a reference run with a single reduction gives hand-computed values") {
  using C = CgSingleReduction<double>;
  Solve v(Method::pcg_single_reduction, {1, 0, 1});
  CHECK(v.iterate(second_difference, true, 1, 0, half) == 1);
  CHECK(v.scalars[C::zq] == 1);
  CHECK(v.scalars[C::alpha] == 1);
  CHECK(v.scalars[C::beta] == 0);
  CHECK(v[C::p] == Values<double>{0.5, 0, 0.5});
  CHECK(v[C::s] == Values<double>{1, -1, 1});
  CHECK(v.x() == Values<double>{0.5, 0, 0.5});
  CHECK(v.r() == Values<double>{0, 1, 0});

  CHECK(v.iterate(second_difference, false, 1, 0, half) == 1);
  CHECK(v.scalars[C::zq] == 0.5);  // the curvature is 1/2 - 1/2 * 1/2 / 1 = 1/4, as above
  CHECK(v.scalars[C::alpha] == 2);
  CHECK(v.scalars[C::beta] == 0.5);
  CHECK(v[C::p] == Values<double>{0.25, 0.5, 0.25});
  CHECK(v[C::s] == Values<double>{0, 0.5, 0});
  CHECK(v.x() == Values<double>{1, 1, 1});
  CHECK(v.scalars.rr() == 0);
}

// The same iterations: u = (1/2, 0, 1/2), w = (1, -1, 1), m = (1/2, -1/2, 1/2), n = (3/2, -2, 3/2); then u = (0, 1/2, 0),
// w = (-1/2, 1, -1/2), m = (-1/4, 1/2, -1/4), n = (-1, 3/2, -1).
TEST_CASE("a reference run of pipelined pcg gives hand-computed values") {
  using C = CgPipelined<double>;
  Solve v(Method::pcg_pipelined, {1, 0, 1});
  CHECK(v.iterate(second_difference, true, 1, 0, half) == 1);
  CHECK(v[C::n] == Values<double>{1.5, -2, 1.5});
  CHECK(v.scalars[C::alpha] == 1);
  CHECK(v.x() == Values<double>{0.5, 0, 0.5});
  CHECK(v.r() == Values<double>{0, 1, 0});
  CHECK(v[C::u] == Values<double>{0, 0.5, 0});
  CHECK(v[C::w] == Values<double>{-0.5, 1, -0.5});
  CHECK(v.scalars[C::gamma] == 0.5);
  CHECK(v.scalars[C::delta] == 0.5);
  CHECK(v.scalars.rr() == 1);

  CHECK(v.iterate(second_difference, false, 1, 0, half) == 1);
  CHECK(v[C::n] == Values<double>{-1, 1.5, -1});
  CHECK(v.scalars[C::alpha] == 2);
  CHECK(v[C::z] == Values<double>{-0.25, 0.5, -0.25});
  CHECK(v[C::q] == Values<double>{0, 0.25, 0});
  CHECK(v[C::p] == Values<double>{0.25, 0.5, 0.25});
  CHECK(v.x() == Values<double>{1, 1, 1});
  CHECK(v.scalars.rr() == 0);
}

// A = [  1 1 ]  b = (2, 0), x = 0: rho = 4, y = (2, 0), Ay = (2, -2), alpha = 1, r = (0, 2), Az = (2, 2), omega = 4 / 8;
//     [ -1 1 ]  x = (2, 1), r = (-1, 1), rho = -2; beta = -2/4 * 1/(1/2) = -1, p = (-2, 0), Ay = (-2, 2), alpha = 1/2:
//               r = 0 after half a step, so omega = 0 and x = (1, 1).
constexpr index_t rotation_offsets[] = {0, 2, 4};
constexpr index_t rotation_columns[] = {0, 1, 0, 1};
constexpr double rotation_values[] = {1, 1, -1, 1};
constexpr BcsrOperand<double> rotation = {
    2, 2, 1, rotation_offsets, rotation_columns, rotation_values};

TEST_CASE("a reference run of bicgstab gives hand-computed values") {
  using C = Bicgstab<double>;
  Solve v(Method::bicgstab, {2, 0});
  CHECK(v.iterate(rotation, true, 1) == 1);
  CHECK(v.scalars[C::alpha] == 1);
  CHECK(v.scalars[C::omega] == 0.5);
  CHECK(v[C::Ay] == Values<double>{2, -2});
  CHECK(v[C::Az] == Values<double>{2, 2});
  CHECK(v.x() == Values<double>{2, 1});
  CHECK(v.r() == Values<double>{-1, 1});
  CHECK(v.scalars.rr() == 2);

  CHECK(v.iterate(rotation, false, 1) == 1);
  CHECK(v[C::p] == Values<double>{-2, 0});
  CHECK(v.scalars[C::alpha] == 0.5);
  CHECK(v.scalars[C::omega] == 0);
  CHECK(v.x() == Values<double>{1, 1});
  CHECK(v.scalars.rr() == 0);
}

// A = [  1  1  0 ]  b = (2, 0, 0), x = 0: rho = 4, y = (2, 0, 0), Bp = (2, -2, 0), alpha = 1, r = z = (0, 2, 0),
//     [ -1  1  1 ]  Br = (2, 2, -2), beta_2 = 1, Bp = Cy = (0, 4, -2), BBp = (4, 2, -6), alpha_2 = 4/8, r = (0, 0, 1),
//     [  0 -1  1 ]  Br = (0, 1, 1), BBr = (1, 2, 0): omega_2 = (0 - 1 * 2/2) / (5 - 2 * 2/2) = -1/3, omega = 1/2 + 1/3;
//                   x = (2, 0, 0) + 1/2 (-2, 2, 0) + 5/6 (0, 0, 1) - 1/3 (0, 1, 1), r = (0, 0, 1) - 5/6 Br + 1/3 BBr.
// Then the first step solves.
TEST_CASE("a reference run of bicgstab2 gives hand-computed values") {
  using C = Bicgstab2<double>;
  const index_t offsets[] = {0, 2, 5, 7}, columns[] = {0, 1, 0, 1, 2, 1, 2};
  const double values[] = {1, 1, -1, 1, 1, -1, 1};
  const BcsrOperand<double> A = {3, 3, 1, offsets, columns, values};
  const auto check = [](const Values<double>& actual, const Values<double>& expected) {
    REQUIRE(actual.size() == expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) CHECK(actual[i] == Approx(expected[i]));
  };
  Solve v(Method::bicgstab2, {2, 0, 0});
  CHECK(v.iterate(A, true, 1) == 1);
  CHECK(v.scalars[C::shadow_Bp] == 4);
  CHECK(v.scalars[C::shadow_Br] == 4);
  CHECK(v.scalars[C::shadow_BBp] == 8);
  CHECK(v[C::Bp] == Values<double>{0, 4, -2});
  CHECK(v[C::BBp] == Values<double>{4, 2, -6});
  CHECK(v[C::Br] == Values<double>{0, 1, 1});
  CHECK(v[C::BBr] == Values<double>{1, 2, 0});
  CHECK(v.scalars[C::omega] == Approx(5.0 / 6));
  CHECK(v.scalars[C::omega_2] == Approx(-1.0 / 3));
  check(v.x(), {1, 2.0 / 3, 0.5});
  check(v.r(), {1.0 / 3, -1.0 / 6, 1.0 / 6});
  CHECK(v.scalars[C::rho] == Approx(2.0 / 3));
  CHECK(v.scalars.rr() == Approx(1.0 / 6));

  CHECK(v.iterate(A, false, 1) == 1);
  check(v.x(), {4.0 / 3, 2.0 / 3, 2.0 / 3});
  CHECK(v.scalars.rr() < 1e-28);
}

TEST_CASE("a reference run of bicgstab2 leaves out what has nothing to divide by") {
  using C = Bicgstab2<double>;
  // The matrix of bicgstab: two steps solve, and there are no directions.
  Solve two(Method::bicgstab2, {2, 0});
  CHECK(two.iterate(rotation, true, 5) == 1);
  CHECK(two.x() == Values<double>{1, 1});
  CHECK(two.scalars.rr() == 0);
  CHECK(two.scalars[C::omega_2] == 0);
  CHECK(two.scalars.breakdown == Breakdown::none);
  // Twice the identity: one step solves.
  const index_t both_offsets[] = {0, 1, 2}, both_columns[] = {0, 1};
  const double twos[] = {2, 2};
  Solve one(Method::bicgstab2, {2, 4});
  CHECK(one.iterate({2, 2, 1, both_offsets, both_columns, twos}, true, 5) == 1);
  CHECK(one.x() == Values<double>{1, 2});
  CHECK(one.scalars.rr() == 0);
  CHECK(one.scalars.breakdown == Breakdown::none);
  // [ 1 0; -1 1 ]: after the first step r = (0, 1), an eigenvector and orthogonal to the shadow. One direction solves.
  const index_t lower_offsets[] = {0, 1, 3}, lower_columns[] = {0, 0, 1};
  const double lower[] = {1, -1, 1};
  Solve along(Method::bicgstab2, {1, 0});
  CHECK(along.iterate({2, 2, 1, lower_offsets, lower_columns, lower}, true, 5) == 1);
  CHECK(along.scalars[C::omega] == 1);
  CHECK(along.scalars[C::omega_2] == 0);
  CHECK(along.x() == Values<double>{1, 1});
  CHECK(along.scalars.rr() == 0);
  // A first column (1, -1, -1, -1) beside diag(1, 1, 2, 4): r = (0, 1, 1, 1), Br = (0, 1, 2, 4), BBr = (0, 1, 4, 16). Two
  // directions do not solve, and the recurrence is at an end.
  const index_t arrow_offsets[] = {0, 1, 3, 5, 7}, arrow_columns[] = {0, 0, 1, 0, 2, 0, 3};
  const double arrow[] = {1, -1, 1, -1, 2, -1, 4};
  Solve ends(Method::bicgstab2, {1, 0, 0, 0});
  CHECK(ends.iterate({4, 4, 1, arrow_offsets, arrow_columns, arrow}, true, 5) == 1);
  CHECK(ends.scalars.breakdown == Breakdown::zero_divisor);
  CHECK(ends.scalars[C::r_BBr] == 21);
  CHECK(ends.scalars[C::omega_2] == Approx((21 - 73 * 7.0 / 21) / (273 - 73 * 73.0 / 21)));
  CHECK(ends.x()[0] == 1);
  CHECK(ends.scalars.rr() == Approx(9.0 / 101));
}

// The A and b of bicgstab: q = (2, -2), shadow_q = A^T (2, 0) = (2, 2), alpha = 1, x = (2, 0), r = (0, 2), shadow_r = (0, -2),
// rho = -4; beta = -1, p = (-2, 2), shadow_p = (-2, -2), q = (0, 4), alpha = -4 / -8, x = (1, 1), r = 0.
TEST_CASE("a reference run of bicg gives hand-computed values") {
  using C = Bicg<double>;
  Solve v(Method::bicg, {2, 0});
  CHECK(v.iterate(rotation, true, 1) == 1);
  CHECK(v[C::q] == Values<double>{2, -2});
  CHECK(v[C::shadow_q] == Values<double>{2, 2});
  CHECK(v.scalars[C::alpha] == 1);
  CHECK(v.scalars[C::rho] == -4);
  CHECK(v.x() == Values<double>{2, 0});
  CHECK(v.r() == Values<double>{0, 2});
  CHECK(v[C::shadow_r] == Values<double>{0, -2});
  CHECK(v.scalars.rr() == 4);

  CHECK(v.iterate(rotation, false, 1) == 1);
  CHECK(v[C::p] == Values<double>{-2, 2});
  CHECK(v[C::shadow_p] == Values<double>{-2, -2});
  CHECK(v.scalars[C::alpha] == 0.5);
  CHECK(v.x() == Values<double>{1, 1});
  CHECK(v.scalars.rr() == 0);
}

// A = [ 0 1 ]  b = (1, 2), x = 0: s = A^T b = (4, 1), sz = 17, q = (1, 8), qq = 65, alpha = 17/65, x = (68, 17) / 65,
//     [ 2 0 ]  r = (48, -6) / 65, rr = 2340 / 4225 = 36/65; then s = (-12, 48) / 65, and x = (1, 1).
TEST_CASE("a reference run of cgnr gives hand-computed values") {
  using C = Cgnr<double>;
  const index_t offsets[] = {0, 1, 2}, columns[] = {1, 0};
  const double values[] = {1, 2};
  const BcsrOperand<double> A = {2, 2, 1, offsets, columns, values};
  Solve v(Method::cgnr, {1, 2});
  CHECK(v.iterate(A, true, 1) == 1);
  CHECK(v[C::q] == Values<double>{1, 8});
  CHECK(v.scalars[C::qq] == 65);
  CHECK(v.scalars[C::alpha] == Approx(17.0 / 65));
  CHECK(v.x()[0] == Approx(68.0 / 65));
  CHECK(v.x()[1] == Approx(17.0 / 65));
  CHECK(v[C::s][0] == Approx(-12.0 / 65));
  CHECK(v[C::s][1] == Approx(48.0 / 65));
  CHECK(v.scalars.rr() == Approx(36.0 / 65));

  CHECK(v.iterate(A, false, 1) == 1);
  CHECK(v.x()[0] == Approx(1));
  CHECK(v.x()[1] == Approx(1));
  CHECK(v.scalars.rr() < 1e-28);
}

// A = diag(1, 3), b = (1, 1), x = 0: tau = gz = 2, alpha = 1/2, g = (1, -1) / 2, gz = 1/2, eta = 2 / (2 + 1/2) = 0.8,
// x = eta (1, 1) / 2 and r = (1, 1) + eta (g - (1, 1)); the second iteration of CG solves the system, and so eta = 1.
TEST_CASE("a reference run of smoothed CG gives hand-computed values") {
  using C = CgSmoothed<double>;
  const index_t offsets[] = {0, 1, 2}, columns[] = {0, 1};
  const double values[] = {1, 3};
  const BcsrOperand<double> A = {2, 2, 1, offsets, columns, values};
  Solve v(Method::pcg_smoothed, {1, 1});
  CHECK(v.iterate(A, true, 1) == 1);
  CHECK(v[C::g] == Values<double>{0.5, -0.5});
  CHECK(v.scalars[C::tau] == Approx(0.4));
  CHECK(v.x() == Values<double>{0, 0});  // one iteration behind
  CHECK(v.scalars.rr() == 2);

  CHECK(v.iterate(A, false, 1) == 1);
  CHECK(v.x()[0] == Approx(0.4));
  CHECK(v.x()[1] == Approx(0.4));
  CHECK(v.r()[0] == Approx(0.6));
  CHECK(v.r()[1] == Approx(-0.2));
  CHECK(v.scalars.rr() == Approx(0.4));

  CHECK(v.iterate(A, false, 1) == 1);  // with nothing left to do for CG
  CHECK(v.scalars.breakdown == Breakdown::none);
  CHECK(v.x()[0] == Approx(1));
  CHECK(v.x()[1] == Approx(1.0 / 3));
  CHECK(v.scalars.rr() < 1e-28);
}

// The system of cgnr and its first iterate: beta^2 = 5, alpha^2 = 17/5; r = (48, -6) / 65, A^T r = (-12, 48) / 65.
TEST_CASE("a reference run of lsqr gives hand-computed values") {
  using L = Lsqr<double>;
  const index_t offsets[] = {0, 1, 2}, columns[] = {1, 0};
  const double values[] = {1, 2};
  const BcsrOperand<double> A = {2, 2, 1, offsets, columns, values};
  Solve v(Method::lsqr, {1, 2});
  CHECK(v.iterate(A, true, 0) == 0);
  CHECK(v.scalars[L::uu] == 5);
  CHECK(v.scalars[L::vz] == Approx(17.0 / 5));
  CHECK(v.scalars.rr() == Approx(17));
  CHECK(v.iterate(A, false, 1) == 1);
  CHECK(v.x()[0] == Approx(68.0 / 65));
  CHECK(v.x()[1] == Approx(17.0 / 65));
  CHECK(v.r()[0] == Approx(48.0 / 65));
  CHECK(v.r()[1] == Approx(-6.0 / 65));
  CHECK(v.scalars[L::phibar] == Approx(std::sqrt(36.0 / 65)));
  CHECK(v.scalars.rr() == Approx(2448.0 / 4225));

  CHECK(v.iterate(A, false, 1) == 1);
  CHECK(v.x()[0] == Approx(1));
  CHECK(v.x()[1] == Approx(1));
  CHECK(v.scalars.rr() < 1e-28);
}

// A = [  1 1 ]  b = (2, 0), x = 0, M^-1 = 1/2: z = (1, 0), x = (1, 0), r = (2, 0) - (1, -1) = (1, 1);
//     [ -1 1 ]  z = (1, 1) / 2, x = (3, 1) / 2, r = (1, 1) - (1, 0) = (0, 1).
TEST_CASE("a reference run of richardson gives hand-computed values") {
  constexpr double inverse[] = {0.5, 0.5};
  const PreconditionerOperand<double> M{PreconditionerKind::jacobi, 1, inverse};
  Solve v(Method::richardson, {2, 0});
  CHECK(v.iterate(rotation, true, 1, 0, M) == 1);
  CHECK(v.x() == Values<double>{1, 0});
  CHECK(v.r() == Values<double>{1, 1});
  CHECK(v.scalars.rr() == 2);
  CHECK(v.iterate(rotation, false, 1, 0, M) == 1);
  CHECK(v.x() == Values<double>{1.5, 0.5});
  CHECK(v.r() == Values<double>{0, 1});
  CHECK(v.scalars.rr() == 1);
}

// A = diag(1, 3), b = (3, 3), x = 0, eigenvalues in [1, 3]: theta = 2, delta = 1, p = (3, 3) / 2, r = (3, -3) / 2;
// rho = 1 / (4 - 1/2) = 2/7, p = (1/7) p + (4/7) r = (15, -9) / 14, x = (18, 6) / 7, r = (3, 3) / 7 as T_2(2) = 7.
TEST_CASE("a reference run of chebyshev gives hand-computed values") {
  using C = Chebyshev<double>;
  const index_t offsets[] = {0, 1, 2}, columns[] = {0, 1};
  const double values[] = {1, 3};
  const BcsrOperand<double> A = {2, 2, 1, offsets, columns, values};
  Solve v(Method::chebyshev, {3, 3});
  v.scalars[C::smallest] = 1, v.scalars[C::largest] = 3;
  CHECK(v.iterate(A, true, 1) == 1);
  CHECK(v.x() == Values<double>{1.5, 1.5});
  CHECK(v.r() == Values<double>{1.5, -1.5});
  CHECK(v.scalars.rr() == 4.5);
  CHECK(v.iterate(A, false, 1) == 1);
  CHECK(v.x()[0] == Approx(18.0 / 7));
  CHECK(v.x()[1] == Approx(6.0 / 7));
  CHECK(v.r()[0] == Approx(3.0 / 7));
  CHECK(v.r()[1] == Approx(3.0 / 7));
  CHECK(v.scalars.rr() == Approx(18.0 / 49));

  // An interval of one number: Richardson's iteration.
  Solve w(Method::chebyshev, {3, 3});
  w.scalars[C::smallest] = w.scalars[C::largest] = 2;
  CHECK(w.iterate(A, true, 2) == 2);
  CHECK(w.x() == Values<double>{2.25, 0.75});
  CHECK(w.r() == Values<double>{0.75, 0.75});
}

// A = [ 0 1 ]  b = (1, 0), x = 0: u = z = (1, 0), q = (0, 1), zq = 0: next u = (0, 1), the rotation is c = 0, s = 1, so x stays;
//     [ 1 0 ]  then q = (1, 0), next u = q - (1, 0) = 0, diagonal -1, c = -1, s = 0, w = (0, 1), x = (0, 1).
constexpr double exchange_values[] = {1, 1};
constexpr index_t exchange_offsets[] = {0, 1, 2};
constexpr index_t exchange_columns[] = {1, 0};
constexpr BcsrOperand<double> exchange = {
    2, 2, 1, exchange_offsets, exchange_columns, exchange_values};

TEST_CASE("a reference run of minres gives hand-computed values") {
  using C = Minres<double>;
  Solve v(Method::minres, {1, 0});
  CHECK(v.iterate(exchange, true, 1) == 1);
  CHECK(v.scalars[C::zq] == 0);
  CHECK(v.scalars[C::c] == 0);
  CHECK(v.scalars[C::s] == 1);
  CHECK(v.scalars[C::eta] == -1);
  CHECK(v[C::u] == Values<double>{0, 1});
  CHECK(v[C::w] == Values<double>{1, 0});
  CHECK(v.x() == Values<double>{0, 0});
  CHECK(v.r() == Values<double>{1, 0});
  CHECK(v.scalars.rr() == 1);

  CHECK(v.iterate(exchange, false, 1) == 1);
  CHECK(v[C::u] == Values<double>{0, 0});
  CHECK(v[C::w] == Values<double>{0, 1});
  CHECK(v.scalars[C::c] == -1);
  CHECK(v.scalars[C::s] == 0);
  CHECK(v.x() == Values<double>{0, 1});
  CHECK(v.scalars.rr() == 0);
}

// A = diag(1, 3), b = (3, 3), x = 0 without a preconditioner: rr = 18, q = (3, 9), pq = 36, alpha = 1/2,
// x = (3/2, 3/2), r = (3/2, -3/2), rr = 9/2; beta = 1/4, p = (9/4, -3/4), pq = 27/4, alpha = 2/3, x = (3, 1), r = 0.
constexpr index_t diagonal_offsets[] = {0, 1, 2};
constexpr index_t diagonal_columns[] = {0, 1};
constexpr double diagonal_values[] = {1, 3};
constexpr BcsrOperand<double> diagonal(const double* values = diagonal_values) {
  return {2, 2, 1, diagonal_offsets, diagonal_columns, values};
}

// alpha rz is 1 * 1 and then 2 * 1/2, together x . A x = b . x = 2.
TEST_CASE("reference runs of cg say what they take off the energy norm") {
  for (const Method method :
       {Method::pcg, Method::pcg_single_reduction, Method::pcg_pipelined, Method::pcg_flexible}) {
    INFO(method_facts(method).name);
    double gains[] = {-1, -1, -1};
    Solve v(method, {1, 0, 1});
    v.run.energy_gains = gains;
    CHECK(v.iterate(second_difference, true, 2, 0, half) == 2);
    CHECK(gains[0] == 1);
    CHECK(gains[1] == 1);
    CHECK(gains[2] == -1);
  }
}

TEST_CASE("a reference run stops at the limit or the target") {
  for (const Method method : all_of_cg) {
    INFO(method_facts(method).name);
    double history[] = {-1, -1, -1};
    Solve one(method, {3, 3});
    one.run.history = history;
    CHECK(one.iterate(diagonal(), true, 1) == 1);
    CHECK(history[0] == 4.5);
    CHECK(history[1] == -1);
    CHECK(one.x() == Values<double>{1.5, 1.5});
    CHECK(one.r() == Values<double>{1.5, -1.5});
    CHECK(one.iterate(diagonal(), false, 100, 1e-20) == 1);  // in two runs as in one
    CHECK(one.x()[0] == Approx(3));
    CHECK(one.x()[1] == Approx(1));

    Solve two(method, {3, 3}), none(method, {3, 3}), poisoned(method, {3, nan});
    CHECK(two.iterate(diagonal(), true, 100, 1e-20) == 2);
    CHECK(two.x() == one.x());
    CHECK(two.r() == one.r());
    CHECK(none.iterate(diagonal(), true, 100, 18) == 0);
    CHECK(poisoned.iterate(diagonal(), true, 100) == 0);
    CHECK(poisoned.x() == Values<double>{0, 0});
  }
}

TEST_CASE("a reference run stops where an iteration breaks down") {
  const double negative[] = {-1, -3}, zero[] = {0, 0}, no_number[] = {1, nan};
  // The first direction of b = (3, 1) has p.Ap = 9 - 2 > 0, the second does not.
  const double indefinite[] = {1, -2};
  for (const Method method : all_of_cg) {
    INFO(method_facts(method).name);
    const auto check_first = [&](const double* values, Breakdown breakdown) {
      Solve v(method, {3, 3});
      CHECK(v.iterate(diagonal(values), true, 5) == 0);
      CHECK(v.scalars.breakdown == breakdown);
      CHECK(v.x() == Values<double>{0, 0});
      CHECK(v.r() == Values<double>{3, 3});
      CHECK(v.iterate(diagonal(), false, 5) == 0);  // and stays there
    };
    check_first(negative, Breakdown::not_positive_definite);
    check_first(zero, Breakdown::zero_divisor);
    check_first(no_number, Breakdown::not_finite);

    Solve late(method, {3, 1});
    CHECK(late.iterate(diagonal(indefinite), true, 5) == 1);
    CHECK(late.scalars.breakdown == Breakdown::not_positive_definite);
    CHECK(late.x()[0] == Approx(30.0 / 7));  // alpha = 10/7
    CHECK(late.x()[1] == Approx(10.0 / 7));
    CHECK(late.r()[0] == Approx(-9.0 / 7));
    CHECK(late.r()[1] == Approx(27.0 / 7));
  }
}

}  // namespace
