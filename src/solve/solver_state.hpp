#pragma once

#include <cnc/solver.hpp>

#include "add_sentence.hpp"
#include "convert/settled.hpp"
#include "solve/choose_method.hpp"
#include "solve/columns.hpp"
#include "solve/drive.hpp"
#include "solve/layouts.hpp"
#include "solve/prepare.hpp"
#include "solve/range_solve.hpp"

#include <exception>

// What a solver keeps, from prepare to the last solve, and how its steps go together.

namespace cnc {

namespace detail {
inline constexpr const char* criterion_and_null_space =
    "SolveOptions: with a null space it is the 2-norm of the whole residual that decides; leave "
    "norm and components alone";
}  // namespace detail

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
    require(null_space.empty() || !detail::has_criterion(options),
            detail::criterion_and_null_space);
  }

  /// Whether the methods are not the caller's.
  bool is_chosen() const { return !choice.reason.empty(); }

  /// Of several methods those from the first that there is in the form asked for.
  std::span<const Method> methods_offered() const {
    std::span<const Method> methods = choice.methods;
    if (is_chosen()) {
      if (!system.preconditioner().keeps_symmetry()) methods = detail::for_any_matrix(methods);
      if (system.preconditioner().varies()) methods = detail::flexible(methods);
    }
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
    system.agree_on_preconditioner();
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
    const bool varies = system.preconditioner().varies();
    const bool keeps_symmetry = system.preconditioner().keeps_symmetry();
    const MethodFacts& first = method_facts(methods.front());
    if (is_chosen())
      detail::add_sentence(report.choice,
                           std::string(first.name) + ": " + choice.reason +
                               (varies ? ", and its preconditioner varies" : "") +
                               (keeps_symmetry || !method_facts(choice.methods.front()).symmetric
                                    ? ""
                                    : ", but its preconditioner is not symmetric"));
    else if (first.symmetric && !keeps_symmetry && methods.front() != Method::pcg_flexible)
      detail::add_sentence(report.choice,
                           std::string("the preconditioner is not symmetric, for which ") +
                               first.name + " is not made: gmres is");
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

}  // namespace cnc
