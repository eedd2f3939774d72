#include <cnc/least_squares.hpp>

#include "convert/settled.hpp"
#include "solve/criterion.hpp"
#include "solve/normal_equations.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

namespace cnc {
namespace {

struct NamedMethod {
  LeastSquaresMethod method;
  const char* name;
};
constexpr NamedMethod named_methods[] = {
    {LeastSquaresMethod::automatic, "auto"},
    {LeastSquaresMethod::lsqr, "lsqr"},
    {LeastSquaresMethod::cgnr, "cgnr"},
    {LeastSquaresMethod::normal_equations, "normal-equations"}};

/// A^T A is not even tried where it takes more multiplications per entry of A.
constexpr offset_t largest_work = 32;
/// It serves where it has at most so many entries per entry of A and A^T together: the vectors of lsqr and its second product
/// cost as much as the rest.
constexpr double largest_growth = 1.5;
/// The normal equations are solved this much further than asked for: A^T A is rounded, A has the last word.
constexpr double further = 0.98;

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Whether the caller or a limit has ended a solve: then nothing goes on.
bool ended_by_limit(SolveStatus status) {
  return status == SolveStatus::max_iterations || status == SolveStatus::time_limit ||
         status == SolveStatus::stopped;
}

/// The report of the normal equations' solve, whose residuals are those of A as lsqr found them.
SolveReport joined(SolveReport first, const SolveReport& last, const std::string& choice) {
  SolveReport report = last;
  if (ended_by_limit(first.status) && !last.converged()) {
    report.status = first.status;
    report.detail = first.detail;
  }
  report.iterations += first.iterations;
  report.initial_residual = first.initial_residual;
  report.restarts += first.restarts;
  report.bytes += first.bytes;
  report.flops += first.flops;
  report.backend_calls += first.backend_calls;
  report.host_synchronisations += first.host_synchronisations;
  if (!first.history.empty()) {
    if (!last.history.empty())
      first.history.insert(first.history.end(), last.history.begin() + 1, last.history.end());
    report.history = std::move(first.history);
  }
  report.choice = choice;
  if (!first.choice.empty()) report.choice += "; " + first.choice;
  if (last.iterations > 0) {
    report.choice += std::string("; it ended as ") + to_string(first.status) + " after " +
                     std::to_string(first.iterations) + " iterations, then lsqr";
    return report;
  }
  report.recurrence_residual = first.recurrence_residual;
  report.format = first.format;
  report.preconditioner = first.preconditioner;
  report.form = first.form;
  report.method = first.method;
  return report;
}

}  // namespace

const char* to_string(LeastSquaresMethod method) {
  for (const NamedMethod& known : named_methods)
    if (known.method == method) return known.name;
  return "unknown";
}

LeastSquaresMethod parse_least_squares_method(std::string_view text) {
  std::string name(text), known_names;
  std::replace(name.begin(), name.end(), '_', '-');
  for (const NamedMethod& known : named_methods) {
    if (name == known.name) return known.method;
    known_names += (known_names.empty() ? "" : ", ") + std::string(known.name);
  }
  throw InvalidArgument("unknown least squares method '" + std::string(text) +
                        "' (known: " + known_names + ")");
}

template <class V, class Exec>
struct LeastSquaresSolver<V, Exec>::State {
  using Columns = Kokkos::View<V**, Kokkos::LayoutLeft, Space>;

  Context<Exec>* ctx;
  SolveOptions options;
  LeastSquaresMethod asked;
  LeastSquaresMethod method = LeastSquaresMethod::automatic;  ///< the one in use, when prepared
  bool prepared = false;
  detail::NormalEquations<V, Exec> equations;
  std::optional<Solver<V, Exec>> normal;  ///< none of lsqr
  std::optional<Solver<V, Exec>> lsqr;    ///< all of it, or the last word
  std::shared_ptr<PreconditionerBase<V, Exec>> given;
  CsrMatrix<V, Space> pattern;  ///< as it was given
  Columns right;                ///< A^T b
  std::string choice;
  std::vector<std::string> advice;

  const Exec& exec() const { return ctx->execution_space_instance(); }

  static void check(const SolveOptions& o) {
    require(o.null_space == NullSpace::none && !detail::has_criterion(o),
            "LeastSquaresSolver: A^T (b - A x) decides by its 2-norm, and there is no null space; "
            "leave norm, components and null_space alone");
  }

  SolveOptions for_normal() const {
    SolveOptions o = options;
    if (o.method == Method::automatic) o.method = Method::pcg;
    o.rtol *= further;
    o.atol *= further;
    o.copy_matrix = false;
    if (method == LeastSquaresMethod::cgnr) {
      o.format = {};
      o.storage = StoragePrecision::as_vectors;
      o.reordering = Reordering::none;
      o.preconditioner = PreconditionerKind::none;  // it comes as an object
    }
    return o;
  }
  SolveOptions for_lsqr() const {
    SolveOptions o = options;
    o.method = Method::lsqr;
    o.copy_matrix = false;
    if (method != LeastSquaresMethod::lsqr) {
      o.format = {"csr", 1};
      o.storage = StoragePrecision::as_vectors;
      o.reordering = Reordering::none;
      o.form = SolveForm::automatic;
    }
    return o;
  }

  /// Decides, and says why.
  void choose() {
    method = asked;
    const auto& A = equations.matrix;
    const auto entries = [](const CsrMatrix<V, Space>& m) { return std::to_string(m.blocks()); };
    if (asked == LeastSquaresMethod::normal_equations) {
      equations.form(exec());
      choice = "normal equations, as asked for";
    }
    if (asked != LeastSquaresMethod::automatic) return;
    method = LeastSquaresMethod::lsqr;
    const offset_t work = detail::normal_work(exec(), A);
    if (work > largest_work * A.blocks()) {
      choice = "lsqr: A^T A would take " + std::to_string(work) + " multiplications";
      return;
    }
    equations.form(exec());
    const std::string sizes = "A^T A has " + entries(equations.normal) +
                              " entries, A and A^T have " + entries(A) + " each";
    if (static_cast<double>(equations.normal.blocks()) <=
        largest_growth * 2 * static_cast<double>(A.blocks())) {
      method = LeastSquaresMethod::normal_equations;
      choice = "normal equations: " + sizes;
    } else {
      equations.normal = {};
      choice = "lsqr: " + sizes;
    }
  }

  void prepare(CsrMatrix<V, Space> A) {
    prepared = false;
    check(options);
    const InstanceScope scope(exec());
    const detail::Settled settled;
    A.checked = options.trusted ? Checked::ascending : detail::require_csr(A);
    if (options.copy_matrix) A = detail::cloned(A);
    pattern = A;
    equations.set_up(exec(), A);
    choose();
    advice.clear();
    if (!choice.empty()) advice.push_back(choice);
    lsqr.emplace(*ctx, for_lsqr());
    lsqr->prepare(equations.matrix);
    normal.reset();
    if (method != LeastSquaresMethod::lsqr) prepare_normal();
    prepared = true;
  }
  void prepare_normal() {
    normal.emplace(*ctx, for_normal());
    const auto rows = static_cast<std::size_t>(equations.matrix.rows);
    if (method == LeastSquaresMethod::normal_equations) {
      if (given) normal->set_preconditioner(given);
      normal->prepare(equations.normal);
      advice.insert(advice.end(), normal->advice().begin(), normal->advice().end());
      return;
    }
    normal->set_preconditioner(equations.preconditioner(options));
    normal->prepare(equations.as_operator(*ctx, zeroed<V, Space>("cnc::between", rows)));
  }

  void update_values(const CsrMatrix<V, Space>& A) {
    require(prepared, "LeastSquaresSolver: call prepare before update_values");
    const InstanceScope scope(exec());
    const detail::Settled settled;
    A.check_extents();
    require(detail::same_pattern(exec(), A, pattern),
            "LeastSquaresSolver: update_values needs the pattern of prepare");
    prepared = false;
    if (options.copy_matrix) {
      Kokkos::deep_copy(pattern.values, A.values);
      equations.refill(exec(), pattern);
    } else {
      equations.refill(exec(), A);
    }
    lsqr->update_values(equations.matrix);
    if (method == LeastSquaresMethod::normal_equations) normal->update_values(equations.normal);
    if (method == LeastSquaresMethod::cgnr)
      normal->set_preconditioner(equations.preconditioner(options));
    prepared = true;
  }

  /// right(:, c) := A^T b(:, c)
  void multiply_right_hand_sides(const MultiVector<const V, Space>& b) {
    const auto& A = equations.matrix;
    const auto count = b.extent(1), cols = static_cast<std::size_t>(A.cols);
    if (right.extent(0) != cols || right.extent(1) < count)
      right = detail::allocated<Space>("cnc::right", sizeof(V) * cols * count, [&] {
        return Columns(Kokkos::view_alloc("cnc::right", exec(), Kokkos::WithoutInitializing), cols,
                       count);
      });
    Vector<V, Space> whole;
    for (std::size_t c = 0; c < count; ++c) {
      const auto column = Kokkos::subview(b, Kokkos::ALL, c);
      Vector<const V, Space> contiguous(column.data(), column.extent(0));
      if (column.stride(0) != 1 && column.extent(0) > 1) {
        if (whole.extent(0) != column.extent(0))
          whole = zeroed<V, Space>("cnc::whole", column.extent(0));
        Kokkos::deep_copy(exec(), whole, column);
        contiguous = whole;
      }
      spmv(*ctx, V(1), equations.transpose(), contiguous, V(0),
           Vector<V, Space>(right.data() + c * right.stride(1), right.extent(0)));
    }
  }

  /// What lsqr may still do after the normal equations, to whose tolerance it holds.
  SolveOptions for_last_word(const SolveReport& first, double seconds) const {
    SolveOptions o = for_lsqr();
    if (first.tolerance > 0) {
      o.rtol = 0;
      o.atol = first.tolerance / further;
    }
    o.max_iterations = ended_by_limit(first.status)
                           ? 0
                           : std::max<index_t>(0, o.max_iterations - first.iterations);
    o.max_seconds = std::max(0.0, o.max_seconds - seconds);
    if (o.callback)
      o.callback = [call = options.callback, before = first.iterations](const Progress& progress) {
        Progress later = progress;
        later.iteration += before;
        return call(later);
      };
    return o;
  }

  std::vector<SolveReport> solve(const MultiVector<const V, Space>& b,
                                 const MultiVector<V, Space>& x) {
    require(prepared, "LeastSquaresSolver: call prepare before solve");
    const auto& A = equations.matrix;
    require(b.extent(0) == static_cast<std::size_t>(A.rows) &&
                x.extent(0) == static_cast<std::size_t>(A.cols) && b.extent(1) == x.extent(1),
            [&] {
              return "LeastSquaresSolver: the matrix is " + std::to_string(A.rows) + " x " +
                     std::to_string(A.cols) + ", b is " + std::to_string(b.extent(0)) + " x " +
                     std::to_string(b.extent(1)) + ", x " + std::to_string(x.extent(0)) + " x " +
                     std::to_string(x.extent(1));
            });
    if (method == LeastSquaresMethod::lsqr) {
      std::vector<SolveReport> reports = lsqr->solve(b, x);
      for (SolveReport& report : reports)
        if (!choice.empty()) report.choice = choice;
      return reports;
    }
    const InstanceScope scope(exec());
    const Stopwatch watch;
    multiply_right_hand_sides(b);
    std::vector<SolveReport> reports = normal->solve(
        Kokkos::subview(right, Kokkos::ALL, std::make_pair(std::size_t(0), b.extent(1))), x);
    const double together = watch.seconds();
    for (std::size_t c = 0; c < reports.size(); ++c) {
      const Stopwatch own;
      lsqr->set_options(for_last_word(reports[c], together));
      const SolveReport last =
          lsqr->solve(Kokkos::subview(b, Kokkos::ALL, std::make_pair(c, c + 1)),
                      Kokkos::subview(x, Kokkos::ALL, std::make_pair(c, c + 1)))[0];
      reports[c] = joined(std::move(reports[c]), last, choice.empty() ? "cgnr" : choice);
      reports[c].seconds = together / static_cast<double>(reports.size()) + own.seconds();
    }
    return reports;
  }
};

template <class V, class Exec>
LeastSquaresSolver<V, Exec>::LeastSquaresSolver(Context<Exec>& ctx, SolveOptions options,
                                                LeastSquaresMethod method)
    : state_(std::make_unique<State>()) {
  state_->ctx = &ctx;
  state_->asked = method;
  set_options(std::move(options));
}

template <class V, class Exec>
LeastSquaresSolver<V, Exec>::~LeastSquaresSolver() = default;
template <class V, class Exec>
LeastSquaresSolver<V, Exec>::LeastSquaresSolver(LeastSquaresSolver&&) noexcept = default;
template <class V, class Exec>
LeastSquaresSolver<V, Exec>& LeastSquaresSolver<V, Exec>::operator=(LeastSquaresSolver&&) noexcept =
    default;

template <class V, class Exec>
void LeastSquaresSolver<V, Exec>::prepare(const CsrMatrix<V, Space>& A) {
  state_->prepare(A);
}

template <class V, class Exec>
void LeastSquaresSolver<V, Exec>::update_values(const CsrMatrix<V, Space>& A) {
  state_->update_values(A);
}

template <class V, class Exec>
std::vector<SolveReport> LeastSquaresSolver<V, Exec>::solve_columns(
    const MultiVector<const V, Space>& b, const MultiVector<V, Space>& x) {
  return state_->solve(b, x);
}

template <class V, class Exec>
void LeastSquaresSolver<V, Exec>::use_preconditioner(
    std::shared_ptr<PreconditionerBase<V, Exec>> preconditioner) {
  state_->given = std::move(preconditioner);
}

template <class V, class Exec>
LeastSquaresMethod LeastSquaresSolver<V, Exec>::method() const {
  return state_->prepared ? state_->method : state_->asked;
}

template <class V, class Exec>
const std::vector<std::string>& LeastSquaresSolver<V, Exec>::advice() const {
  return state_->advice;
}

template <class V, class Exec>
void LeastSquaresSolver<V, Exec>::set_options(SolveOptions options) {
  State& s = *state_;
  State::check(options);
  const Solver<V, Exec> checked(*s.ctx, options);  // which refuses what is out of range
  s.options = std::move(options);
  if (s.lsqr) s.lsqr->set_options(s.for_lsqr());
  if (s.normal) s.normal->set_options(s.for_normal());
}

template class LeastSquaresSolver<float>;
template class LeastSquaresSolver<double>;
#ifdef CNC_KOKKOS_HAS_DEVICE
template class LeastSquaresSolver<float, Kokkos::DefaultExecutionSpace>;
template class LeastSquaresSolver<double, Kokkos::DefaultExecutionSpace>;
#endif

}  // namespace cnc
