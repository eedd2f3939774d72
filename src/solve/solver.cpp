#include <cnc/solver.hpp>

#include <cnc/blas1.hpp>

#include "add_sentence.hpp"
#include "convert/settled.hpp"
#include "solve/choose_method.hpp"
#include "solve/columns.hpp"
#include "solve/drive.hpp"
#include "solve/layouts.hpp"
#include "solve/prepare.hpp"
#include "solve/range_solve.hpp"

#include <algorithm>
#include <cmath>
#include <exception>

namespace cnc {
namespace {

constexpr const char* criterion_and_null_space =
    "SolveOptions: with a null space it is the 2-norm of the whole residual that decides; leave "
    "norm and "
    "components alone";

}  // namespace

template <class V, class Exec>
struct Solver<V, Exec>::State {
  Context<Exec>* ctx;
  SolveOptions options;
  SolveOptions
      as_prepared;  ///< what the layout and the preconditioner depend on, until the next prepare
  bool prepared = false;
  detail::System<V, Exec> system;
  detail::Workspace<V, Space> work;
  detail::ColumnWork<V, Space> column_work;  ///< for several right-hand sides
  Vector<V, Space> whole_b,
      whole_x;  ///< b and x where those given are not contiguous, or shorter than the longer side
  detail::Ordering<V, Exec> ordering;
  CsrMatrix<V, Space> pattern;  ///< the CSR matrix given to prepare or its copy, for update_values
  CsrMatrix<V, Space> source;   ///< after a prepare with CSR: what preconditioners are set up from
  detail::Diagnosis<V, Exec> diagnosis{system, ordering, source};
  detail::Layouts<V, Exec> layouts{system, as_prepared, diagnosis};
  index_t given_rows = 0, given_cols = 0;  ///< of the matrix before it is made square
  bool normal_is_set_up = false;  ///< the preconditioner of A^T A that lay_out_for made is regular
  std::string note;               ///< for the next report: what update_values had to change
  PreconditionerSetup setup;      ///< of the built-in preconditioner
  PreconditionerSetup given_setup;  ///< of the caller's
  detail::MethodChoice choice;
  std::vector<Vector<V, Space>> null_vectors;  ///< the caller's, copied
  detail::NullVectors<V, Exec> null_space;

  const Exec& exec() const { return ctx->execution_space_instance(); }

  bool is_rectangular() const { return given_rows != given_cols; }
  /// The method asked for, or what that is for a matrix of this shape.
  Method method_for(index_t rows, index_t cols) const {
    return options.method == Method::automatic && rows != cols ? Method::lsqr : options.method;
  }
  void check_criterion(Method method) const {
    require(method == Method::automatic || !method_facts(method).least_squares ||
                !detail::has_criterion(options),
            "Solver: lsqr converges by the 2-norm of all of A^T (b - A x); leave norm and "
            "components alone");
  }
  /// Refuses a matrix of a shape with which what is asked for cannot be done.
  void check_shape(index_t rows, index_t cols) const {
    const Method method = method_for(rows, cols);
    if (method == Method::automatic) return;
    const bool square = rows == cols;
    require(square || method_facts(method).normal_equations, [&] {
      return "Solver: the matrix must be square, or the method lsqr or cgnr; it is " +
             std::to_string(rows) + " x " + std::to_string(cols);
    });
    require(square || !system.given,
            "Solver: only none, jacobi and block-jacobi precondition a matrix that is not square");
    check_criterion(method);
    require(
        (square && !method_facts(method).least_squares) ||
            (options.null_space == NullSpace::none && null_vectors.empty()),
        "Solver: least squares take no null space; lsqr from x = 0 finds a solution that has no "
        "part in there");
  }

  /// The CSR matrix that iterations work on, and from which the preconditioner is set up.
  const CsrMatrix<V, Space>& ordered(const CsrMatrix<V, Space>& A) const {
    return ordering.rearranged() ? ordering.matrix : A;
  }

  /// The methods too, since some want a positive definite one.
  void choose_preconditioner() {
    const int asked = as_prepared.preconditioner_block_size;
    choice = detail::choose_methods(&as_prepared.method, diagnosis);
    if (is_rectangular() && options.method == Method::automatic)
      choice.reason = "the matrix is not square";
    // Rules that make a diagonal regular or definite are for diagonals, not for blocks.
    const bool as_it_is =
        choice.diagonal_rule() == DiagonalRule::as_it_is && !named().normal_equations;
    const int found = as_it_is ? layouts.preconditioner_block_size() : layouts.block_size();
    system.built_in = {as_prepared.preconditioner, asked > 0 ? asked : found,
                       choice.diagonal_rule()};
  }

  /// For other values.
  void choose_again() {
    if (as_prepared.method != Method::automatic) return;
    choose_preconditioner();
    layouts.forget_transpose();
  }

  /// What bicg or cgnr needs where Method::automatic comes to it in a solve.
  void lay_out_for(const MethodFacts& method) {
    if (system.matrix_free) return;
    if (system.given && (method.normal_equations || !system.given->has_transpose()))
      throw UnsupportedOperation("the preconditioner is one of A alone");
    if (!system.transpose && !system.narrow_transpose) {
      std::exception_ptr failure;
      bool is_regular = false;
      try {
        ctx->fence();
        require_memory_for_transpose();
        layouts.build_transpose(in_csr());
        system.plan_products();
        system.built_in.add_transpose(exec());
        system.of_normal = {as_prepared.preconditioner, system.built_in.block_size()};
        is_regular = system.of_normal.set_up_normal(transpose_in_csr()).ok();
        ctx->fence();
      } catch (...) {
        failure = std::current_exception();
      }
      // All ranks go on, or none.
      const bool fails = system.anywhere(failure != nullptr);
      normal_is_set_up = !system.anywhere(!is_regular);
      if (fails) {
        layouts.forget_transpose();
        if (failure) std::rethrow_exception(failure);
        throw UnsupportedOperation("another rank could not lay out its transpose");
      }
    }
    if (method.normal_equations && !normal_is_set_up)
      throw UnsupportedOperation("a diagonal block of A^T A is singular");
  }
  void lay_out_transpose_of_ranks() const {
    if (system.ranks) system.ranks->lay_out_transpose();
  }
  void require_memory_for_transpose() const {
    const double entries = double(stored(system.matrix));
    detail::require_memory("Solver::solve", entries * 2 * (sizeof(V) + 2 * sizeof(index_t)),
                           memory_of<Space>);
  }

  void set_up_preconditioners() { renew_preconditioners(&PreconditionerBase<V, Exec>::set_up); }
  void update_preconditioners() {
    renew_preconditioners(&PreconditionerBase<V, Exec>::update_values);
  }

  bool has_source() const { return source.row_offsets.extent(0) != 0; }
  /// The matrix of the iterations in CSR, made of the layout where that is all there is.
  CsrMatrix<V, Space> in_csr() const { return has_source() ? source : to_csr(system.matrix); }

  CsrMatrix<V, Space> transpose_in_csr() const {
    return layouts.is_symmetric() ? in_csr() : layouts.transpose();
  }

  /// Of a method that the caller has named.
  MethodFacts named() const {
    return as_prepared.method == Method::automatic ? MethodFacts()
                                                   : method_facts(as_prepared.method);
  }

  /// The built-in one and the caller's, by either function of theirs.
  template <class Renew>
  void renew_preconditioners(Renew renew) {
    if (named().normal_equations)
      setup = system.built_in.set_up_normal(transpose_in_csr());
    else
      setup = has_source() ? (system.built_in.*renew)(*ctx, source, system.matrix)
                           : system.built_in.set_up_from(system.matrix);
    if (named().transposes && !named().normal_equations) system.built_in.add_transpose(exec());
    if (!system.given) return;
    given_setup = ((*system.given).*renew)(*ctx, in_csr(), system.matrix);
    check(given_setup, rows(system.matrix));
    system.version = detail::next_preconditioner_version();
  }

  /// What a preconditioner of the caller's found out.
  static void check(const PreconditionerSetup& its_setup, index_t rows) {
    require(its_setup.row < rows,
            "PreconditionerBase: the row at fault must be a row of the matrix");
  }

  /// The plan of runs learns that values are others, or where they are.
  void renew_plan(bool elsewhere) {
    if (work.plan != nullptr) work.plan->renew(elsewhere);
  }

  void use(std::shared_ptr<PreconditionerBase<V, Exec>> preconditioner,
           const PreconditionerSetup& its_setup) {
    const auto before = prepared ? system.kind_in_passes() : std::nullopt;
    system.given = std::move(preconditioner);
    system.version = detail::next_preconditioner_version();
    given_setup = its_setup;
    if (prepared) renew_plan(system.ranks || system.kind_in_passes() != before);
  }

  /// Whether iterations work on the matrix given itself, whatever the order of its rows.
  bool takes_any_order() const {
    return as_prepared.format.name == "csr" && as_prepared.storage != StoragePrecision::f32;
  }

  /// The layout given, valid: checked, or marked as what the caller vouches for.
  Matrix<V, Space> checked(Matrix<V, Space> A) const {
    if (auto* bcsr = std::get_if<BcsrMatrix<V, Space>>(&A)) {
      if (options.trusted) bcsr->checked = Checked::ascending;
      bcsr->checked = detail::require_valid(*bcsr);
    } else {
      std::visit([](const auto& layout) { layout.validate(); }, A);
    }
    return A;
  }

  /// The matrix given, marked as what the caller vouches for or the check found.
  CsrMatrix<V, Space> checked(CsrMatrix<V, Space> A) const {
    if (options.trusted) A.checked = Checked::ascending;
    A.checked = detail::require_csr(A);
    return A;
  }

  void finish_prepare(index_t rows) {
    system.rows = rows;
    system.require_operations();
    ctx->reserve(rows);
    work.allocate(rows, detail::workspace_facts(as_prepared.method), ordering.active(),
                  system.widens());
    if (const Method method = as_prepared.method; !is_phased(method))
      work.allocate_basis(rows, as_prepared.restart, method == Method::fgmres);
    if (is_rectangular()) allocate_whole();
    work.planned = PlannedRuns{as_prepared.method, PreconditionerKind::none, as_prepared.form,
                               as_prepared.storage == StoragePrecision::lossless};
    detail::plan_iterations(system, work);
    column_work.recorded.forget();  // of another layout
    ctx->fence();
  }

  /// Runs the steps of a prepare with a matrix of this shape. The set-up works on Kokkos' default
  /// instances, so it starts when nothing is under way.
  template <class Steps>
  void prepare(index_t rows, index_t cols, const Steps& steps) {
    check_shape(rows, cols);
    const InstanceScope scope(exec());
    const detail::Settled settled;
    clear();
    as_prepared = options;
    as_prepared.method = method_for(rows, cols);
    given_rows = rows;
    given_cols = cols;
    change([&] {
      steps();
      // Not again for other values, which ranks may lay out anew one without the others.
      null_space.set_up(system, as_prepared.null_space == NullSpace::constant, null_vectors,
                        ordering);
      ctx->fence();
    });
  }

  /// Runs steps that leave the solver prepared. When one fails, nothing stays of what they changed in part:
  /// the solver is not prepared.
  template <class Steps>
  void change(const Steps& steps) {
    prepared = false;
    try {
      steps();
    } catch (...) {
      clear();
      throw;
    }
    prepared = true;
  }

  void clear() {
    prepared = false;
    work = {};
    column_work = {};
    whole_b = whole_x = {};
    given_rows = given_cols = 0;
    null_space = {};
    ordering = {};
    pattern = source = {};
    setup = given_setup = {};
    diagnosis.forget();
    note.clear();
    layouts.clear();
    system.product_plans = {};
    system.uses_normal = false;
    system.matrix_free.reset();
    system.built_in = {};
    system.ranks.reset();
  }

  /// The layout and the preconditioner of A from nothing.
  void build_system(const CsrMatrix<V, Space>& A) {
    layouts.forget_transpose();
    layouts.build(A);
    source = A;
    if (named().transposes) {
      layouts.build_transpose(A);
      lay_out_transpose_of_ranks();
    }
    choose_preconditioner();
    set_up_preconditioners();
    finish_prepare(A.rows);
  }

  /// New values for the iterations. Plans of runs of several ranks begin anew on all where one is laid out anew.
  void take_values(const CsrMatrix<V, Space>& A) {
    const bool anew = !take_values_here(A);
    if (system.ranks && system.anywhere(anew)) renew_plan(true);
  }
  /// What `auto` chose for the values of prepare is chosen again where it cannot hold these: false then.
  bool take_values_here(const CsrMatrix<V, Space>& A) {
    if (system.narrow_is_exact && !layouts.fits_float(A)) {
      build_system(A);
      note =
          "float does not hold the new values: they are stored in double, as " + layouts.format();
      layouts.advise(note);
      return false;
    }
    try {
      if (layouts.refresh(A)) detail::plan_iterations(system, work);
    } catch (const InvalidArgument&) {
      if (!layouts.is_chosen_for_symmetry()) throw;
      const std::string before = layouts.format();
      build_system(A);
      note = "the new values are not symmetric to the last bit: the layout " + before +
             " gave way to " + layouts.format();
      layouts.advise(note);
      return false;
    }
    source = A;
    renew_plan(false);
    if (named().transposes) {
      layouts.refresh_transpose(A);
      lay_out_transpose_of_ranks();
    }
    choose_again();
    update_preconditioners();
    return true;
  }

  void check_solve(std::size_t of_b, std::size_t of_x) const {
    require(prepared, "Solver: call prepare before solve");
    check_criterion(as_prepared.method);
    system.check_given();
    require(!is_rectangular() || !system.given,
            "Solver: only none, jacobi and block-jacobi precondition a matrix that is not square");
    require(of_b == static_cast<std::size_t>(given_rows) &&
                of_x == static_cast<std::size_t>(given_cols),
            [&] {
              return "Solver: the matrix has " + std::to_string(given_rows) + " rows" +
                     (is_rectangular() ? " and " + std::to_string(given_cols) + " columns" : "") +
                     ", b has " + std::to_string(of_b) + " entries, x has " + std::to_string(of_x);
            });
    require(method_for(given_rows, given_cols) == as_prepared.method &&
                (is_phased(options.method) || options.restart == as_prepared.restart),
            "Solver: the method or its restart was changed after prepare; call prepare again");
    require(null_space.empty() || !detail::has_criterion(options), criterion_and_null_space);
  }

  /// Whether the methods are not the caller's.
  bool is_chosen() const { return !choice.reason.empty(); }

  /// Of several methods those from the first that there is in the form asked for.
  std::span<const Method> methods_offered() const {
    std::span<const Method> methods = choice.methods;
    if (is_chosen() && system.given && system.given->varies()) methods = detail::flexible(methods);
    while (methods.size() > 1 && !detail::offers(system, methods.front(), options.form))
      methods = methods.subspan(1);
    return methods;
  }

  /// The method of several columns: the first that is made for them.
  Method column_method() const {
    const std::span<const Method> methods = methods_offered();
    if (methods.size() > 1 && !detail::ColumnSolve<V, Exec>::offered(system, methods[0]) &&
        detail::fails_with(methods[1], methods[0]))
      return methods[1];
    return methods[0];
  }

  /// Whether several columns are iterated side by side.
  bool solves_together(int columns) const {
    const Method method = column_method();
    const bool unsuitable = method_facts(method).symmetric && !options.allow_nonsymmetric &&
                            diagnosis.is_clearly_nonsymmetric();
    const bool steps =
        options.form == SolveForm::automatic || options.form == SolveForm::fused_steps;
    return columns > 1 && steps && options.arithmetic == Arithmetic::fast && !options.callback &&
           null_space.empty() && !unsuitable && !detail::has_criterion(options) &&
           (system.given ? given_setup : setup).ok() &&
           detail::ColumnSolve<V, Exec>::offered(system, method);
  }

  /// Whether a recurrence of several columns goes on that has not halved its residual for long: as that of one does.
  bool is_patient() {
    const std::span<const Method> methods = methods_offered();
    if (method_facts(methods[0]).symmetric)
      return options.allow_nonsymmetric || !diagnosis.nonsymmetric();
    return methods.size() == 1;
  }

  /// For views with any stride, of the lengths given.
  template <class B, class X>
  SolveReport solve_given(const B& b, const X& x, const SolveOptions& with) {
    const std::size_t n = x.extent(0);
    if (!is_rectangular() && (n < 2 || (b.stride(0) == 1 && x.stride(0) == 1)))
      return solve(Vector<const V, Space>(b.data(), n), Vector<V, Space>(x.data(), n), with);
    allocate_whole();
    const auto as_given = [](const Vector<V, Space>& whole, std::size_t entries) {
      return Kokkos::subview(whole, std::make_pair(std::size_t(0), entries));
    };
    const auto of_x = as_given(whole_x, n);
    Kokkos::deep_copy(exec(), as_given(whole_b, b.extent(0)), b);
    Kokkos::deep_copy(exec(), of_x, x);
    SolveReport report = solve(whole_b, whole_x, with);
    Kokkos::deep_copy(exec(), x, of_x);
    detail::wait_for(exec());
    return report;
  }
  /// Zeros, which those beyond what is given stay.
  void allocate_whole() {
    const auto n = static_cast<std::size_t>(system.rows);
    if (whole_x.extent(0) == n) return;
    whole_b = zeroed<V, Space>("cnc::whole_b", n);
    whole_x = zeroed<V, Space>("cnc::whole_x", n);
  }

  SolveReport solve(const Vector<const V, Space>& b, const Vector<V, Space>& x,
                    const SolveOptions& with) {
    const std::span<const Method> methods = methods_offered();
    system.uses_normal = false;
    SolveReport report;
    report.backend = ctx->backend().name;
    report.format = layouts.format();
    report.values_in_float = !std::is_same_v<V, float> && system.uses_narrow();
    report.row_kinds = system.row_kinds();
    report.short_columns = with.arithmetic == Arithmetic::fast && system.short_columns();
    report.value_kinds = with.arithmetic == Arithmetic::fast ? system.value_kinds() : 0;
    report.arithmetic = with.arithmetic;
    report.preconditioner = system.preconditioner().name();
    const bool varies = system.given && system.given->varies();
    const MethodFacts& first = method_facts(methods.front());
    if (is_chosen())
      detail::add_sentence(report.choice, std::string(first.name) + ": " + choice.reason +
                                              (varies ? ", and its preconditioner varies" : ""));
    else if (varies && !detail::allows_varying(methods.front()))
      detail::add_sentence(report.choice,
                           std::string("the preconditioner varies, for which ") + first.name +
                               " is not made: " + (first.symmetric ? "pcg-flexible" : "fgmres") +
                               " is");
    if (system.narrow_failed) {
      report.format = "csr";
      detail::add_sentence(report.choice, "in double: the matrix in float failed before");
    }
    const detail::LayOutTranspose lay_out_transpose = [this](const MethodFacts& method) {
      lay_out_for(method);
    };
    const auto drive = [&](const PreconditionerSetup& its_setup, const Vector<const V, Space>& rhs,
                           const Vector<V, Space>& guess) {
      const detail::IterateViews<V, Exec> views{ordering,     guess,      work.r,    x,
                                                work.scratch, given_rows, given_cols};
      const auto solve_for = [&](const Vector<const V, Space>& b_or_less) {
        detail::Drive<V, Exec>(system, work, with, methods, its_setup, diagnosis, null_space,
                               b_or_less, guess, views, lay_out_transpose, report)
            .solve();
      };
      if (null_space.empty())
        solve_for(rhs);
      else
        detail::RangeSolve<V, Exec>{system, work, null_space, with}(rhs, guess, report, solve_for);
    };
    PreconditionerSetup found = system.given ? given_setup : setup;
    if (!ordering.active()) {
      drive(found, b, x);
    } else {
      ordering.gather(exec(), b, work.rhs);
      ordering.gather(exec(), x, work.guess);
      if (found.row >= 0) found.row = ordering.original_row(found.row);
      drive(found, work.rhs, work.guess);
      ordering.scatter(exec(), work.guess, x);
      detail::wait_for(exec());
    }
    if (!note.empty()) {
      detail::add_sentence(report.detail, note);
      note.clear();
    }
    return report;
  }
};

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
  require(o.null_space == NullSpace::none || !detail::has_criterion(o), criterion_and_null_space);
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
void Solver<V, Exec>::prepare_as_laid_out(const CsrMatrix<V, Space>& A,
                                          const Matrix<V, Space>& layout) {
  State& s = *state_;
  s.prepare(A.rows, A.cols, [&] {
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
