// Runs with one meeting of the grid per product: the parts that a matrix is cut into, and solves of shapes that
// stress them, stopped at each of the first iterations, against the reference.

#include "support/catch.hpp"
#include "support/gpu_host/backends.hpp"
#include "support/random_matrix.hpp"
#include "support/same_matrix.hpp"
#include "support/sanitized.hpp"
#include "support/scoped_value.hpp"
#include "support/set_up_threads.hpp"
#include "support/solve_problem.hpp"

#include <cnc/blas1.hpp>
#include <cnc/error.hpp>
#include <cnc/formats.hpp>
#include <cnc/solver.hpp>

#include "parts/part_maker.hpp"
#include "parts/partition.hpp"

#include <gpu/row_pattern.hpp>
#include <gpu/run_plan.hpp>
#include <target/tuning.hpp>

#include <cmath>
#include <cstring>
#include <map>
#include <set>

namespace cnc::testing {
namespace {

const std::vector<const Backend*> emulated = emulated_devices();

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

TEST_CASE("parts are the same for any number of threads") {
  for (const Shape& shape : {Shape{"5 points", generate_problem("poisson2d:83x61")},
                             Shape{"random", random_graph(3000, 3)}}) {
    INFO(shape.name);
    const auto parts_by = [&](int threads) {
      const Threads scope(threads);
      return detail::make_parts(pattern_of(shape.A),
                                {13, 64, false, [](int) { return index_t(1); }});
    };
    const detail::HostParts expected = parts_by(1), actual = parts_by(3);
    CHECK(actual.words == expected.words);
    detail::for_each_array(
        [](const auto& a, const auto& b) {
          REQUIRE(a.size() == b.size());
          CHECK((a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0));
        },
        actual, expected);
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

namespace {

/// Parts are made after iterations alone.
auto nothing_at_once() { return ScopedValue(gpu::tuning::seconds_of_parts_at_once, 0.0); }

/// Iterations after which iterates are still alike: rounding grows twentyfold in ten of bicgstab's, in any form.
index_t many_iterations(Method method) { return method == Method::bicgstab ? 16 : 40; }

constexpr Method methods_with_form[] = {Method::pcg, Method::pcg_single_reduction,
                                        Method::pcg_flexible, Method::bicgstab};

/// A solve that is stopped with one meeting per product: what the reference has, and the same bits each time.
template <class V>
void check_stopped(const std::string& name, const CsrMatrix<V>& A, SolveOptions options,
                   double tolerance) {
  const Vector<V> b = varied_vector<V>(A.rows);
  options.record_history = true;
  const auto expected = solve_stopped(find_backend("reference"), A, b, options);
  options.form = SolveForm::one_meeting;
  for (const Backend* backend : emulated) {
    INFO(name << ", " << backend->name << ", " << options.max_iterations << ", "
              << (options.preconditioner == PreconditionerKind::none ? "none" : "jacobi"));
    const auto actual = solve_stopped(*backend, A, b, options);
    CHECK(actual.report.form == SolveForm::one_meeting);
    CHECK(actual.report.method == options.method);
    CHECK(actual.report.iterations == expected.report.iterations);
    CHECK(relative_difference(actual.x, expected.x) < tolerance);
    CHECK(same_bits(solve_stopped(*backend, A, b, options).x, actual.x));
    REQUIRE(actual.report.history.size() == expected.report.history.size());
    for (std::size_t k = 0; k < expected.report.history.size(); ++k)
      CHECK(std::abs(actual.report.history[k] - expected.report.history[k]) <=
            tolerance * expected.report.history[0]);
    CHECK((std::isnan(expected.report.energy_error) ||
           std::abs(actual.report.energy_error - expected.report.energy_error) <=
               1e3 * tolerance * expected.report.energy_error));
  }
}

/// The iterates of pcg with one meeting, stopped at each of the first iterations.
template <class V>
void check_pcg(StoragePrecision storage, double tolerance) {
  for (const Shape& shape : {Shape{"5 points", generate_problem("poisson2d:23x19")},
                             Shape{"random", random_graph(300, 3)}})
    for (const auto kind : {PreconditionerKind::none, PreconditionerKind::jacobi})
      for (index_t iterations = 1; iterations <= 12; iterations += is_sanitized ? 2 : 1) {
        SolveOptions options = stopped<V>(Method::pcg, SolveForm::automatic, iterations);
        options.preconditioner = kind;
        options.storage = storage;
        options.format = parse_format(kind == PreconditionerKind::none ? "bsell:1" : "bcsr:1");
        check_stopped<V>(shape.name, convert_values<V>(shape.A), options, tolerance);
      }
}

/// Iterations until the automatic form is the one with one meeting.
template <class V>
index_t iterate_until_it_meets_once(Solver<V>& solver, const Vector<V>& b, index_t at_most) {
  const SolveOptions given = solver.options();
  SolveOptions some = given;
  some.rtol = 0;
  some.max_iterations = 4;
  solver.set_options(some);
  index_t done = 0;
  while (done < at_most) {
    const SolveReport report = solver.solve(b, zeros<V>(static_cast<index_t>(b.extent(0))));
    if (report.form == SolveForm::one_meeting) break;
    done += report.iterations;
  }
  solver.set_options(given);
  return done;
}

}  // namespace

TEST_CASE("pcg with one meeting has the iterates of the reference's pcg") {
  check_pcg<double>(StoragePrecision::as_vectors, 1e-11);
  check_pcg<float>(StoragePrecision::as_vectors, 2e-4);
  check_pcg<double>(StoragePrecision::f32, 1e-11);
}

namespace {

/// Other values on both sides of the diagonal, and some entries on one side only; with signs also rows times -1.
CsrMatrix<double> skewed(const CsrMatrix<double>& A, bool signs) {
  std::vector<index_t> offsets = {0}, columns;
  std::vector<double> values;
  for (index_t i = 0; i < A.rows; ++i) {
    const double sign = signs && i % 3 == 1 ? -1 : 1;
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k) {
      const index_t j = A.columns(k);
      if (j > i && (i + j) % 5 == 0) continue;
      columns.push_back(j);
      values.push_back(sign * A.values(k) * (j < i ? 0.3 : j > i ? 0.9 : 1.0));
    }
    offsets.push_back(static_cast<index_t>(columns.size()));
  }
  return literal_csr<double>(A.rows, A.cols, offsets, columns, values);
}

/// The iterates of bicgstab with two meetings, stopped at each of the first iterations.
template <class V>
void check_bicgstab(StoragePrecision storage, double tolerance) {
  for (const Shape& shape : shapes())
    for (const auto kind : {PreconditionerKind::none, PreconditionerKind::jacobi})
      for (index_t iterations = 1; iterations <= 6 && iterations <= std::max(1, shape.A.rows / 4);
           iterations += is_sanitized ? 4 : 1) {
        // Where rounding soon decides, in any form.
        if (shape.name == "dense row" && kind == PreconditionerKind::none && iterations > 3) break;
        SolveOptions options = stopped<V>(Method::bicgstab, SolveForm::automatic, iterations);
        options.preconditioner = kind;
        options.storage = storage;
        options.format = parse_format(iterations % 2 == 0 ? "bsell:1" : "bcsr:1");
        check_stopped<V>(shape.name,
                         convert_values<V>(skewed(shape.A, kind == PreconditionerKind::jacobi)),
                         options, tolerance);
      }
}

}  // namespace

TEST_CASE("bicgstab with two meetings has the iterates of the reference's bicgstab") {
  check_bicgstab<double>(StoragePrecision::as_vectors, 1e-9);
  check_bicgstab<float>(StoragePrecision::as_vectors, 2e-3);
  // The diagonal is ones, where the others have it times an inverse that was rounded beside it.
  check_bicgstab<double>(StoragePrecision::f32, 1e-7);
}

TEST_CASE("the automatic form meets once when iterations have paid for the parts") {
  const auto scope = nothing_at_once();
  const auto P = known_problem<double>("poisson2d:20x17");
  const double price = gpu::tuning::seconds_of_parts_of_graph * double(P.A.columns.extent(0));
  const auto wait =
      static_cast<index_t>(std::ceil(price / gpu::tuning::seconds_saved_by_one_meeting));
  for (const Backend* backend : emulated)
    for (const Method method : methods_with_form) {
      INFO(backend->name << ", " << int(method));
      Context<> ctx(*backend);
      SolveOptions options;
      options.method = method;
      options.format = parse_format("csr");
      Solver<double> solver(ctx, options);
      solver.prepare(P.A);
      CHECK(iterate_until_it_meets_once(solver, P.b, 10 * wait) ==
            ceil_div(wait, 4 * method_facts(method).products) * 4);
      const Vector<double> x = zeros<double>(P.rows());
      const SolveReport report = solver.solve(P.b, x);
      CHECK(report.form == SolveForm::one_meeting);
      CHECK(report.converged());
      CHECK(relative_difference(x, P.solution) < 1e-6);
      // New values in the same pattern need no other parts, a new prepare does.
      solver.update_values(P.A);
      CHECK(solver.solve(P.b, zeros<double>(P.rows())).form == SolveForm::one_meeting);
      solver.prepare(P.A);
      options.max_iterations = 4;
      solver.set_options(options);
      CHECK(solver.solve(P.b, zeros<double>(P.rows())).form == SolveForm::resident);
    }
}

TEST_CASE("a recurrence goes over to one meeting where the parts are made") {
  const auto scope = nothing_at_once();
  const auto P = known_problem<double>("poisson2d:20x17");
  for (const Method method : methods_with_form) {
    SolveOptions options = stopped<double>(method, SolveForm::automatic, many_iterations(method));
    options.callback_interval = 4;
    options.callback = [](const Progress&) { return true; };
    const auto expected = solve_stopped(find_backend("reference"), P.A, P.b, options);
    for (const Backend* backend : emulated) {
      INFO(method_name(method) << ", " << backend->name);
      const auto actual = solve_stopped(*backend, P.A, P.b, options);
      CHECK(actual.report.form == SolveForm::one_meeting);
      CHECK(actual.report.iterations == expected.report.iterations);
      CHECK(relative_difference(actual.x, expected.x) < 1e-10);
    }
  }
}

TEST_CASE("chebyshev learns the same spectrum from steps of pcg with one meeting") {
  const auto scope = nothing_at_once();
  const auto P = known_problem<double>("poisson2d:20x17");
  SolveOptions options;
  options.method = Method::chebyshev;
  Context<> oracle("reference");
  Solver<double> reference(oracle, options);
  reference.prepare(P.A);
  const Spectrum expected = reference.solve(P.b, zeros<double>(P.rows())).spectrum;
  for (const Backend* backend : emulated) {
    INFO(backend->name);
    Context<> ctx(*backend);
    Solver<double> solver(ctx, options);
    solver.prepare(P.A);
    for (int times = 0; times < 3; ++times) {
      const Vector<double> x = zeros<double>(P.rows());
      const SolveReport report = solver.solve(P.b, x);
      CHECK(report.converged());
      CHECK(report.spectrum.smallest == Approx(expected.smallest).epsilon(0.01));
      CHECK(report.spectrum.largest == Approx(expected.largest).epsilon(0.01));
    }
  }
}

TEST_CASE("with one meeting it is local to a row what preconditions, and a method made for it") {
  const auto P = known_problem<double>("poisson2d:20x17");
  for (const Backend* backend : emulated) {
    INFO(backend->name);
    Context<> ctx(*backend);
    for (const auto kind :
         {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::block_jacobi}) {
      for (const Method method : methods_with_form) {
        SolveOptions options;
        options.method = method;
        options.form = SolveForm::one_meeting;
        options.preconditioner = kind;
        options.preconditioner_block_size = 2;
        Solver<double> solver(ctx, options);
        solver.prepare(P.A);
        const Vector<double> x = zeros<double>(P.rows());
        if (kind == PreconditionerKind::block_jacobi) {
          CHECK_THROWS_AS(solver.solve(P.b, x), UnsupportedOperation);
          continue;
        }
        const SolveReport report = solver.solve(P.b, x);
        CHECK(report.converged());
        CHECK(relative_difference(x, P.solution) < 1e-6);
        CHECK(report.form == SolveForm::one_meeting);
      }
    }
    SolveOptions other;
    other.form = SolveForm::one_meeting;
    other.method = Method::minres;
    Solver<double> solver(ctx, other);
    CHECK_THROWS_AS((solver.prepare(P.A), solver.solve(P.b, zeros<double>(P.rows()))),
                    UnsupportedOperation);
  }
}

TEST_CASE("parts that are made at once are there for the first iteration") {
  const auto P = known_problem<double>("poisson2d:20x17");
  for (const Backend* backend : emulated)
    for (const Method method : methods_with_form) {
      INFO(backend->name << ", " << method_name(method));
      const auto solve = [&] {
        return solve_stopped(*backend, P.A, P.b, stopped<double>(method, SolveForm::automatic, 9));
      };
      CHECK(solve().report.form == SolveForm::one_meeting);
      CHECK(same_bits(solve().x, solve().x));
    }
}

TEST_CASE("the form may be asked for after prepare") {
  const auto scope = nothing_at_once();
  const auto P = known_problem<double>("poisson2d:20x17");
  for (const Backend* backend : emulated) {
    INFO(backend->name);
    Context<> ctx(*backend);
    SolveOptions options;
    options.max_iterations = 2;
    Solver<double> solver(ctx, options);
    solver.prepare(P.A);
    CHECK(solver.solve(P.b, zeros<double>(P.rows())).form == SolveForm::resident);
    options.form = SolveForm::one_meeting;
    solver.set_options(options);
    CHECK(solver.solve(P.b, zeros<double>(P.rows())).form == SolveForm::one_meeting);
  }
}

TEST_CASE(
    "new values change runs with one meeting, and values that they cannot take go to another "
    "form") {
  const auto P = known_problem<double>("poisson2d:20x17");
  int turn = 0;
  for (const Backend* backend : emulated)
    for (const char* format : {"csr", "dia", "dia-symmetric", "bsell:1"}) {
      INFO(backend->name << " " << format);
      Context<> ctx(*backend);
      SolveOptions options;
      options.method = methods_with_form[turn++ % 4];
      options.format = parse_format(format);
      Solver<double> solver(ctx, options);
      solver.prepare(P.A);
      iterate_until_it_meets_once(solver, P.b, 200);
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
      // Not definite: the diagonal has no square root. Only methods for symmetric matrices need one.
      other.values(other.row_offsets(0)) = -3;
      solver.update_values(other);
      if (options.method == Method::bicgstab) {
        Kokkos::deep_copy(x, 0.0);
        report = solver.solve(product(other, P.solution), x);
        CHECK(report.converged());
        CHECK(report.form == SolveForm::one_meeting);
        CHECK(relative_difference(x, P.solution) < 1e-6);
        continue;
      }
      report = solver.solve(P.b, zeros<double>(P.rows()));
      CHECK(report.status == SolveStatus::not_positive_definite);
      CHECK(report.form != SolveForm::one_meeting);
      // Which is not found out again.
      const auto before = report.backend_calls;
      report = solver.solve(P.b, zeros<double>(P.rows()));
      CHECK(report.form != SolveForm::one_meeting);
      CHECK(report.backend_calls < before);
      solver.update_values(P.A);
      CHECK(solver.solve(P.b, zeros<double>(P.rows())).form == SolveForm::one_meeting);
    }
}

TEST_CASE("update_values with a layout finds another pattern where the old one was") {
  const auto scope = nothing_at_once();
  Couplings near(200), far(200);
  for (index_t i = 0; i < near.rows; ++i) {
    near.couple(i, (i + 1) % near.rows);
    far.couple(i, (i + 7) % far.rows);
  }
  const CsrMatrix<double> A = near.matrix(), B = far.matrix();
  const Vector<double> solution = varied_vector<double>(A.rows);
  for (const Backend* backend : emulated)
    for (const SolveForm form : {SolveForm::automatic, SolveForm::one_meeting}) {
      INFO(backend->name << " " << int(form));
      Context<> ctx(*backend);
      SolveOptions options;
      options.form = form;
      Solver<double> solver(ctx, options);
      const auto columns = copy_of(A.columns);
      const auto values = copy_of(A.values);
      const CsrMatrix<double> held(A.rows, A.cols, 1, A.row_offsets, columns, values);
      solver.prepare(Matrix<double, HostSpace>(held));
      for (const CsrMatrix<double>& now : {A, B}) {
        Kokkos::deep_copy(columns, now.columns);
        Kokkos::deep_copy(values, now.values);
        solver.update_values(Matrix<double, HostSpace>(held));
        if (form == SolveForm::automatic)
          iterate_until_it_meets_once(solver, product(now, solution), 200);
        const Vector<double> x = zeros<double>(A.rows);
        const SolveReport report = solver.solve(product(now, solution), x);
        CHECK(report.form == SolveForm::one_meeting);
        CHECK(report.converged());
        CHECK(relative_difference(x, solution) < 1e-6);
      }
    }
}

namespace {

/// Runs of a backend with vectors of their own.
template <class Operand>
struct DirectRun {
  const Backend& backend;
  const Operand& A;
  Context<> ctx{backend};
  Vector<double> memory[max_method_vectors];
  MethodVectors<double> v;
  MethodScalars scalars;
  std::unique_ptr<RunPlan> plan;
  PreconditionerOperand<double> M = {};
  void (*behind)(void* scratch) = nullptr;  ///< a Vector<double>

  DirectRun(const Backend& of, const Operand& operand, const Vector<double>& r)
      : backend(of), A(operand) {
    ctx.reserve(A.rows);
    for (int k = 0; k < max_method_vectors; ++k) memory[k] = zeros<double>(A.rows);
    begin_with(r);
    plan = ops().run_plan(ctx.queue(), A,
                          {Method::pcg, PreconditionerKind::none, SolveForm::one_meeting});
  }
  void begin_with(const Vector<double>& r) {
    static_assert(int(methods::Cg<double>::r) == int(methods::Bicgstab<double>::r));
    for (int k = 0; k < max_method_vectors; ++k) {
      Kokkos::deep_copy(memory[k], 0.0);
      v.at[k] = memory[k].data();
    }
    Kokkos::deep_copy(memory[methods::Cg<double>::r], r);
  }
  const MatrixOps<Operand, double>& ops() const { return matrix_ops<double>(backend, A); }
  gpu::DeviceRunPlan<Operand, double>& device_plan() {
    return static_cast<gpu::DeviceRunPlan<Operand, double>&>(*plan);
  }
  MethodRun run(SolveForm form, index_t iterations, bool starts, Method method = Method::pcg) {
    MethodRun run;
    run.form = form;
    run.starts = starts;
    run.max_iterations = iterations;
    run.plan = plan.get();
    run.behind = behind;
    run.behind_context = &memory[method_facts(method).scratch];
    ops().run[static_cast<int>(method)](ctx.queue(), A, M, v, &scalars, &run);
    return run;
  }
};

}  // namespace

TEST_CASE("blocks that wait in vain for others end with an error, and the next run is right") {
  const CsrMatrix<double> A = generate_problem("poisson2d:20x17");
  const auto operand = A.operand();
  const Vector<double> r = varied_vector<double>(A.rows);
  for (const Backend* backend : emulated) {
    INFO(backend->name);
    DirectRun expected(*backend, operand, r), lost(*backend, operand, r);
    expected.run(SolveForm::one_meeting, 5, true);
    {
      const ScopedValue few_polls(gpu::tuning::most_polls, 100u);  // who waits does so for a moment
      *lost.device_plan().halo->arrived -= 1;                      // one that will never come
      CHECK_THROWS_AS(lost.run(SolveForm::one_meeting, 5, true), DeviceError);
    }
    CHECK(same_bits(lost.memory[methods::Cg<double>::r], r));
    CHECK(lost.run(SolveForm::one_meeting, 5, true).iterations == 5);
    CHECK(same_bits(lost.memory[methods::Cg<double>::x], expected.memory[methods::Cg<double>::x]));
  }
}

TEST_CASE("a breakdown of the other recurrence is left to pcg itself, from where it is") {
  using Cg = methods::Cg<double>;
  const CsrMatrix<double> A = generate_problem("poisson2d:20x17");
  const auto operand = A.operand();
  const Vector<double> r = varied_vector<double>(A.rows);
  for (const Backend* backend : emulated)
    for (const SolveForm form : {SolveForm::one_meeting, SolveForm::resident}) {
      INFO(backend->name << " " << to_string(form));
      DirectRun expected(*backend, operand, r), actual(*backend, operand, r);
      expected.run(SolveForm::streamed, 9, true);
      actual.run(form, 4, true);
      actual.scalars[Cg::pq] = 1e30;  // of which only the other recurrence makes its next step
      const MethodRun run = actual.run(form, 5, false);
      CHECK(run.iterations == 5);
      CHECK(run.scalars.breakdown == Breakdown::none);
      CHECK(run.used != form);
      CHECK(relative_difference(actual.memory[Cg::x], expected.memory[Cg::x]) < 1e-12);
      CHECK(actual.run(form, 3, false).used == form);
    }
}

TEST_CASE("methods take turns with the parts that were made for one of them") {
  using Cg = methods::Cg<double>;
  const CsrMatrix<double> A = generate_problem("poisson2d:20x17");
  const auto operand = A.operand();
  const Vector<double> r = varied_vector<double>(A.rows);
  for (const Backend* backend : emulated) {
    INFO(backend->name);
    DirectRun taking_turns(*backend, operand, r);
    int most = 0;
    for (const Method method : {Method::pcg, Method::bicgstab, Method::pcg, Method::bicgstab}) {
      INFO(method_name(method));
      DirectRun expected(*backend, operand, r);
      expected.run(SolveForm::streamed, 6, true, method);
      taking_turns.begin_with(r);
      CHECK(taking_turns.run(SolveForm::one_meeting, 6, true, method).iterations == 6);
      CHECK(relative_difference(taking_turns.memory[Cg::x], expected.memory[Cg::x]) < 1e-12);
      most = std::max(
          most, methods::count(method == Method::pcg ? methods::CgSingleReduction<double>::halo
                                                     : methods::Bicgstab<double>::halo));
      CHECK(taking_turns.device_plan().halo->halo_vectors == most);
    }
  }
}

TEST_CASE("a run with two meetings ends at either of them with what the last iteration left") {
  using Bicgstab = methods::Bicgstab<double>;
  const CsrMatrix<double> A = skewed(generate_problem("poisson2d:20x17"), false);
  const auto operand = A.operand();
  // A y = (1, h) and A z = (-h, -h), whose square overflows.
  const CsrMatrix<double> large =
      literal_csr<double>(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 1, 1e200, 1});
  const auto large_operand = large.operand();
  const Vector<double> first("first", 2);
  first(0) = 1;
  for (const Backend* backend : emulated) {
    INFO(backend->name);
    DirectRun run(*backend, operand, varied_vector<double>(A.rows));
    CHECK(run.run(SolveForm::one_meeting, 3, true, Method::bicgstab).iterations == 3);
    std::vector<Vector<double>> before;
    for (const int k : {Bicgstab::x, Bicgstab::r, Bicgstab::p, Bicgstab::Ay})
      before.push_back(copy_of(run.memory[k]));
    run.scalars[Bicgstab::omega] = 0;
    const MethodRun broken = run.run(SolveForm::one_meeting, 5, false, Method::bicgstab);
    CHECK(broken.iterations == 0);
    CHECK(broken.scalars.breakdown == Breakdown::zero_divisor);
    for (const int k : {Bicgstab::x, Bicgstab::r, Bicgstab::p, Bicgstab::Ay}) {
      CHECK(same_bits(run.memory[k], before.front()));
      before.erase(before.begin());
    }
    DirectRun overflows(*backend, large_operand, first);
    const MethodRun ended = overflows.run(SolveForm::one_meeting, 5, true, Method::bicgstab);
    CHECK(ended.used == SolveForm::one_meeting);
    CHECK(ended.iterations == 0);
    CHECK(ended.scalars.breakdown == Breakdown::not_finite);
    CHECK(same_bits(overflows.memory[Bicgstab::r], first));
    CHECK(same_bits(overflows.memory[Bicgstab::x], zeros<double>(2)));
  }
}

TEST_CASE("values are scaled for one meeting once, until there are others") {
  using Cg = methods::Cg<double>;
  const CsrMatrix<double> A = generate_problem("poisson2d:20x17");
  const auto operand = A.operand();
  const Vector<double> r = varied_vector<double>(A.rows);
  const Vector<double> inverse("inverse", r.extent(0));
  Context<> ctx("reference");
  for (const Backend* backend : emulated)
    for (const Method method : {Method::pcg, Method::bicgstab}) {
      INFO(backend->name << ", " << method_name(method));
      DirectRun run(*backend, operand, r);
      run.M = {PreconditionerKind::jacobi, 1, inverse.data()};
      Kokkos::deep_copy(inverse, 0.25);
      const auto launches = [&] {
        run.begin_with(r);
        const MethodRun six = run.run(SolveForm::one_meeting, 6, true, method);
        CHECK(six.iterations == 6);
        return six.launches;
      };
      const auto with_scaling = launches();
      CHECK(launches() == with_scaling - 1);
      const Vector<double> half_of_x = copy_of(run.memory[Cg::x]);
      scal(ctx, 0.5, half_of_x);
      // Others in the same place.
      scal(ctx, 2.0, A.values);
      Kokkos::deep_copy(inverse, 0.125);
      run.device_plan().renew(false);
      CHECK(launches() == with_scaling);
      CHECK(relative_difference(run.memory[Cg::x], half_of_x) < 1e-12);
      scal(ctx, 0.5, A.values);
    }
}

TEST_CASE("values that do not allow one meeting are left to a resident run, that goes on as well") {
  using Cg = methods::Cg<double>;
  const CsrMatrix<double> A = generate_problem("poisson2d:20x17");
  const auto operand = A.operand();
  const Vector<double> r = varied_vector<double>(A.rows);
  const Vector<double> inverse("inverse", r.extent(0));  // of another diagonal
  for (std::size_t i = 0; i < inverse.extent(0); ++i) inverse(i) = 0.2 + 0.01 * double(i % 7);
  for (const Backend* backend : emulated)
    for (const Method method : {Method::pcg, Method::bicgstab}) {
      INFO(backend->name << ", " << method_name(method));
      DirectRun expected(*backend, operand, r), actual(*backend, operand, r);
      actual.M = expected.M = {PreconditionerKind::jacobi, 1, inverse.data()};
      expected.run(SolveForm::streamed, 9, true, method);
      // What solvers enqueue behind a run works with its scratch.
      actual.behind = [](void* scratch) {
        Kokkos::deep_copy(*static_cast<Vector<double>*>(scratch), 1e3);
      };
      CHECK(actual.run(SolveForm::run, 4, true, method).used == SolveForm::resident);
      actual.device_plan().renew(false);  // it asks again
      const MethodRun run = actual.run(SolveForm::run, 5, false, method);
      CHECK(run.used == SolveForm::resident);
      CHECK(run.iterations == 5);
      CHECK(relative_difference(actual.memory[Cg::x], expected.memory[Cg::x]) < 1e-12);
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
  for (const Backend* backend : emulated)
    for (const Method method : methods_with_form) {
      INFO(backend->name << ", " << method_name(method));
      SolveOptions options =
          stopped<double>(method, SolveForm::one_meeting, std::min(25, many_iterations(method)));
      const auto whole = solve_stopped(*backend, P.A, P.b, options);
      options.callback_interval = 4;
      int calls = 0;
      options.callback = [&](const Progress&) { return ++calls > 0; };
      const auto pieces = solve_stopped(*backend, P.A, P.b, options);
      CHECK(calls >= options.max_iterations / 4);
      CHECK(pieces.report.iterations == whole.report.iterations);
      CHECK(relative_difference(pieces.x, whole.x) < 1e-11);
    }
}

}  // namespace cnc::testing
