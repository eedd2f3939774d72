#include "nl/engine.hpp"

#include <cnc/copy.hpp>
#include <cnc/least_squares.hpp>
#include <cnc/relaxation.hpp>

#include "add_sentence.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <vector>

namespace cnc::nl {
namespace {

/// A preconditioner that is a function of the caller's, on the host.
template <class Exec>
class FunctionPreconditioner final : public PreconditionerBase<double, Exec> {
 public:
  using typename PreconditionerBase<double, Exec>::Space;
  explicit FunctionPreconditioner(MatrixFunction function) : function_(function) {}
  std::string name() const override { return "function"; }
  double bytes(index_t, offset_t) const override { return 0; }
  PreconditionerSetup set_up(cnc::Context<Exec>&, const CsrMatrix<double, Space>&,
                             const Matrix<double, Space>&) override {
    return {};
  }
  void apply(const cnc::Context<Exec>&, const Vector<const double, Space>& r,
             const Vector<double, Space>& z) const override {
    function_(r.data(), z.data());
  }

 private:
  MatrixFunction function_;
};

/// Statuses after which another method may still find an answer.
bool calls_for_another(SolveStatus status) {
  return status == SolveStatus::breakdown || status == SolveStatus::diverged ||
         status == SolveStatus::not_positive_definite || status == SolveStatus::unsuitable;
}

/// Whether x is the best that can be had, or was had within the limit.
bool is_answer(SolveStatus status) {
  return status == SolveStatus::converged || status == SolveStatus::max_iterations ||
         status == SolveStatus::stagnated;
}

void add(Outcome& outcome, const SolveReport& report, NLuint system) {
  outcome.converged = outcome.converged && report.converged();
  outcome.has_answer = outcome.has_answer && is_answer(report.status);
  outcome.iterations = std::max(outcome.iterations, report.iterations);
  outcome.flops += report.flops;
  const double error =
      report.rhs_norm > 0 ? report.true_residual / report.rhs_norm : report.true_residual;
  if (!(error <= outcome.error)) outcome.error = error;
  if (report.converged()) return;
  detail::add_sentence(outcome.text,
                       "system " + std::to_string(system) + ": " + to_string(report.status));
  if (!report.detail.empty()) outcome.text += ", " + report.detail;
}

template <class Exec>
class EngineOn final : public Engine {
 public:
  using Space = typename Exec::memory_space;

  Outcome solve(const Request& request) override {
    SolveOptions options = options_of(request);
    if (!setup_ || !(*setup_ == request.setup)) make_solver(request.setup, options);
    set_options(options);
    set_matrix(request);
    load(request);
    std::vector<SolveReport> reports = solve_all(request, options);
    for (NLuint k = 0; k < request.systems; ++k)
      if (solver_ && calls_for_another(reports[k].status))
        reports[k] = solve_otherwise(request, options, k, reports[k]);
    store(request);
    Outcome outcome;
    outcome.converged = true;
    for (NLuint k = 0; k < request.systems; ++k) add(outcome, reports[k], k);
    return outcome;
  }

 private:
  using Columns = Kokkos::View<double**, Kokkos::LayoutLeft, Space>;

  static SolveOptions options_of(const Request& request) {
    SolveOptions options;
    options.method = request.setup.method;
    options.restart = request.setup.restart;
    options.format = request.setup.format;
    options.storage = request.setup.storage;
    options.preconditioner = request.setup.preconditioner == NL_PRECOND_JACOBI
                                 ? PreconditionerKind::jacobi
                                 : PreconditionerKind::none;
    options.rtol = request.threshold;
    options.max_iterations = request.max_iterations;
    options.allow_nonsymmetric = true;
    options.record_history = false;
    return options;
  }

  std::shared_ptr<PreconditionerBase<double, Exec>> preconditioner(const Setup& setup) const {
    if (setup.preconditioner_function != nullptr)
      return std::make_shared<FunctionPreconditioner<Exec>>(setup.preconditioner_function);
    if (setup.preconditioner != NL_PRECOND_SSOR) return nullptr;
    return std::make_shared<Relaxation<double, Exec>>(
        RelaxationOptions{RelaxationKind::ssor, setup.omega});
  }

  void make_solver(const Setup& setup, const SolveOptions& options) {
    setup_.reset();
    solver_.reset();
    least_squares_.reset();
    const auto given = preconditioner(setup);
    if (setup.least_squares) {
      const bool may_choose = setup.method == Method::pcg && given == nullptr &&
                              setup.format == FormatSpec{} &&
                              setup.storage == StoragePrecision::as_vectors;
      least_squares_.emplace(
          ctx_, options,
          may_choose ? LeastSquaresMethod::automatic : LeastSquaresMethod::normal_equations);
      if (given != nullptr) least_squares_->set_preconditioner(given);
    } else {
      solver_.emplace(ctx_, options);
      if (given != nullptr) solver_->set_preconditioner(given);
    }
    is_prepared_ = false;
    setup_ = setup;
  }

  /// Prepares, or refreshes values.
  void set_matrix(const Request& request) {
    if (request.setup.matrix_function != nullptr) {
      if (!is_prepared_) solver_->prepare(operator_of(request.setup));
      is_prepared_ = true;
      return;
    }
    const bool has_pattern = is_prepared_ && pattern_version_ == request.pattern_version;
    if (has_pattern && value_version_ == request.value_version) return;
    is_prepared_ = false;
    if (has_pattern && !detail::is_host_space<Space>)
      Kokkos::deep_copy(matrix_.values, request.matrix->values);
    else
      matrix_ = copy_to<Space>(*request.matrix);
    if (least_squares_)
      has_pattern ? least_squares_->update_values(matrix_) : least_squares_->prepare(matrix_);
    else
      has_pattern ? solver_->update_values(matrix_) : solver_->prepare(matrix_);
    pattern_version_ = request.pattern_version;
    value_version_ = request.value_version;
    is_prepared_ = true;
  }

  static LinearOperator<double, Space> operator_of(const Setup& setup) {
    LinearOperator<double, Space> A;
    A.rows = setup.unknowns;
    A.apply = [function = setup.matrix_function](const auto& x, const auto& y) {
      function(x.data(), y.data());
    };
    return A;
  }

  /// On the host the solver works on the caller's columns, on a device on copies.
  void load(const Request& request) {
    const auto rows = static_cast<std::size_t>(request.rows);
    const auto n = static_cast<std::size_t>(request.setup.unknowns);
    const MultiVector<const double> b(
        request.b, Kokkos::LayoutStride(rows, request.b_stride, request.systems, request.b_next));
    const MultiVector<double> x(request.x, Kokkos::LayoutStride(n, 1, request.systems, n));
    if constexpr (detail::is_host_space<Space>) {
      b_ = b;
      x_ = x;
    } else {
      b_copy_ = columns("nl::b", rows, request.systems);
      x_copy_ = columns("nl::x", n, request.systems);
      const auto staged = Kokkos::create_mirror_view(b_copy_);
      for (std::size_t k = 0; k < request.systems; ++k)
        for (std::size_t i = 0; i < rows; ++i) staged(i, k) = b(i, k);
      Kokkos::deep_copy(b_copy_, staged);
      Kokkos::deep_copy(x_copy_, packed(request));
      b_ = decltype(b_)(b_copy_.data(), Kokkos::LayoutStride(rows, 1, request.systems, rows));
      x_ = decltype(x_)(x_copy_.data(), Kokkos::LayoutStride(n, 1, request.systems, n));
    }
  }
  void store(const Request& request) {
    if constexpr (!detail::is_host_space<Space>) Kokkos::deep_copy(packed(request), x_copy_);
  }

  static auto packed(const Request& request) {
    return Kokkos::View<double**, Kokkos::LayoutLeft, HostSpace,
                        Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
        request.x, static_cast<std::size_t>(request.setup.unknowns), request.systems);
  }
  static Columns columns(const std::string& label, std::size_t rows, std::size_t count) {
    return detail::allocated<Space>(label, rows * count * sizeof(double),
                                    [&] { return Columns(label, rows, count); });
  }
  /// One that is contiguous.
  template <class T>
  static Vector<T, Space> column(const MultiVector<T, Space>& all, NLuint k) {
    return wrap<Space>(all.data() + k * all.stride(1), static_cast<index_t>(all.extent(0)));
  }

  void set_options(const SolveOptions& options) {
    if (solver_) solver_->set_options(options);
    if (least_squares_) least_squares_->set_options(options);
  }

  /// Side by side, where nothing is to be told of iterations; what meets the limit is then solved again for itself.
  std::vector<SolveReport> solve_all(const Request& request, const SolveOptions& options) {
    std::vector<SolveReport> reports;
    if (request.systems == 1 || request.callback) {
      for (NLuint k = 0; k < request.systems; ++k)
        reports.push_back(solve_to_limit(request, options, k));
      return reports;
    }
    start_.assign(request.x, request.x + x_.extent(0) * x_.extent(1));
    reports = solver_ ? solver_->solve(b_, x_) : least_squares_->solve(b_, x_);
    for (NLuint k = 0; k < request.systems; ++k) {
      if (reports[k].status != SolveStatus::max_iterations) continue;
      const auto start = wrap<>(start_.data() + k * x_.extent(0), column(x_, k).extent(0));
      Kokkos::deep_copy(column(x_, k), start);
      reports[k] = solve_to_limit(request, options, k);
    }
    return reports;
  }

  /// x at the limit of iterations is that of the last one, not that with the least residual.
  SolveReport solve_to_limit(const Request& request, SolveOptions options, NLuint k) {
    options.callback = [&request](const Progress& progress) -> CallbackAction {
      if (request.callback) request.callback(progress);
      return progress.iteration < request.max_iterations ? CallbackAction::proceed
                                                         : CallbackAction::accept;
    };
    options.callback_interval = request.callback_interval;
    set_options(options);
    SolveReport report = solve_one(k);
    if (!(report.true_residual <= report.tolerance) && report.converged())
      report.status = SolveStatus::max_iterations;
    options.callback = {};
    set_options(options);
    return report;
  }

  SolveReport solve_one(NLuint k) {
    if (solver_) return solver_->solve(column(b_, k), column(x_, k));
    return least_squares_->solve(only(b_, k), only(x_, k)).front();
  }
  /// A column as a view of one.
  template <class T>
  static MultiVector<T, Space> only(const MultiVector<T, Space>& all, NLuint k) {
    return MultiVector<T, Space>(
        all.data() + k * all.stride(1),
        Kokkos::LayoutStride(all.extent(0), all.stride(0), 1, all.stride(1)));
  }

  /// A method that was named cannot go on: one for any matrix takes over from the best x reached.
  SolveReport solve_otherwise(const Request& request, SolveOptions options, NLuint k,
                              const SolveReport& first) {
    options.method = Method::automatic;
    options.max_iterations = std::max(request.max_iterations - first.iterations, index_t{1});
    options.format = {};
    options.storage = StoragePrecision::as_vectors;
    Solver<double, Exec> other(ctx_, options);
    if (const auto given = preconditioner(request.setup)) other.set_preconditioner(given);
    if (request.setup.matrix_function != nullptr)
      other.prepare(operator_of(request.setup));
    else
      other.prepare(matrix_);
    SolveReport report = other.solve(column(b_, k), column(x_, k));
    report.iterations += first.iterations;
    report.flops += first.flops;
    if (!is_answer(report.status) && report.detail.empty()) report.detail = first.detail;
    return report;
  }

  cnc::Context<Exec> ctx_{"auto"};
  std::optional<Setup> setup_;
  std::optional<Solver<double, Exec>> solver_;
  std::optional<LeastSquaresSolver<double, Exec>> least_squares_;
  CsrMatrix<double, Space> matrix_;  ///< as it was given to the solver
  bool is_prepared_ = false;
  std::uint64_t pattern_version_ = 0, value_version_ = 0;
  MultiVector<const double, Space> b_;
  MultiVector<double, Space> x_;
  Columns b_copy_, x_copy_;  ///< on a device
  std::vector<double> start_;
};

}  // namespace

std::unique_ptr<Engine> make_host_engine() {
  return std::make_unique<EngineOn<Kokkos::DefaultHostExecutionSpace>>();
}

std::unique_ptr<Engine> make_device_engine() {
  using Device = Kokkos::DefaultExecutionSpace;
  if constexpr (detail::is_host_space<Device::memory_space>)
    return nullptr;
  else
    return std::make_unique<EngineOn<Device>>();
}

}  // namespace cnc::nl
