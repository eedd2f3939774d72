// Rows so long that the lanes of one would keep all others waiting: products deal out entries then, in equal shares, and forms in one
// launch are not taken.

#include "support/catch.hpp"
#include "support/gpu_host/backends.hpp"
#include "support/same_matrix.hpp"
#include "support/solve_problem.hpp"

#include <cnc/solver.hpp>
#include <cnc/spmv.hpp>

#include <algorithm>
#include <set>
#include <vector>

namespace cnc::testing {
namespace {

const std::vector<const Backend*> emulated = emulated_devices();

/// A band and rows that reach everywhere, with their columns; dominated by its diagonal, with more values than a table holds, without
/// an empty row unless asked for.
template <class V>
CsrMatrix<V> with_long_rows(index_t n, const std::set<index_t>& longest, bool empty_end = false) {
  std::vector<index_t> columns;
  std::vector<V> values;
  Vector<index_t> offsets("offsets", std::size_t(n) + 1);
  for (index_t row = 0; row < n; ++row) {
    const bool is_long = longest.count(row) > 0;
    const auto add = [&](index_t column) {
      const index_t mixed = (row + column) * 7 + row * column;  // symmetric
      columns.push_back(column);
      values.push_back(row == column ? V(is_long ? 2.0 * n : 6 + row % 5)
                                     : V(-0.1 - mixed % 997 / 1000.0));
    };
    const index_t end = empty_end ? n - 3 : n;  // of rows and columns that are not empty
    if (row < end && is_long) {
      for (index_t column = 0; column < end; ++column) add(column);
    } else if (row < end) {
      std::set<index_t> its_columns = longest;
      for (index_t column = row - 1; column <= row + 1; ++column)
        if (column >= 0) its_columns.insert(column);
      for (const index_t column : its_columns)
        if (column < end) add(column);
    }
    offsets(std::size_t(row) + 1) = static_cast<index_t>(columns.size());
  }
  Vector<index_t> own_columns("columns", columns.size());
  Vector<V> own_values("values", values.size());
  std::copy(columns.begin(), columns.end(), own_columns.data());
  std::copy(values.begin(), values.end(), own_values.data());
  return {n, n, 1, offsets, own_columns, own_values};
}

}  // namespace

TEMPLATE_TEST_CASE("products with very long rows", "", double, float) {
  using V = TestType;
  for (const Backend* backend : emulated)
    for (const index_t n : {700, 4100})
      for (const bool empty_end : {false, true})
        for (const std::set<index_t>& longest :
             {std::set<index_t>{}, {0}, {n / 2}, {n - 4}, {1, 2, 300, n - 4}}) {
          INFO(backend->name << " " << n << " " << longest.size() << " " << empty_end);
          const auto A = with_long_rows<V>(n, longest, empty_end);
          const Context<> ctx(*backend);
          const auto plan = plan_spmv<V>(ctx, A);
          CHECK((plan != nullptr) == !longest.empty());
          const auto x = varied_vector<V>(n);
          const auto y = varied_vector<V>(n);
          const auto expected = product(A, x);
          for (index_t i = 0; i < n; ++i) expected(i) = V(2) * expected(i) - V(0.5) * y(i);
          spmv(ctx, V(2), A, Vector<const V>(x), V(-0.5), y, plan.get());
          ctx.fence();
          CHECK(relative_difference(y, expected) < (sizeof(V) == 8 ? 1e-14 : 1e-6));
        }
}

TEST_CASE("solves with very long rows go on in graphs of products in equal shares") {
  const auto A = with_long_rows<double>(900, {3, 500});
  const auto P = with_known_solution("long rows", A);
  for (const Backend* backend : emulated)
    for (const Method method :
         {Method::pcg, Method::bicgstab, Method::pcg_pipelined, Method::gmres}) {
      INFO(backend->name << " " << method_facts(method).name);
      Context<> ctx(*backend);
      SolveOptions options;
      options.method = method;
      options.format = {"csr", 1};
      options.preconditioner = PreconditionerKind::jacobi;
      Solver<double> solver(ctx, options);
      solver.prepare(P.A);
      for (int time = 0; time < 2; ++time) {
        const Vector<double> x = zeros<double>(P.rows());
        const SolveReport report = solver.solve(P.b, x);
        CHECK(report.converged());
        if (method == Method::gmres)
          CHECK(report.form != SolveForm::resident);
        else
          CHECK(report.form == SolveForm::graph);
        CHECK(!report.unit_diagonal);
        CHECK(!report.short_columns);
        CHECK(report.value_kinds == 0);
        CHECK(relative_difference(x, P.solution) < 1e-6);
        solver.update_values(deep_copy_of(P.A));
      }
    }
}

}  // namespace cnc::testing
