#include "solver_run.hpp"

#include "cli/interrupt.hpp"
#include "cli/iteration_progress.hpp"
#include "cli/memory.hpp"
#include "cli/precision.hpp"
#include "geometry/solve_on.hpp"

#include <algorithm>
#include <type_traits>

namespace cnc::cli {
namespace {

ContextRequest place_asked_for(const MeshArguments& arguments) {
  return {arguments.backend, memory_of_backend(arguments.backend, arguments.memory),
          arguments.threads, 0};
}

}  // namespace

double tolerance_of(const MeshArguments& arguments) {
  const double least = arguments.precision == "f32" ? 1e-5 : 0;
  return arguments.rtol.value_or(std::max(arguments.usual_rtol, least));
}

void check_solver(const MeshArguments& arguments) {
  (void)parse_least_squares_method(arguments.least_squares);
  (void)parse_precision(arguments.precision);
  const ContextRequest where = place_asked_for(arguments);
  (void)find_backend(where.backend, where.memory);
}

void with_solver(const MeshArguments& arguments, offset_t unknowns, ProgressLine& line,
                 const std::string& label,
                 const std::function<void(geometry::SystemSolver&, const SolverPlace&)>& use) {
  const Precision precision = parse_precision(arguments.precision);
  const LeastSquaresMethod method = parse_least_squares_method(arguments.least_squares);
  SolveOptions options;
  options.rtol = tolerance_of(arguments);
  options.max_iterations = arguments.max_iterations;
  if (precision == Precision::f32_f64) options.storage = StoragePrecision::f32;
  options.callback = [&line, &label, rtol = options.rtol](const Progress& progress) {
    if (line.due()) line.show(label + progress_text(progress, rtol));
    return !Interrupt::requested();
  };
  with_context(place_asked_for(arguments), [&](auto& ctx) {
    using Exec = typename std::remove_reference_t<decltype(ctx)>::execution_space;
    constexpr offset_t entries_per_unknown = 16;
    options.callback_interval = callback_interval(ctx, entries_per_unknown * unknowns);
    const SolverPlace place{&ctx.backend(), ctx.threads()};
    if (precision == Precision::f32) {
      geometry::SolveOn<float, Exec> solver(ctx, options, method);
      use(solver, place);
    } else {
      geometry::SolveOn<double, Exec> solver(ctx, options, method);
      use(solver, place);
    }
  });
}

}  // namespace cnc::cli
