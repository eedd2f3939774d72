#include "solve_run.hpp"

#include "interrupt.hpp"
#include "iteration_progress.hpp"
#include "multigrid.hpp"
#include "output_file.hpp"
#include "solve_repeats.hpp"
#include "solve_vectors.hpp"
#include "text.hpp"
#include "timing.hpp"

#include <cnc/convert.hpp>
#include <cnc/copy.hpp>
#include <cnc/model.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace cnc::cli {
namespace {

/// Streams over as much memory as an iteration does: cache or main memory, whichever it runs from.
template <class Exec>
double bandwidth_for(Context<Exec>& ctx, const SolveReport& report) {
  if (report.iterations == 0 || report.bytes <= 0) return 0;
  const double bytes = report.bytes / report.iterations;
  return measure_read_bandwidth(ctx, static_cast<std::size_t>(std::clamp(bytes, 1e5, 1e9)));
}

template <class V, class Exec>
SolveOutcome solve_in(Context<Exec>& ctx, const std::string& source, const CsrMatrix<V>& A,
                      SolveRequest request) {
  using Space = typename Exec::memory_space;
  const Vector<V> b = right_hand_side(request.rhs, A);
  const Vector<V> x0 = start_vector(request.x0, A);
  ProgressLine line(request.show_progress);
  const double rtol = request.options.rtol;
  request.options.callback_interval = callback_interval(ctx, A.nonzeros);
  request.options.callback = [&line, rtol](const Progress& progress) {
    if (line.due()) line.show(progress_text(progress, rtol));
    return !Interrupt::requested();
  };

  SolveOutcome outcome;
  outcome.backend = &ctx.backend();
  outcome.threads = ctx.threads();
  line.show("  preparing ...");
  const Vector<const V, Space> rhs = copy_to<Space>(b);
  const Vector<V, Space> solution = copy_to<Space>(x0);  // on a host x0 itself
  Vector<V, Space> start;
  if (request.repeat > 1) {
    start = zeroed<V, Space>("x0", x0.extent(0));
    Kokkos::deep_copy(start, solution);
  }
  const CsrMatrix<V, Space> matrix = copy_to<Space>(A);
  Solver<V, Exec> solver(ctx, request.options);
  std::shared_ptr<Amg<V, Exec>> amg;
  std::shared_ptr<AutomaticPreconditioner<V, Exec>> automatic;
  const auto& object = request.preconditioner.object;
  const NodesOfUnknowns nodes{request.coordinates, request.options.format.block_size,
                              request.options.reordering != Reordering::none};
  if (const auto* options = std::get_if<AmgOptions>(&object)) {
    solver.set_preconditioner(amg = multigrid<V, Exec>(*options, source, A, nodes));
  } else if (const auto* choice = std::get_if<AutomaticOptions>(&object)) {
    amg = multigrid<V, Exec>({}, source, A, nodes);
    automatic = std::make_shared<AutomaticPreconditioner<V, Exec>>(*choice, amg);
    solver.set_preconditioner(automatic);
  } else if (auto made = make_preconditioner<V, Exec>(request.preconditioner)) {
    solver.set_preconditioner(std::move(made));
  }
  const double prepare_start = now();
  solver.prepare(matrix);
  ctx.fence();
  outcome.prepare_seconds = now() - prepare_start;
  const double solve_start = now();
  outcome.report = solver.solve(rhs, solution);
  outcome.repeats.first_seconds = now() - solve_start;
  line.clear();
  outcome.advice = solver.advice();
  if (automatic) outcome.preconditioner_choice = automatic->choice();
  if (amg && (!automatic || automatic->taken() == amg)) outcome.hierarchy = amg->hierarchy();
  const Vector<V> x = copy_to<HostSpace>(solution);
  if (!request.output.empty()) write_solution(request.output, x);
  if (request.solution_is_ones()) outcome.error = distance_from_ones(x);
  if (request.repeat > 1) {
    line.show("  repeating ...");
    measure_repeats(ctx, solver, matrix, A, rhs, solution, start, request, outcome);
    line.clear();
  }
  if (request.measure_bandwidth) outcome.bandwidth = bandwidth_for(ctx, outcome.report);
  return outcome;
}

}  // namespace

void check_vectors(const SolveRequest& request) {
  if (request.rhs.rfind(random, 0) == 0) (void)parse_seed(request.rhs.substr(random.size()));
  if (!is_built_in_rhs(request.rhs)) check_readable(request.rhs);
  if (request.x0 != "zero") check_readable(request.x0);
  if (!request.coordinates.empty()) {
    check_readable(request.coordinates);
    const auto& object = request.preconditioner.object;
    if (!std::holds_alternative<AmgOptions>(object) &&
        !std::holds_alternative<AutomaticOptions>(object))
      throw InvalidArgument("--coordinates is for --precondition amg and auto");
    if (request.options.reordering != Reordering::none)
      throw InvalidArgument("--coordinates go with rows in the order given, without --reorder");
  }
  const std::string& output = request.output;
  if (!output.empty() && !output.ends_with(".mtx") && !output.ends_with(".mtx.gz") &&
      !output.ends_with(".cnc"))
    throw IoError(output, 0, "unknown file type (known: .mtx, .mtx.gz, .cnc)");
}

double solve_bytes(const SolveRequest& request, MemorySpace memory, index_t rows,
                   offset_t entries) {
  const bool narrow = request.precision == Precision::f32;
  const double b_and_x = 2.0 * rows * (narrow ? sizeof(float) : sizeof(double));
  if (memory == MemorySpace::device) return b_and_x;
  return b_and_x + (narrow ? least_prepare_bytes<float>(rows, entries, request.options)
                           : least_prepare_bytes<double>(rows, entries, request.options));
}

SolveOutcome run_solve(const ContextRequest& where, const LoadedMatrix& matrix,
                       const SolveRequest& request) {
  return with_context(where, [&](auto& ctx) {
    if (request.precision == Precision::f32)
      return solve_in(ctx, matrix.name, convert_values<float>(matrix.A), request);
    return solve_in(ctx, matrix.name, matrix.A, request);
  });
}

}  // namespace cnc::cli
