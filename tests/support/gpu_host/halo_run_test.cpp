// Runs with one meeting of the grid per iteration: the parts that a matrix is cut into, and solves of shapes that
// stress them, stopped at each of the first iterations, against the reference.

#include "support/catch.hpp"
#include "support/gpu_host/backends.hpp"
#include "support/random_matrix.hpp"
#include "support/sanitized.hpp"
#include "support/solve_problem.hpp"

#include <cnc/error.hpp>
#include <cnc/formats.hpp>
#include <cnc/solver.hpp>

#include "parts/part_maker.hpp"
#include "parts/partition.hpp"

#include <gpu/row_pattern.hpp>

#include <map>
#include <set>

namespace cnc::testing {
namespace {

const Backend* const emulated[] = {
    &gpu_host_32_backend,
#ifdef CNC_TEST_GPU_HOST_64
    &gpu_host_64_backend,
#endif
};

/// A symmetric matrix with these distances between neighbours, or at random; strictly diagonally dominant.
struct Couplings {
  index_t rows;
  std::vector<std::map<index_t, double>> beside;

  explicit Couplings(index_t n) : rows(n), beside(static_cast<std::size_t>(n)) {}
  void couple(index_t i, index_t j) {
    if (i == j || i < 0 || j < 0 || i >= rows || j >= rows) return;
    Random random(static_cast<std::uint64_t>(std::min(i, j)) * 1000003 +
                  static_cast<std::uint64_t>(std::max(i, j)));
    const double value = -std::abs(random.value());
    beside[static_cast<std::size_t>(i)][j] = beside[static_cast<std::size_t>(j)][i] = value;
  }
  CsrMatrix<double> matrix() const {
    std::vector<std::vector<std::pair<index_t, double>>> entries(beside.size());
    std::size_t nonzeros = beside.size();
    for (const auto& row : beside) nonzeros += row.size();
    Vector<index_t> offsets("offsets", beside.size() + 1), columns("columns", nonzeros);
    Vector<double> values("values", nonzeros);
    std::size_t k = 0;
    for (std::size_t i = 0; i < beside.size(); ++i) {
      auto row = beside[i];
      double diagonal = 0.25 + double(i % 5);
      for (const auto& entry : beside[i]) diagonal += 1.0625 * std::abs(entry.second);
      row[static_cast<index_t>(i)] = diagonal;
      for (const auto& [column, value] : row) {
        columns(k) = column;
        values(k++) = value;
      }
      offsets(i + 1) = static_cast<index_t>(k);
    }
    return {rows, rows, 1, offsets, columns, values};
  }
};

CsrMatrix<double> random_graph(index_t n, index_t degree, index_t groups = 1) {
  Couplings A(n);
  Random random(static_cast<std::uint64_t>(n + degree));
  for (index_t i = 0; i < n; ++i)
    for (index_t k = 0; k < degree; ++k) {
      const index_t j = random.below(n);
      if (i % groups == j % groups) A.couple(i, j);
    }
  return A.matrix();
}

CsrMatrix<double> with_dense_row(index_t n) {
  Couplings A(n);
  for (index_t i = 0; i < n; ++i) {
    A.couple(i, i + 1);
    A.couple(i, n / 2);
  }
  return A.matrix();
}

detail::RowPattern pattern_of(const CsrMatrix<double>& A) {
  return detail::row_pattern(gpu::host_pattern(Queue(), A.operand()));
}

/// Own rows as the parts multiply them, from their local numbers.
Vector<double> product_of_parts(const detail::HostParts& parts, const Vector<double>& values,
                                const Vector<double>& x, const Vector<double>& diagonal_times_x) {
  Vector<double> y("y", x.extent(0));
  for (const detail::Part& part : parts.part) {
    const index_t* const rows = parts.rows.data() + part.first_row;
    for (index_t local = 0; local < part.own; ++local) {
      const detail::Slice* const slice =
          parts.slices.data() + part.first_slice + local / detail::part_lanes;
      double sum = diagonal_times_x(static_cast<std::size_t>(rows[local]));
      for (index_t g = slice[0].first; g < slice[1].first; ++g)
        for (int half = 0; half < 2; ++half) {
          const auto pair = static_cast<std::size_t>((part.first_group + g) * detail::part_lanes +
                                                     local % detail::part_lanes);
          const index_t column = (parts.columns[pair] >> (16 * half)) & 0xffff;
          const index_t place = parts.places[2 * pair + static_cast<std::size_t>(half)];
          REQUIRE(column < part.own + part.halo);
          if (place >= 0)
            sum +=
                values(static_cast<std::size_t>(place)) * x(static_cast<std::size_t>(rows[column]));
        }
      y(static_cast<std::size_t>(rows[local])) = sum;
    }
  }
  return y;
}

void check_parts(const CsrMatrix<double>& A, index_t count, bool with_diagonal) {
  const detail::RowPattern pattern = pattern_of(A);
  const detail::HostParts parts =
      detail::make_parts(pattern, {count, 32, with_diagonal, [](int) { return index_t(1); }});
  REQUIRE(parts.numbered);
  REQUIRE(parts.part.size() == static_cast<std::size_t>(count));
  std::vector<int> owned(static_cast<std::size_t>(A.rows));
  std::map<index_t, index_t> row_of_word;
  for (const detail::Part& part : parts.part)
    for (index_t k = part.first_row; k < part.first_row + part.own; ++k) {
      ++owned[static_cast<std::size_t>(parts.rows[static_cast<std::size_t>(k)])];
      const index_t word = parts.exports[static_cast<std::size_t>(k)];
      if (word >= 0)
        CHECK(row_of_word.emplace(word, parts.rows[static_cast<std::size_t>(k)]).second);
    }
  CHECK(std::all_of(owned.begin(), owned.end(), [](int times) { return times == 1; }));
  CHECK(row_of_word.size() == static_cast<std::size_t>(parts.words));
  for (const detail::Part& part : parts.part)
    for (index_t k = 0; k < part.halo; ++k)
      CHECK(row_of_word.at(parts.imports[static_cast<std::size_t>(part.first_halo + k)]) ==
            parts.rows[static_cast<std::size_t>(part.first_row + part.own + k)]);
  const Vector<double> x = varied_vector<double>(A.rows);
  Vector<double> on_diagonal("diagonal", x.extent(0));
  for (index_t i = 0; i < A.rows && !with_diagonal; ++i)
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k)
      if (A.columns(k) == i) on_diagonal(i) = A.values(k) * x(i);
  const Vector<double> values = copy_of(A.values);
  CHECK(relative_difference(product_of_parts(parts, values, x, on_diagonal), product(A, x)) <
        1e-14);
}

struct Shape {
  std::string name;
  CsrMatrix<double> A;
};

std::vector<Shape> shapes() {
  std::vector<Shape> all = {{"fewer rows than blocks", Couplings(2).matrix()},
                            {"one block", generate_problem("poisson2d:4x4")},
                            {"5 points", generate_problem("poisson2d:23x19")},
                            {"7 points", generate_problem("poisson3d:9")},
                            {"elasticity", generate_problem("elasticity2d:6")},
                            {"random", random_graph(300, 3)},
                            {"disconnected", random_graph(331, 2, 7)},
                            {"dense row", with_dense_row(150)}};
  if (is_sanitized) return all;
  Couplings box(7 * 6 * 8);  // 27 points
  for (index_t i = 0; i < box.rows; ++i)
    for (const index_t distance : {1, 6, 7, 8, 34, 35, 36, 41, 42, 43, 48, 49, 50})
      box.couple(i, i + distance);
  all.push_back({"27 points", box.matrix()});
  all.push_back({"several rows for each thread", generate_problem("poisson2d:53x41")});
  return all;
}

template <class V>
SolveOptions stopped(Method method, SolveForm form, index_t iterations) {
  SolveOptions options;
  options.method = method;
  options.form = form;
  options.rtol = 0;
  options.max_iterations = iterations;
  return options;
}

template <class V>
struct Stopped {
  Vector<V> x;
  SolveReport report;
};
template <class V>
Stopped<V> solve_stopped(const Backend& backend, const CsrMatrix<V>& A, const Vector<V>& b,
                         const SolveOptions& options) {
  Context<> ctx(backend);
  Solver<V> solver(ctx, options);
  solver.prepare(A);
  Stopped<V> result{zeros<V>(A.rows), {}};
  result.report = solver.solve(b, result.x);
  return result;
}

template <class V>
void check_runs(double tolerance) {
  for (const Shape& shape : shapes()) {
    const CsrMatrix<V> A = convert_values<V>(shape.A);
    const Vector<V> b = varied_vector<V>(A.rows);
    for (const index_t iterations : {1, 2, 3, 7, 12}) {
      if (iterations > A.rows / 2) break;  // done before
      const auto expected =
          solve_stopped(find_backend("reference"), A, b,
                        stopped<V>(Method::pcg_single_reduction, SolveForm::automatic, iterations));
      for (const Backend* backend : emulated)
        for (const char* format : {"csr", "bsell:1"}) {
          INFO(shape.name << ", " << backend->name << ", " << format << ", " << iterations);
          SolveOptions options =
              stopped<V>(Method::pcg_single_reduction, SolveForm::one_meeting, iterations);
          options.format = parse_format(format);
          const auto actual = solve_stopped(*backend, A, b, options);
          CHECK(actual.report.form == SolveForm::one_meeting);
          CHECK(actual.report.iterations == expected.report.iterations);
          CHECK(relative_difference(actual.x, expected.x) < tolerance);
          CHECK(same_bits(solve_stopped(*backend, A, b, options).x, actual.x));
          if (is_sanitized) break;
        }
    }
  }
}

}  // namespace

TEST_CASE("parts hold every row and entry once, and what they gather of others") {
  for (const Shape& shape : shapes())
    for (const index_t count : {1, 2, 3, 7, 16})
      for (const bool with_diagonal : {false, true}) {
        INFO(shape.name << ", " << count << " parts");
        check_parts(shape.A, count, with_diagonal);
      }
}

TEST_CASE("a grid is told by the distances of its neighbours") {
  const auto strides = [](const char* problem) {
    return detail::grid_strides(pattern_of(generate_problem(problem)));
  };
  CHECK(strides("poisson2d:23x19") == std::vector<index_t>{1, 23});
  CHECK(strides("poisson3d:9") == std::vector<index_t>{1, 9, 81});
  CHECK(detail::grid_strides(pattern_of(random_graph(300, 3))).empty());
}

TEST_CASE(
    "a run with one meeting per iteration is that of the reference, and the same on every run") {
  check_runs<double>(1e-11);
  check_runs<float>(2e-4);
}

TEST_CASE(
    "the automatic form of a method that allows it meets once, others and other preconditioners do "
    "not") {
  const auto P = known_problem<double>("poisson2d:20x17");
  for (const Backend* backend : emulated) {
    INFO(backend->name);
    Context<> ctx(*backend);
    for (const auto kind :
         {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::block_jacobi}) {
      SolveOptions options;
      options.method = Method::pcg_single_reduction;
      options.preconditioner = kind;
      options.preconditioner_block_size = 2;
      Solver<double> solver(ctx, options);
      solver.prepare(P.A);
      const Vector<double> x = zeros<double>(P.rows());
      const SolveReport report = solver.solve(P.b, x);
      CHECK(report.converged());
      CHECK(relative_difference(x, P.solution) < 1e-6);
      CHECK((report.form == SolveForm::one_meeting) == (kind != PreconditionerKind::block_jacobi));
    }
    SolveOptions classic;
    classic.form = SolveForm::one_meeting;
    classic.method = Method::pcg;
    Solver<double> solver(ctx, classic);
    CHECK_THROWS_AS((solver.prepare(P.A), solver.solve(P.b, zeros<double>(P.rows()))),
                    UnsupportedOperation);
  }
}

TEST_CASE(
    "new values change runs with one meeting, and values that they cannot take go to another "
    "form") {
  const auto P = known_problem<double>("poisson2d:20x17");
  for (const Backend* backend : emulated)
    for (const char* format : {"csr", "dia", "dia-symmetric", "bsell:1"}) {
      INFO(backend->name << " " << format);
      Context<> ctx(*backend);
      SolveOptions options;
      options.method = Method::pcg_single_reduction;
      options.format = parse_format(format);
      Solver<double> solver(ctx, options);
      solver.prepare(P.A);
      CsrMatrix<double> other = P.A;
      other.values = copy_of(P.A.values);
      for (index_t i = 0; i < other.rows; ++i)
        for (index_t k = other.row_offsets(i); k < other.row_offsets(i + 1); ++k)
          other.values(k) *= other.columns(k) == i ? 3 + i % 2 : 0.5;
      solver.update_values(other);
      const Vector<double> x = zeros<double>(P.rows());
      SolveReport report = solver.solve(product(other, P.solution), x);
      CHECK(report.converged());
      CHECK(report.form == SolveForm::one_meeting);
      CHECK(relative_difference(x, P.solution) < 1e-6);
      // Not definite: the diagonal has no square root.
      other.values(other.row_offsets(0)) = -3;
      solver.update_values(other);
      report = solver.solve(P.b, zeros<double>(P.rows()));
      CHECK(report.status == SolveStatus::not_positive_definite);
      CHECK(report.form != SolveForm::one_meeting);
    }
}

TEST_CASE("a matrix whose parts do not fit on the processors takes another form, or is refused") {
  const auto P = with_known_solution("random", random_graph(2500, 5));
  for (const Backend* backend : emulated) {
    INFO(backend->name);
    Context<> ctx(*backend);
    SolveOptions options;
    options.method = Method::pcg_single_reduction;
    Solver<double> automatic(ctx, options);
    automatic.prepare(P.A);
    const Vector<double> x = zeros<double>(P.rows());
    const SolveReport report = automatic.solve(P.b, x);
    CHECK(report.converged());
    CHECK(report.form != SolveForm::one_meeting);
    options.form = SolveForm::one_meeting;
    Solver<double> named(ctx, options);
    named.prepare(P.A);
    CHECK_THROWS_AS(named.solve(P.b, zeros<double>(P.rows())), UnsupportedOperation);
  }
}

TEST_CASE("a run with one meeting goes on where the last one stopped") {
  const auto P = known_problem<double>("poisson2d:20x17");
  for (const Backend* backend : emulated) {
    INFO(backend->name);
    SolveOptions options =
        stopped<double>(Method::pcg_single_reduction, SolveForm::one_meeting, 25);
    const auto whole = solve_stopped(*backend, P.A, P.b, options);
    options.callback_interval = 4;
    int calls = 0;
    options.callback = [&](const Progress&) { return ++calls > 0; };
    const auto pieces = solve_stopped(*backend, P.A, P.b, options);
    CHECK(calls > 5);
    CHECK(pieces.report.iterations == whole.report.iterations);
    CHECK(relative_difference(pieces.x, whole.x) < 1e-11);
  }
}

}  // namespace cnc::testing
