#pragma once

#include "harness/operations.hpp"

#include <optional>

namespace cnc::perf {

/// A solve from a CSR matrix and a right-hand side in host memory to an x in host memory, by its parts: medians, in seconds.
struct SolveLine {
  std::string system, precision, memory, backend, format, form, status;
  double assembly = 0;  ///< of the matrix, by this program; 0: it was given
  double copy =
      0;  ///< of matrix and right-hand side to a device, and of x back; hosts copy nothing
  double prepare = 0;  ///< check, layout, preconditioner, vectors
  double solve =
      0;  ///< Solver::solve: residuals of the matrix given, iterations, what the host looks at
  double iteration = 0;  ///< of one, between the first and the last look of the host
  index_t iterations = 0;
  double residual = 0;          ///< of the x returned, over ||b||, with the matrix given
  std::vector<double> history;  ///< residual over ||b||, from x = 0 on

  double iterating() const { return iteration * iterations; }
  double whole() const { return copy + prepare + solve; }
  /// Share of Solver::solve that is not iterations.
  double overhead_of_solve() const { return 1 - iterating() / solve; }
  /// The same of the whole, with the preparation and the copies.
  double overhead_of_whole() const { return 1 - iterating() / whole(); }
};

struct WholeSolveOptions {
  double rtol = 1e-5;
  index_t iterations = 1000;  ///< at most
  int repeats = 3;            ///< at most
  double seconds = 10;        ///< no further repeat after these
};

/// The parts of one repeat.
struct SolveParts {
  double copy = 0, prepare = 0, solve = 0, iteration = 0;
};

/// Seconds of an iteration, from what the host sees at its looks; NaN with less than two.
class Looks {
 public:
  CallbackAction operator()(const Progress& progress) {
    if (!first_) first_ = progress;
    last_ = progress;
    return true;
  }
  double seconds_per_iteration() const {
    if (!first_ || last_->iteration == first_->iteration)
      return std::numeric_limits<double>::quiet_NaN();
    return (last_->seconds - first_->seconds) / (last_->iteration - first_->iteration);
  }

 private:
  std::optional<Progress> first_, last_;
};

/// Solves again and again, with a solver and copies made anew.
template <class V, class Exec>
SolveLine whole_solve(Context<Exec>& ctx, const MeasuredSystem& system, const CsrMatrix<V>& A,
                      const Vector<V>& b, const FormatSpec& format,
                      const WholeSolveOptions& whole) {
  using Space = typename Exec::memory_space;
  SolveOptions options;
  options.method = Method::pcg;
  options.format = format;
  options.storage = StoragePrecision::as_vectors;  // what the figures say
  options.rtol = whole.rtol;
  options.divergence = std::numeric_limits<double>::max();
  options.max_iterations = whole.iterations;
  SolveReport report;
  const auto once = [&] {
    SolveParts parts;
    const auto looks = std::make_shared<Looks>();
    options.callback = [looks](const Progress& progress) { return (*looks)(progress); };
    // The host looks after 256 iterations: too seldom for a solve of few, which is told to look four times.
    options.callback_interval = report.iterations < 768 ? report.iterations / 4 : 0;
    const double start = now();
    const auto there = copy_to<Space>(A);
    const Vector<const V, Space> right = copy_to<Space>(b);
    ctx.fence();
    const double copied = now();
    Solver<V, Exec> solver(ctx, options);
    solver.prepare(there);
    ctx.fence();
    const double prepared = now();
    const auto x = zeroed<V, Space>("x", b.extent(0));
    const double began = now();
    report = solver.solve(right, x);
    const double solved = now();
    (void)copy_to<HostSpace>(x);
    parts.copy = copied - start + (now() - solved);
    parts.prepare = prepared - copied + (began - prepared);
    parts.solve = solved - began;
    parts.iteration = looks->seconds_per_iteration();
    return parts;
  };
  std::vector<SolveParts> repeats;
  // A first one tells how many iterations there are, and is not timed.
  double spent = once().solve;
  while (repeats.empty() ||
         (static_cast<int>(repeats.size()) < whole.repeats && spent < whole.seconds)) {
    repeats.push_back(once());
    spent += repeats.back().solve;
  }
  const auto median = [&](double SolveParts::*part) {
    std::vector<double> values;
    for (const SolveParts& parts : repeats) values.push_back(parts.*part);
    return median_of(std::move(values));
  };
  SolveLine line;
  line.system = system.name;
  line.precision = std::is_same_v<V, float> ? "f32" : "f64";
  line.memory = name_of(Context<Exec>::memory);
  line.backend = report.backend;
  line.format = report.format;
  line.form = to_string(report.form);
  line.status = to_string(report.status);
  line.assembly = system.assembly;
  line.copy = median(&SolveParts::copy);
  line.prepare = median(&SolveParts::prepare);
  line.solve = median(&SolveParts::solve);
  line.iteration = median(&SolveParts::iteration);
  line.iterations = report.iterations;
  line.residual = report.true_residual / report.rhs_norm;
  for (const double residual : report.history) line.history.push_back(residual / report.rhs_norm);
  return line;
}

/// In CSR by every backend of ours, which shows how their residuals differ; in the other formats by the automatic one.
template <class V, class Exec>
std::vector<SolveLine> whole_solves(const std::vector<std::unique_ptr<Context<Exec>>>& contexts,
                                    const MeasuredSystem& system,
                                    const std::vector<FormatSpec>& formats,
                                    const WholeSolveOptions& options) {
  const CsrMatrix<V> A = convert_values<V>(system.A);
  const Vector<V> b("b", system.b.extent(0));
  for (std::size_t i = 0; i < b.extent(0); ++i) b(i) = static_cast<V>(system.b(i));
  std::vector<SolveLine> lines;
  for (const auto& ctx : contexts)
    for (const FormatSpec& format : formats) {
      if (ctx->backend().baseline || (format.name != "csr" && !is_automatic(ctx->backend())))
        continue;
      tell(system.name + ", solve by " + ctx->backend().name + " in " + format.text() +
           (sizeof(V) == 4 ? ", f32" : ", f64"));
      lines.push_back(whole_solve<V>(*ctx, system, A, b, format, options));
    }
  return lines;
}

}  // namespace cnc::perf
