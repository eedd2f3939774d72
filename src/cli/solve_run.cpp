#include "solve_run.hpp"

#include "interrupt.hpp"
#include "iteration_progress.hpp"
#include "mixed.hpp"
#include "multigrid.hpp"
#include "output_file.hpp"
#include "solve_repeats.hpp"
#include "text.hpp"
#include "timing.hpp"
#include "vector_file.hpp"

#include <cnc/convert.hpp>
#include <cnc/copy.hpp>
#include <cnc/io.hpp>
#include <cnc/model.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>

namespace cnc::cli {
namespace {

/// In [-1, 1).
double random_entry(std::uint64_t seed, std::uint64_t index) {
  return detail::unit_entry(seed * 0xD1342543DE82EF95u + index * detail::golden);
}

std::uint64_t parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size())
    throw InvalidArgument("--rhs random:" + text + ": the seed must be a whole number from 0");
  return seed;
}

/// Row sums are what A does to ones, so that x = 1 solves the system.
template <class V>
void fill_with_row_sums(const CsrMatrix<V>& A, const Vector<V>& b) {
  for (index_t i = 0; i < A.rows; ++i) {
    double sum = 0;
    for (index_t k = A.row_offsets(static_cast<std::size_t>(i));
         k < A.row_offsets(static_cast<std::size_t>(i) + 1); ++k)
      sum += static_cast<double>(A.values(static_cast<std::size_t>(k)));
    b(static_cast<std::size_t>(i)) = static_cast<V>(sum);
  }
}

const std::string random = "random:";

bool is_built_in_rhs(const std::string& text) {
  return text == "ones" || text == "a-times-ones" || text.rfind(random, 0) == 0;
}

template <class V>
Vector<V> right_hand_side(const std::string& text, const CsrMatrix<V>& A) {
  if (!is_built_in_rhs(text)) return vector_from_file<V>(text, "right-hand side", A.rows, "rows");
  const auto b = zeroed<V>("b", static_cast<std::size_t>(A.rows));
  if (text == "ones") {
    Kokkos::deep_copy(b, V(1));
  } else if (text == "a-times-ones") {
    fill_with_row_sums(A, b);
  } else {
    const std::uint64_t seed = parse_seed(text.substr(random.size()));
    for (std::size_t i = 0; i < b.extent(0); ++i) b(i) = static_cast<V>(random_entry(seed, i));
  }
  return b;
}

template <class V>
double distance_from_ones(const Vector<V>& x) {
  double worst = 0;
  for (std::size_t i = 0; i < x.extent(0); ++i) {
    const double distance = std::abs(static_cast<double>(x(i)) - 1);
    if (!(distance <= worst)) worst = distance;  // keeps NaN
  }
  return worst;
}

/// Streams over as much memory as an iteration does: cache or main memory, whichever it runs from.
template <class Exec>
double bandwidth_for(Context<Exec>& ctx, const SolveReport& report) {
  if (report.iterations == 0 || report.bytes <= 0) return 0;
  const double bytes = report.bytes / report.iterations;
  return measure_read_bandwidth(ctx, static_cast<std::size_t>(std::clamp(bytes, 1e5, 1e9)));
}

template <class V>
void write_solution(const std::string& path, const Vector<V>& x) {
  if (path.ends_with(".cnc"))
    write_cache(path, Vector<const V>(x));
  else
    write_vector(path, Vector<const V>(x));
}

template <class V, class Exec>
SolveOutcome solve_in(Context<Exec>& ctx, const std::string& source, const CsrMatrix<V>& A,
                      SolveRequest request) {
  using Space = typename Exec::memory_space;
  const Vector<V> b = right_hand_side(request.rhs, A);
  const Vector<V> x0 = request.x0 == "zero"
                           ? zeroed<V>("x", static_cast<std::size_t>(A.cols))
                           : vector_from_file<V>(request.x0, "start vector", A.cols,
                                                 A.rows == A.cols ? "rows" : "columns");
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
  Vector<V, Space> start_vector;
  if (request.repeat > 1) {
    start_vector = zeroed<V, Space>("x0", x0.extent(0));
    Kokkos::deep_copy(start_vector, solution);
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
  const double start = now();
  solver.prepare(matrix);
  ctx.fence();
  outcome.prepare_seconds = now() - start;
  const double solve_start = now();
  outcome.report = solver.solve(rhs, solution);
  outcome.repeats.first_seconds = now() - solve_start;
  line.clear();
  outcome.advice = solver.advice();
  if (automatic) outcome.preconditioner_choice = automatic->choice();
  if (amg && (!automatic || automatic->taken() == amg)) outcome.hierarchy = amg->hierarchy();
  const Vector<V> x = copy_to<HostSpace>(solution);
  if (!request.output.empty()) write_solution(request.output, x);
  if (request.rhs == "a-times-ones") outcome.error = distance_from_ones(x);
  if (request.repeat > 1) {
    line.show("  repeating ...");
    measure_repeats(ctx, solver, matrix, A, rhs, solution, start_vector, request, outcome);
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
    SolveRequest own = request;
    if (request.precision == Precision::f32)
      return solve_in(ctx, matrix.name, convert_values<float>(matrix.A), own);
    if (request.precision == Precision::f32_f64) own.options.storage = StoragePrecision::f32;
    return solve_in(ctx, matrix.name, matrix.A, own);
  });
}

}  // namespace cnc::cli
