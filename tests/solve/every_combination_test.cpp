#include "solve/backends.hpp"
#include "support/solve_problem.hpp"

using namespace cnc;
using namespace cnc::testing;

// Every backend x method x preconditioner x format x precision on problems whose solution is known.

namespace {

/// A preconditioner as a combination names it.
struct Preconditioning {
  std::string name;
  PreconditionerKind kind;
  int block_size;
  bool custom = false;
};

const Preconditioning all_preconditionings[] = {
    {"none", PreconditionerKind::none, 0},
    {"jacobi", PreconditionerKind::jacobi, 0},
    {"block_jacobi of the layout", PreconditionerKind::block_jacobi, 0},
    {"block_jacobi:2", PreconditionerKind::block_jacobi, 2},
    {"block_jacobi:3", PreconditionerKind::block_jacobi, 3},
    {"block_jacobi:7", PreconditionerKind::block_jacobi, 7},
    {"custom", PreconditionerKind::none, 0, true},
};

template <class Space, class V>
PreconditionerFunction<V, Space> diagonal_scaling(const CsrMatrix<V>& A) {
  Vector<V> inverse("inverse", static_cast<std::size_t>(A.rows));
  for (index_t row = 0; row < A.rows; ++row)
    for (index_t k = A.row_offsets(row); k < A.row_offsets(row + 1); ++k)
      if (A.columns(k) == row) inverse(row) = V(1) / A.values(k);
  return [inverse](const Vector<const V, Space>& r, const Vector<V, Space>& z) {
    const Vector<const V> from = copy_to<HostSpace>(r);
    const Vector<V> to("z", r.extent(0));
    for (std::size_t i = 0; i < r.extent(0); ++i) to(i) = inverse(i) * from(i);
    Kokkos::deep_copy(z, to);
  };
}

/// The best form there is: not every backend fuses steps or runs many iterations.
bool form_fits(const SolveReport& report, const Backend& backend, Method method, bool custom) {
  if (!has_passes(backend, method) && (custom || backend.baseline))
    return report.form == SolveForm::plain_operations;
  if (custom) return report.form == SolveForm::fused_steps;
  if (backend.variant && report.form == SolveForm::plain_operations) return true;  // products only
  const bool on_device = is_run(report.form) && report.form != SolveForm::run;
  if (on_device) return matrix_ops<BcsrOperand<double>, double>(backend).run_plan != nullptr;
  return report.form == SolveForm::run || report.form == SolveForm::fused_steps;
}

/// What is wrong with the receipt of a solve that should have converged; empty when nothing is.
template <class V>
std::string fault(const SolveReport& report, const SolveOptions& options, const KnownProblem<V>& P,
                  const Vector<V>& x) {
  const Residual own = residual_of(P.A, P.b, x);
  const double rhs = norm2(P.b);
  if (!report.converged())
    return std::string("ended as ") + cnc::to_string(report.status) + " " + report.detail;
  if (report.true_residual > report.tolerance) return "the reported residual misses the tolerance";
  if (own.norm > report.tolerance + own.rounding) return "the true residual misses the tolerance";
  if (std::abs(own.norm - report.true_residual) > own.rounding)
    return "the reported residual is not the true one";
  if (std::abs(report.rhs_norm - rhs) > 1e-6 * rhs) return "rhs_norm";
  if (std::abs(report.initial_residual - rhs) > 1e-6 * rhs) return "initial_residual from x = 0";
  if (std::abs(report.tolerance - options.rtol * report.rhs_norm) > 1e-12 * report.tolerance)
    return "tolerance";
  if (report.relative_residual != report.true_residual / report.rhs_norm)
    return "relative_residual";
  if (report.iterations < 1) return "iterations";
  if (report.history.size() != static_cast<std::size_t>(report.iterations) + 1)
    return "history size";
  if (report.history.front() != report.initial_residual) return "history begin";
  if (report.history.back() != report.recurrence_residual) return "history end";
  if (!(report.history.back() < 0.1 * report.history.front())) return "history does not fall";
  if (!(report.bytes > 0 && report.flops > 0 && report.seconds > 0))
    return "bytes, flops or seconds";
  if (report.backend_calls < 1 || report.host_synchronisations < 1) return "counts of calls";
  if (options.format.name != "auto" && report.format != options.format.text()) return "format";
  if (relative_difference(x, P.solution) > 1e4 * options.rtol) return "x is not the solution";
  return "";
}

template <class M, class Exec, class V>
void solve_all(const Backend& backend, const KnownProblem<V>& P,
               const std::vector<int>& block_sizes,
               std::span<const Preconditioning> preconditionings, Findings& findings) {
  using Space = typename Exec::memory_space;
  SharingContext<Exec> ctx(backend);
  const CsrMatrix<V, Space> A = copy_to<Space>(P.A);
  const Vector<const V, Space> b = copy_to<Space>(P.b);
  for (const FormatSpec& format : formats_for(P.A, block_sizes))
    for (const Preconditioning& preconditioning : preconditionings)
      for (const Method method : every_method) {
        SolveOptions options =
            options_for(method, format, preconditioning.kind, preconditioning.block_size);
        options.storage = storage_for<M, V>();
        options.rtol = sizeof(V) == 4 ? 1e-4 : 1e-9;
        const std::string name = P.name + " " + format.text() + " " + preconditioning.name + " " +
                                 to_string(method) + " " + Precision<M, V>::name();
        Solver<V, Exec> solver(ctx, options);
        const Vector<V, Space> x = zeroed<V, Space>("x", b.extent(0));
        SolveReport report;
        try {
          solver.prepare(A);
          if (preconditioning.custom) solver.set_preconditioner(diagonal_scaling<Space>(P.A));
          report = solver.solve(b, x);
        } catch (const UnsupportedOperation&) {
          const bool parts = preconditioning.custom && !takes_parts_of_others(backend, method);
          findings.compare(unless(backend.baseline || backend.variant || parts, "is not offered"),
                           [&] { return name; });
          continue;
        }
        const Vector<V> found = copy_to<HostSpace>(x);
        findings.compare(fault(report, options, P, found), [&] { return name; });
        findings.compare(unless(report.backend == backend.name, "backend"), [&] { return name; });
        findings.compare(unless(form_fits(report, backend, method, preconditioning.custom), "form"),
                         [&] { return name + " " + cnc::to_string(report.form); });
      }
}

/// Every preconditioner and format on two small problems, what is usual on the others: a section for each, so that one can be asked
/// for, since on a device all of them take minutes.
template <class M, class V, class Exec>
void solve_problems(const Backend& backend, Findings& findings) {
  const std::span<const Preconditioning> all(all_preconditionings);
  if (is_emulated(backend))
    return solve_all<M, Exec>(backend, known_problem<V>("poisson2d:9x7"), {3}, all.subspan(1, 2),
                              findings);
  const auto solve = [&](const char* problem, const std::vector<int>& block_sizes,
                         std::span<const Preconditioning> preconditionings) {
    DYNAMIC_SECTION(problem << ", " << Precision<M, V>::name()) {
      solve_all<M, Exec>(backend, known_problem<V>(problem), block_sizes, preconditionings,
                         findings);
    }
  };
  for (const char* problem : {"poisson2d:9x7", "elasticity2d:5"}) solve(problem, {2, 3, 7}, all);
  for (const char* problem : {"elasticity3d:3", "wathen:6x4", "trefethen:90", "poisson2d:31x29"})
    solve(problem, {3}, all.subspan(1, 2));
}

void solve_everything(const Backend& backend, Findings& findings) {
  for_each_precision([&](auto precision) {
    using P = decltype(precision);
    in_memory_of(backend, [&]<class Exec>(std::type_identity<Exec>) {
      solve_problems<typename P::M, typename P::V, Exec>(backend, findings);
    });
  });
}

CNC_CONFORMANCE_TEST("every method, preconditioner, format and precision solves", solve_everything);

}  // namespace
