#include "harness/krylov_solves.hpp"

#include "harness/check.hpp"

#include <cnc/blas1.hpp>
#include <cnc/preconditioner.hpp>
#include <cnc/spmv.hpp>

#include <CLI/CLI.hpp>

#include <map>

namespace cnc::perf {
namespace {

/// What a short and a long solve are whole multiples of.
index_t cycle_of(Method method) { return method == Method::gmres ? gmres_restart : 1; }

CsrMatrix<double> scaled_rows(const CsrMatrix<double>& A, const Vector<double>& scales) {
  CsrMatrix<double> scaled = A;
  scaled.values = Vector<double>("values", A.values.extent(0));
  for (std::size_t i = 0; i < scales.extent(0); ++i)
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k)
      scaled.values(k) = scales(i) * A.values(k);
  return scaled;
}

/// Preconditioned from the left: the same as no preconditioner for D^-1 A x = D^-1 b.
double expected_from_the_left(const CsrMatrix<double>& A, Method method) {
  Context<> ctx("reference");
  Preconditioner<double> jacobi;
  set_up_preconditioner(A, PreconditionerKind::jacobi, 1, jacobi);
  const Vector<double>& inverse = jacobi.inverse;
  const CsrMatrix<double> scaled = scaled_rows(A, inverse);
  const Vector<double> b = random_vector<double>(A.rows, 2);
  for (std::size_t i = 0; i < b.extent(0); ++i) b(i) *= inverse(i);
  SolveOptions options = endless(method, PreconditionerKind::none, 0);
  options.format = FormatSpec{"csr", 1};
  options.max_iterations = short_solve(method);
  Solver<double> solver(ctx, options);
  solver.prepare(scaled);
  const Vector<double> x("x", b.extent(0));
  solver.solve(Vector<const double>(b), x);
  return residual_norm(A, x);
}

}  // namespace

Method& chosen_method() {
  static Method method = Method::pcg;
  return method;
}

void add_solver_option(CLI::App& app) {
  static const std::map<std::string, Method> methods = {
      {"pcg", Method::pcg}, {"bicgstab", Method::bicgstab}, {"gmres", Method::gmres}};
  app.add_option("--solver", chosen_method(), "Whose iterations: pcg, bicgstab, gmres")
      ->transform(CLI::CheckedTransformer(methods));
}

Krylov peers_method(Method method) {
  switch (method) {
    case Method::bicgstab: return Krylov::bicgstab;
    case Method::gmres: return Krylov::gmres;
    default: return Krylov::pcg;
  }
}

void name_record(Method method, Record& record) {
  if (method == Method::pcg) return;
  const bool gmres = method == Method::gmres;
  const auto replace = [](std::string& text, const std::string& from, const std::string& to) {
    if (const auto at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  };
  replace(record.bench, "pcg", method_name(method));
  replace(record.question, "Jacobi-PCG",
          gmres ? "Jacobi-GMRES(" + std::to_string(gmres_restart) + ")" : "Jacobi-BiCGSTAB");
}

std::vector<std::string> solver_sources(MatrixChoice choice, Method method) {
  const bool nothing = choice.sources.empty() && choice.sets.empty() && choice.directory.empty();
  if (nothing && method != Method::pcg) choice.sets = {"general"};
  return matrix_sources(choice);
}

std::string unfit(Method method, const Structure& structure) {
  if (method != Method::pcg) return "";
  // Some files hold symmetric matrices whose halves differ in the last digits.
  const bool symmetric = structure.pattern_symmetric && structure.asymmetry <= 1e-12;
  return symmetric ? "" : "not symmetric";
}

index_t short_solve(Method method) { return std::max<index_t>(4, cycle_of(method)); }

Lengths lengths_of(Method method, index_t possible, index_t wanted) {
  const index_t shorter = short_solve(method), cycle = cycle_of(method);
  const index_t fewest = std::max<index_t>(12, cycle);  // a difference over fewer would be noise
  if (possible < shorter + fewest) return {shorter, 0};
  const index_t longer = std::min(possible, shorter + std::max(wanted, fewest + 4));
  return {shorter, longer / cycle * cycle};
}

SolveOptions endless(Method method, PreconditionerKind preconditioner, int block_size) {
  SolveOptions options;
  options.method = method;
  options.restart = gmres_restart;
  options.preconditioner = preconditioner;
  options.preconditioner_block_size = block_size;
  options.storage = StoragePrecision::as_vectors;  // what the figures say
  options.rtol = 0;  // never met, so that every solve runs to its limit
  options.divergence = std::numeric_limits<double>::max();
  options.record_history = false;
  return options;
}

SolveOptions trial(Method method, index_t most) {
  SolveOptions options = endless(method, PreconditionerKind::jacobi, 0);
  // Far above the smallest float when squared: nobody computes with denormals. BiCGSTAB stops before float
  // loses the product of the first and the last residual, where Eigen would start again, and GMRES, whose
  // short solve is longer, while float can still tell the residual of x.
  options.rtol = method == Method::pcg ? 1e-10 : 1e-5;
  options.max_iterations = short_solve(method) + most;
  return options;
}

Cost iteration_cost(Method method, const Cost& product, index_t rows, std::size_t vector_bytes) {
  return product * method_facts(method).products +
         cost::iteration(method, rows, static_cast<int>(vector_bytes));
}

double expected_residual(const CsrMatrix<double>& A, Method method, Preconditioned by) {
  if (by.left) return expected_from_the_left(A, method);
  Context<> ctx("reference");
  const auto kind =
      by.block_size == 1 ? PreconditionerKind::jacobi : PreconditionerKind::block_jacobi;
  SolveOptions options = endless(method, kind, by.block_size);
  options.format = FormatSpec{"csr", 1};
  options.max_iterations = short_solve(method);
  Solver<double> solver(ctx, options);
  solver.prepare(A);
  const Vector<double> x("x", static_cast<std::size_t>(A.rows));
  return solver.solve(Vector<const double>(random_vector<double>(A.rows, 2)), x)
      .recurrence_residual;
}

template <class V>
double residual_norm(const CsrMatrix<double>& A, const Vector<V>& x) {
  Context<> ctx("reference");
  const Vector<double> wide("x", x.extent(0));
  for (std::size_t i = 0; i < x.extent(0); ++i) wide(i) = static_cast<double>(x(i));
  const Vector<double> r = random_vector<double>(A.rows, 2);
  spmv(ctx, -1.0, A, wide, 1.0, r);
  return nrm2(ctx, r);
}

template double residual_norm(const CsrMatrix<double>&, const Vector<float>&);
template double residual_norm(const CsrMatrix<double>&, const Vector<double>&);

}  // namespace cnc::perf
