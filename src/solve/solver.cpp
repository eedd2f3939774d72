#include <cnc/solver.hpp>

#include "solve/solver_state.hpp"

#include <algorithm>
#include <cmath>

namespace cnc {
namespace {

void check(const SolveOptions& o, bool double_vectors) {
  const auto fraction = [](double value) { return value >= 0 && std::isfinite(value); };
  require(fraction(o.rtol) && fraction(o.atol),
          "SolveOptions: rtol and atol must be finite and >= 0");
  require(o.max_iterations >= 0, "SolveOptions: max_iterations must not be negative");
  require(o.max_seconds >= 0, "SolveOptions: max_seconds must not be negative");
  require(o.divergence > 1, "SolveOptions: divergence must be greater than 1");
  require(o.restart >= 1 && o.restart <= detail::largest_restart,
          "SolveOptions: restart must be 1 to 1000");
  require(fraction(o.spectrum.smallest) && fraction(o.spectrum.largest) &&
              (o.spectrum.largest == 0) == (o.spectrum.smallest == 0) &&
              o.spectrum.smallest <= o.spectrum.largest,
          "SolveOptions: spectrum must have 0 < smallest <= largest, or zeros");
  require(o.callback_interval >= 0, "SolveOptions: callback_interval must not be negative");
  require(o.components >= 1 && o.components <= max_components,
          "SolveOptions: components must be 1 to 16");
  require(o.null_space == NullSpace::none || !detail::has_criterion(o),
          detail::criterion_and_null_space);
  require(o.preconditioner_block_size >= 0 && o.preconditioner_block_size <= max_block_size,
          "SolveOptions: preconditioner_block_size must be 0 to 16");
  require(double_vectors || o.storage != StoragePrecision::f32,
          "SolveOptions: f32 storage is for double vectors; float vectors store float anyway");
}

}  // namespace

template <class V, class Exec>
Solver<V, Exec>::Solver(Context<Exec>& ctx, SolveOptions options)
    : state_(std::make_unique<State>()) {
  check(options, std::is_same_v<V, double>);
  state_->ctx = state_->system.ctx = &ctx;
  state_->system.arithmetic = options.arithmetic;
  state_->options = std::move(options);
}

template <class V, class Exec>
Solver<V, Exec>::~Solver() = default;
template <class V, class Exec>
Solver<V, Exec>::Solver(Solver&&) noexcept = default;
template <class V, class Exec>
Solver<V, Exec>& Solver<V, Exec>::operator=(Solver&&) noexcept = default;

template <class V, class Exec>
void Solver<V, Exec>::prepare(const CsrMatrix<V, Space>& given) {
  prepare_among(nullptr, given);
}

template <class V, class Exec>
void Solver<V, Exec>::prepare_among(std::shared_ptr<detail::OtherRanks> ranks,
                                    const CsrMatrix<V, Space>& given) {
  State& s = *state_;
  if (given.block_size != 1) return prepare(Matrix<V, Space>(given));
  s.prepare(given.rows, given.cols, [&] {
    s.system.ranks = std::move(ranks);
    const CsrMatrix<V, Space> A = detail::made_square(s.exec(), s.checked(given));
    s.layouts.require_room(A.rows, A.blocks(), 0);
    s.pattern = s.as_prepared.copy_matrix ? detail::cloned(A) : A;
    s.pattern.value_table = {};  // the caller's, of values that change without it
    if (s.options.reordering == Reordering::rcm)
      s.ordering.set_up(s.exec(), s.pattern, s.layouts.ordering_block_size(s.pattern));
    else if (A.checked != Checked::ascending && !s.takes_any_order())
      s.ordering.sort_rows(s.pattern);
    s.build_system(s.ordered(s.pattern));
    // Solves say so before they iterate.
    if (s.named().symmetric && !s.options.trusted) s.diagnosis.check_symmetry();
  });
}

template <class V, class Exec>
void Solver<V, Exec>::go_on_among(std::shared_ptr<detail::OtherRanks> ranks) {
  if (state_->system.ranks != ranks) state_->renew_plan(true);  // which may hold the old ones
  state_->system.ranks = std::move(ranks);
}

template <class V, class Exec>
void Solver<V, Exec>::forget_matrix() {
  state_->clear();
}

template <class V, class Exec>
void Solver<V, Exec>::prepare(const Matrix<V, Space>& given) {
  State& s = *state_;
  require(rows(given) == cols(given),
          "Solver: a matrix in a layout of its own must be square; pass CSR for least squares");
  require(s.options.format.name == "auto" && s.options.reordering == Reordering::none &&
              s.options.storage != StoragePrecision::f32,
          "Solver: a matrix in a layout of its own is used as it is; leave format, reordering and "
          "storage alone or pass CSR");
  s.prepare(rows(given), cols(given), [&] {
    const Matrix<V, Space> A = s.checked(given);
    s.layouts.take(s.as_prepared.copy_matrix ? detail::cloned(A) : A);
    if (s.named().transposes) s.layouts.build_transpose(to_csr(s.system.matrix));
    s.choose_preconditioner();
    s.set_up_preconditioners();
    s.finish_prepare(rows(A));
  });
}

template <class V, class Exec>
void Solver<V, Exec>::prepare_as_laid_out(std::shared_ptr<detail::OtherRanks> ranks,
                                          const CsrMatrix<V, Space>& A,
                                          const Matrix<V, Space>& layout) {
  State& s = *state_;
  s.prepare(A.rows, A.cols, [&] {
    s.system.ranks = std::move(ranks);
    s.layouts.take(layout);
    s.source = A;
    s.choose_preconditioner();
    s.set_up_preconditioners();
    s.finish_prepare(A.rows);
  });
}

template <class V, class Exec>
void Solver<V, Exec>::prepare(const LinearOperator<V, Space>& A) {
  State& s = *state_;
  require(A.rows >= 0 && A.apply, "Solver: a linear operator needs rows and apply");
  require(s.options.preconditioner == PreconditionerKind::none,
          "Solver: a matrix-free operator has no diagonal to precondition with; choose "
          "PreconditionerKind::none, with or without set_preconditioner");
  s.prepare(A.rows, A.rows, [&] {
    s.layouts.take_operator(A);
    s.choose_preconditioner();
    s.finish_prepare(A.rows);
  });
}

template <class V, class Exec>
void Solver<V, Exec>::update_values(const CsrMatrix<V, Space>& given) {
  State& s = *state_;
  given.check_extents();
  require(s.prepared && s.pattern.row_offsets.extent(0) != 0,
          "Solver: update_values with CSR needs a prepare with CSR");
  const InstanceScope scope(s.exec());
  const detail::Settled settled;
  require(given.rows == s.given_rows && given.cols == s.given_cols &&
              detail::same_pattern(s.exec(), detail::made_square(s.exec(), given), s.pattern),
          "Solver: update_values needs the pattern of prepare");
  // The index arrays stay those of prepare: of what is given here only the values must live.
  CsrMatrix<V, Space> A = s.pattern;
  A.values = given.values;
  s.diagnosis.forget();
  s.change([&] {
    if (s.ordering.rearranged()) s.ordering.refill(s.exec(), A);
    if (s.as_prepared.copy_matrix) Kokkos::deep_copy(s.pattern.values, A.values);
    s.take_values(s.ordered(s.as_prepared.copy_matrix ? s.pattern : A));
  });
}

template <class V, class Exec>
void Solver<V, Exec>::update_values(const Matrix<V, Space>& given) {
  State& s = *state_;
  require(s.prepared && !s.system.matrix_free && s.pattern.row_offsets.extent(0) == 0,
          "Solver: update_values with a layout needs a prepare with a layout");
  require(given.index() == s.system.matrix.index() && rows(given) == s.system.rows &&
              cols(given) == s.system.rows && stored(given) == stored(s.system.matrix) &&
              block_size(given) == s.layouts.block_size(),
          "Solver: update_values needs the layout and pattern of prepare");
  const InstanceScope scope(s.exec());
  const detail::Settled settled;
  const Matrix<V, Space> A = s.checked(given);
  const Matrix<V, Space> kept = s.as_prepared.copy_matrix ? detail::cloned(A) : A;
  s.diagnosis.forget();
  s.change([&] {
    s.system.matrix = kept;
    if (s.named().transposes) s.layouts.build_transpose(to_csr(kept));
    s.system.plan_products();
    s.renew_plan(true);
    s.choose_again();
    s.set_up_preconditioners();  // fill is dropped: with other values the pattern may be another
  });
}

template <class V, class Exec>
void Solver<V, Exec>::set_preconditioner(PreconditionerFunction<V, Space> apply,
                                         EnqueuesOnly promise,
                                         PreconditionerFunction<V, Space> apply_transposed) {
  using Function = detail::FunctionPreconditioner<V, Exec>;
  state_->use(
      apply ? std::make_shared<Function>(std::move(apply), promise, std::move(apply_transposed))
            : nullptr,
      {});
}

template <class V, class Exec>
void Solver<V, Exec>::use_preconditioner(
    std::shared_ptr<PreconditionerBase<V, Exec>> preconditioner) {
  State& s = *state_;
  require(preconditioner != nullptr,
          "Solver: a preconditioner that is null; an empty function brings the built-in one back");
  PreconditionerSetup setup;
  if (s.prepared && !s.system.matrix_free) {
    const bool widens = s.system.narrow_is_exact;
    detail::require_memory("Solver::set_preconditioner",
                           preconditioner->bytes(s.system.rows, stored(s.system.matrix)) +
                               (widens ? s.layouts.widened_bytes() : 0),
                           memory_of<Space>);
    const InstanceScope scope(s.exec());
    const detail::Settled settled;
    std::optional<typename detail::Layouts<V, Exec>::Widened> wide;
    if (widens) wide = s.layouts.widened(s.source);
    const auto set_up = [&] {
      setup = preconditioner->set_up(*s.ctx, s.in_csr(), wide ? wide->matrix : s.system.matrix);
    };
    // The one that is in use may be left in pieces: then the solver is not prepared any more.
    if (preconditioner == s.system.given)
      s.change(set_up);
    else
      set_up();
    s.check(setup, s.system.rows);
    if (wide) {
      s.layouts.take(std::move(*wide));
      s.change([&s] { detail::plan_iterations(s.system, s.work); });
      s.column_work.recorded.forget();
    }
  }
  s.use(std::move(preconditioner), setup);
}

template <class V, class Exec>
void Solver<V, Exec>::set_null_space(std::vector<Vector<const V, Space>> vectors) {
  state_->null_vectors.clear();
  for (const auto& v : vectors) {
    const auto copy = uninitialized<V, Space>("cnc::null_space", v.extent(0));
    Kokkos::deep_copy(copy, v);
    state_->null_vectors.push_back(copy);
  }
}

template <class V, class Exec>
SolveReport Solver<V, Exec>::solve_contiguous(const Vector<const V, Space>& b,
                                              const Vector<V, Space>& x) {
  State& s = *state_;
  s.check_solve(b.extent(0), x.extent(0));
  const InstanceScope scope(s.exec());
  const std::size_t of_b = b.extent(0), of_x = x.extent(0);
  require(std::min(of_b, of_x) == 0 || b.data() + of_b <= x.data() || x.data() + of_x <= b.data(),
          "Solver: b and x must not overlap");
  return s.solve_given(b, x, s.options);
}

template <class V, class Exec>
std::vector<SolveReport> Solver<V, Exec>::solve_columns(const MultiVector<const V, Space>& b,
                                                        const MultiVector<V, Space>& x) {
  State& s = *state_;
  s.check_solve(b.extent(0), x.extent(0));
  const InstanceScope scope(s.exec());
  require(b.extent(1) == x.extent(1), [&] {
    return "Solver: b has " + std::to_string(b.extent(1)) + " columns, x has " +
           std::to_string(x.extent(1));
  });
  require(x.span() == 0 || b.data() + b.span() <= x.data() || x.data() + x.span() <= b.data(),
          "Solver: b and x must not overlap");
  const auto solve_one = [&](int column, const SolveOptions& options) {
    return s.solve_given(Kokkos::subview(b, Kokkos::ALL, column),
                         Kokkos::subview(x, Kokkos::ALL, column), options);
  };
  const std::function<bool()> is_patient = [&s] { return s.is_patient(); };
  detail::Batches<V, Exec> batches(s.system, s.column_work, s.options, s.column_method(),
                                   is_patient, s.ordering.permutation, b, x);
  return batches.solve(s.solves_together(static_cast<int>(x.extent(1))), solve_one);
}

template <class V, class Exec>
const SolveOptions& Solver<V, Exec>::options() const {
  return state_->options;
}

template <class V, class Exec>
void Solver<V, Exec>::set_options(SolveOptions options) {
  check(options, std::is_same_v<V, double>);
  state_->system.arithmetic = options.arithmetic;
  state_->options = std::move(options);
}

template <class V, class Exec>
const std::vector<std::string>& Solver<V, Exec>::advice() const {
  return state_->layouts.advice();
}

template class Solver<float>;
template class Solver<double>;
#ifdef CNC_KOKKOS_HAS_DEVICE
template class Solver<float, Kokkos::DefaultExecutionSpace>;
template class Solver<double, Kokkos::DefaultExecutionSpace>;
#endif

}  // namespace cnc
