#pragma once

#include "harness/bench.hpp"
#include "harness/check.hpp"
#include "harness/krylov_solves.hpp"
#include "harness/operation_systems.hpp"

#include <cnc/blas1.hpp>
#include <cnc/copy.hpp>
#include <cnc/spmv.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cnc::perf {

// The operations of the Concurrent Number Cruncher, timed for one matrix in every format by every backend of a memory.

/// An operation of a backend on a system.
struct OperationLine {
  std::string system, operation, precision, memory, backend, format, form;
  bool peer = false;       ///< somebody else's library
  bool automatic = false;  ///< of the backend that `auto` takes
  double rows = 0, nonzeros = 0;
  double fill = 0;  ///< nonzeros over stored values; 0: no matrix
  Cost cost;
  double error = 0;      ///< against the reference
  double bandwidth = 0;  ///< bytes per second read from a working set of the same size
  Samples samples;

  double gflops() const { return cost.flops / samples.median() * 1e-9; }
  double gigabytes() const { return cost.bytes / samples.median() * 1e-9; }
  /// Share of a rate that is the best of many, by the best turn.
  double share_of_flops(double peak) const { return cost.flops / samples.fastest() / peak; }
  double share_of_bytes(double peak) const { return cost.bytes / samples.fastest() / peak; }
};

struct OperationOptions {
  BenchOptions bench;
  std::vector<FormatSpec> formats;  ///< those that a matrix fits
};

/// One context for each usable backend of Exec's memory that is wanted; those that are no variants where none is named.
template <class Exec>
std::vector<std::unique_ptr<Context<Exec>>> usable_contexts(const BenchOptions& options) {
  std::vector<std::unique_ptr<Context<Exec>>> contexts;
  const auto& names = options.backends;
  for (const Backend* backend : backends()) {
    const bool wanted = names.empty()
                            ? options.variants || !backend->variant
                            : std::find(names.begin(), names.end(), backend->name) != names.end();
    if (wanted && backend->memory == Context<Exec>::memory && availability_of(*backend).usable)
      contexts.push_back(std::make_unique<Context<Exec>>(
          *backend, Context<Exec>::memory == MemorySpace::host ? options.threads : 0));
  }
  return contexts;
}

inline const char* name_of(MemorySpace memory) {
  return memory == MemorySpace::host ? "host" : "device";
}

template <class M, class Space>
double stored_values(const Matrix<M, Space>& A) {
  return std::visit([](const auto& a) { return static_cast<double>(a.values.extent(0)); }, A);
}

/// Measures one system in one precision in the memory of Exec.
template <class V, class Exec>
class OperationMeasurement {
  using Space = typename Exec::memory_space;
  using Layout = Matrix<V, Space>;
  struct Candidate {
    OperationLine line;
    Turn turn;
  };

 public:
  OperationMeasurement(const std::vector<std::unique_ptr<Context<Exec>>>& contexts,
                       const MeasuredSystem& system, const OperationOptions& options)
      : contexts_(contexts),
        system_(system),
        options_(options),
        host_(convert_values<V>(system.A)),
        A_(copy_to<Space>(host_)) {}

  std::vector<OperationLine> measure() {
    measure_vectors();
    for (const FormatSpec& format : options_.formats)
      layouts_.emplace_back(format, std::make_shared<const Layout>(build_format(A_, format)));
    measure_products();
    measure_iterations();
    return std::move(lines_);
  }

 private:
  OperationLine line_of(const Context<Exec>& ctx, const char* operation) const {
    const Backend& backend = ctx.backend();
    OperationLine line;
    line.system = system_.name;
    line.operation = operation;
    line.precision = std::is_same_v<V, float> ? "f32" : "f64";
    line.memory = name_of(Context<Exec>::memory);
    line.backend = backend.name;
    line.peer = backend.baseline;
    line.automatic = is_automatic(backend);
    line.rows = static_cast<double>(host_.rows);
    line.nonzeros = static_cast<double>(host_.nonzeros);
    return line;
  }

  void tell_of(const char* operation) const {
    tell(system_.name + ", " + operation + ", " + (sizeof(V) == 4 ? "f32" : "f64") + ", " +
         name_of(Context<Exec>::memory));
  }

  /// Lets them take turns, between two measurements of the bandwidth for each number of bytes.
  void contest(std::vector<Candidate> candidates) {
    if (candidates.empty()) return;
    std::vector<Turn> turns;
    for (const Candidate& candidate : candidates) turns.push_back(candidate.turn);
    const double bytes = candidates.front().line.cost.bytes;
    const auto bandwidth = [&] {
      return bandwidth_at(bytes, options_.bench, Context<Exec>::memory);
    };
    const double before = bandwidth();
    std::vector<Samples> samples = measure_interleaved(turns, options_.bench.measure);
    const double best = std::max(before, bandwidth());
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      candidates[i].line.samples = std::move(samples[i]);
      candidates[i].line.bandwidth = best;
      lines_.push_back(std::move(candidates[i].line));
    }
  }

  void measure_vectors() {
    const index_t n = host_.rows;
    const auto x = copy_to<Space>(random_vector<V>(n, 3)),
               y = copy_to<Space>(random_vector<V>(n, 4));
    const V alpha = V(0.0078125);
    const auto offered = [](const VectorOps<V>& ops, auto member) {
      return ops.*member != nullptr;
    };
    std::vector<Candidate> axpys, dots, norms;
    tell_of("vectors");
    for (const auto& ctx : contexts_) {
      const VectorOps<V>& ops = ctx->template vectors<V>();
      ctx->reserve(n);
      if (offered(ops, &VectorOps<V>::axpy)) {
        const auto z = copy_to<Space>(random_vector<V>(n, 5));
        add_vector_operation(
            *ctx, "axpy", 3, axpy_error(*ctx, alpha, x),
            [&ctx = *ctx, alpha, x, z] { axpy(ctx, alpha, x, z); }, axpys);
      }
      // What is timed is the sum, not the wait of the host for it.
      if (offered(ops, &VectorOps<V>::dot))
        add_vector_operation(
            *ctx, "dot", 2, sum_error(dot(*ctx, x, y), host_dot(x, y), n, *ctx),
            [&ctx = *ctx, &ops, n, x, y] {
              ops.dot(ctx.queue(), n, x.data(), y.data(), ctx.result_slot());
            },
            dots);
      if (offered(ops, &VectorOps<V>::nrm2))
        add_vector_operation(
            *ctx, "nrm2", 1, sum_error(nrm2(*ctx, x), std::sqrt(host_dot(x, x)), n, *ctx),
            [&ctx = *ctx, &ops, n, x] { ops.nrm2(ctx.queue(), n, x.data(), ctx.result_slot()); },
            norms);
    }
    contest(std::move(axpys));
    contest(std::move(dots));
    contest(std::move(norms));
  }

  template <class Operation>
  void add_vector_operation(const Context<Exec>& ctx, const char* name, double passes, double error,
                            const Operation& operation, std::vector<Candidate>& candidates) {
    OperationLine line = line_of(ctx, name);
    line.cost = cost::vectors(host_.rows, passes, 2, sizeof(V));
    line.error = error;
    candidates.push_back(
        {std::move(line), repeat_enqueued(
                              operation, [&ctx] { ctx.fence(); }, options_.bench.measure)});
  }

  /// Of z := alpha x + z.
  double axpy_error(Context<Exec>& ctx, V alpha, const Vector<V, Space>& x) const {
    const auto z = copy_to<Space>(random_vector<V>(host_.rows, 6));
    axpy(ctx, alpha, x, z);
    ctx.fence();
    const Vector<V> expected = random_vector<V>(host_.rows, 6),
                    from = random_vector<V>(host_.rows, 3);
    const Vector<double> exact("expected", expected.extent(0));
    for (std::size_t i = 0; i < exact.extent(0); ++i)
      exact(i) = static_cast<double>(alpha) * static_cast<double>(from(i)) +
                 static_cast<double>(expected(i));
    return check_close(exact, copy_to<HostSpace>(z),
                       4 * static_cast<double>(std::numeric_limits<V>::epsilon()),
                       std::string(ctx.backend().name) + " axpy");
  }

  double host_dot(const Vector<V, Space>& x, const Vector<V, Space>& y) const {
    Context<> reference("reference");
    return dot(reference, copy_to<HostSpace>(x), copy_to<HostSpace>(y));
  }

  /// A sum of n products of random signs is about sqrt(n). Ours are taken in double; libraries sum floats in float, with a
  /// rounding of at most eps n.
  double sum_error(double found, double expected, index_t n, const Context<Exec>& ctx) const {
    const double error = std::abs(found - expected) / std::max(static_cast<double>(n), 1.0);
    const double allowed = ctx.backend().baseline
                               ? std::sqrt(static_cast<double>(n)) *
                                     static_cast<double>(std::numeric_limits<V>::epsilon())
                               : 1e-13;
    if (!(error <= allowed))
      throw Error(std::string("wrong sum of ") + ctx.backend().name + ": " + std::to_string(found) +
                  " instead of " + std::to_string(expected));
    return error;
  }

  void measure_products() {
    tell_of("spmv");
    constexpr std::uint64_t seed = 1;
    const ExpectedProduct expected = expected_product(host_, seed);
    const auto x = copy_to<Space>(random_vector<V>(host_.cols, seed));
    std::vector<Candidate> candidates;
    for (const auto& [format, layout] : layouts_)
      for (const auto& ctx : contexts_)
        if (takes(ctx->backend(), format))
          add_product(*ctx, format, layout, x, expected, candidates);
    contest(std::move(candidates));
  }

  /// What a backend does not offer is left out.
  void add_product(const Context<Exec>& ctx, const FormatSpec& format,
                   const std::shared_ptr<const Layout>& A, const Vector<V, Space>& x,
                   const ExpectedProduct& expected, std::vector<Candidate>& candidates) {
    OperationLine line = line_of(ctx, "spmv");
    line.format = format.text();
    line.fill = line.nonzeros / stored_values(*A);
    line.cost = spmv_cost(*A, sizeof(V));
    const auto y = zeroed<V, Space>("y", static_cast<std::size_t>(host_.rows));
    const auto plan = std::make_shared<std::unique_ptr<MatrixPlan>>();
    const auto product = [&ctx, A, plan, x, y] { spmv(ctx, V(1), *A, x, V(0), y, plan->get()); };
    try {
      *plan = plan_spmv<V>(ctx, *A);
      product();
    } catch (const UnsupportedOperation&) {
      return;
    }
    ctx.fence();
    line.error = check_product(expected, copy_to<HostSpace>(y), line.backend + " " + line.format);
    candidates.push_back(
        {std::move(line), repeat_enqueued(
                              product, [&ctx] { ctx.fence(); }, options_.bench.measure)});
  }

  void measure_iterations() {
    if (system_.lengths.longer == 0) return;
    tell_of("pcg");
    std::vector<Candidate> candidates;
    for (const auto& [format, layout] : layouts_)
      for (const auto& ctx : contexts_)
        if (takes(ctx->backend(), format)) add_iteration(*ctx, format, *layout, candidates);
    contest(std::move(candidates));
  }

  void add_iteration(Context<Exec>& ctx, const FormatSpec& format, const Layout& A,
                     std::vector<Candidate>& candidates) {
    OperationLine line = line_of(ctx, "pcg");
    line.format = format.text();
    line.fill = line.nonzeros / stored_values(A);
    SolveOptions options = endless(Method::pcg, PreconditionerKind::jacobi, 0);
    options.max_iterations = system_.lengths.shorter;
    const auto solver = std::make_shared<Solver<V, Exec>>(ctx, options);
    const Vector<const V, Space> b = copy_to<Space>(random_vector<V>(host_.rows, 2));
    const auto x = zeroed<V, Space>("x", b.extent(0));
    SolveReport report;
    try {
      solver->prepare(A);
      report = solver->solve(b, x);
    } catch (const UnsupportedOperation&) {
      return;
    }
    line.form = to_string(report.form);
    line.cost = {report.bytes / report.iterations, report.flops / report.iterations};
    line.error = check_number(system_.short_residual, report.recurrence_residual,
                              sizeof(V) == 4 ? 1e-2 : 1e-6, line.backend + " pcg " + line.format);
    const auto solve = [solver, options, b, x](index_t iterations) {
      SolveOptions limited = options;
      limited.max_iterations = iterations;
      solver->set_options(limited);
      Kokkos::deep_copy(x, V(0));
      const double start = now();
      if (solver->solve(b, x).iterations != iterations)
        throw Error("operations_bench: a solve ended before its limit");
      return now() - start;
    };
    candidates.push_back(
        {std::move(line), iteration_turn(solve, system_.lengths, options_.bench.measure)});
  }

  const std::vector<std::unique_ptr<Context<Exec>>>& contexts_;
  const MeasuredSystem& system_;
  const OperationOptions& options_;
  CsrMatrix<V> host_;
  CsrMatrix<V, Space> A_;
  std::vector<std::pair<FormatSpec, std::shared_ptr<const Layout>>> layouts_;
  std::vector<OperationLine> lines_;
};

}  // namespace cnc::perf
