#pragma once

#include <cnc/context.hpp>
#include <cnc/formats.hpp>
#include <cnc/spmv.hpp>

#include "solve/other_ranks.hpp"
#include "solve/preconditioners.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

namespace cnc::detail {

using methods::Cg;
using methods::CgSingleReduction;
using methods::check_positive;

/// Methods that are written out in plain operations too, or alone.
constexpr bool has_plain_form(Method method) {
  return method == Method::pcg || method == Method::pcg_single_reduction || !is_phased(method);
}

/// A number that no preconditioner has had before (EnqueuedPreconditioner::version).
inline std::uint64_t next_preconditioner_version() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

/// What a solve iterates with: an operator in one of three shapes, and a preconditioner. Everything
/// that works on vectors in the solver goes through here.
template <class V, class Exec>
struct System {
  using Space = typename Exec::memory_space;
  using NarrowMatrix = Matrix<float, Space>;  // the same type as Matrix<V> when V is float

  Context<Exec>* ctx = nullptr;
  Arithmetic arithmetic = Arithmetic::fast;  ///< of products and dots
  index_t rows = 0;
  Matrix<V, Space> matrix;                     ///< used unless one of the next two is
  std::optional<Matrix<float, Space>> narrow;  ///< float copy under double vectors
  bool narrow_is_exact = false;                ///< it has lost nothing
  bool narrow_failed = false;                  ///< iterations have gone over to the matrix itself
  std::optional<LinearOperator<V, Space>> matrix_free;
  LocalPreconditioner<V, Exec> built_in;
  LocalPreconditioner<V, Exec> of_normal;  ///< of A^T A, where Method::automatic comes to it
  bool uses_normal = false;                ///< the one of A^T A is in use
  bool enqueues_on_all = false;            ///< the caller's only enqueues on every rank
  std::shared_ptr<PreconditionerBase<V, Exec>> given;  ///< the caller's, in its place
  std::uint64_t version = 0;                           ///< of the caller's as it is set up
  /// Those that have the other rows, where this is the block of the own rows and columns; null: there are none.
  std::shared_ptr<OtherRanks> ranks;

  /// @{
  /// The transpose of either in the same format, for methods with products with it; else empty. A symmetric layout is
  /// its own.
  std::optional<Matrix<V, Space>> transpose;
  std::optional<Matrix<float, Space>> narrow_transpose;
  /// @}

  /// What the backend works out once about a matrix, for its products with vectors of V and, where they are wider, with
  /// double ones.
  struct Plans {
    std::unique_ptr<MatrixPlan> matrix, narrow, widened, transpose;
  } product_plans;
  int arrays_of_matrix = 0;                        ///< another number whenever they are others
  std::array<const void*, 7> planned_arrays = {};  ///< by which that is seen
  std::uint64_t planned_stencil = 0;               ///< its revision: kernels are given it as it is

  bool uses_narrow() const { return narrow && !narrow_failed; }
  /// Whether iterations are those of another matrix, rounded to float.
  bool is_rounded() const { return uses_narrow() && !narrow_is_exact; }

  /// Different rows, where products read those in place of all; else 0.
  index_t row_kinds() const {
    if (matrix_free || ctx->backend().dictionaries == ReadsDictionaries::no) return 0;
    return with_operand([](const auto& A) { return A.dictionary.kinds; });
  }

  /// Whether products read columns of 16 bits.
  bool short_columns() const {
    if (matrix_free || !ctx->backend().short_columns) return false;
    return with_operand([](const auto& A) {
      if constexpr (requires { A.short_columns; })
        return A.short_columns != nullptr;
      else
        return false;
    });
  }

  /// Different values, where products read a byte for each; else 0.
  int value_kinds() const {
    if (matrix_free || !ctx->backend().value_tables) return 0;
    const auto kinds = [](const auto& a) {
      if constexpr (requires { a.value_table; })
        return a.value_table.kinds;
      else
        return 0;
    };
    return uses_narrow() ? std::visit(kinds, *narrow) : std::visit(kinds, matrix);
  }

  /// Calls f with the operand that iterations use, which holds while f runs; not for matrix-free systems.
  template <class F>
  decltype(auto) with_operand(F&& f) const {
    const auto planned = [&](const auto& a, const MatrixPlan* plan,
                             const auto& at) -> decltype(auto) {
      auto operand = a.operand(), transposed = operand;
      operand.plan = plan;
      if (at) {
        transposed = std::get<std::decay_t<decltype(a)>>(*at).operand();
        transposed.plan = product_plans.transpose.get();
        operand.transpose = &transposed;
      }
      return f(std::as_const(operand));
    };
    if constexpr (!std::is_same_v<V, float>) {
      if (uses_narrow())
        return std::visit(
            [&](const auto& a) -> decltype(auto) {
              return planned(a, product_plans.narrow.get(), narrow_transpose);
            },
            *narrow);
    }
    return std::visit(
        [&](const auto& a) -> decltype(auto) {
          return planned(a, product_plans.matrix.get(), transpose);
        },
        matrix);
  }

  /// Counts up where products read other arrays than before, or are given another stencil.
  void note_arrays() {
    const auto arrays = [](const auto& a) {
      std::array<const void*, 7> list = {a.values.data(), a.dictionary.codes.data(),
                                         a.dictionary.starts.data(), a.dictionary.entries.data()};
      if constexpr (requires { a.short_columns; }) list[4] = a.short_columns.data();
      if constexpr (requires { a.value_table; }) {
        list[5] = a.value_table.codes.data();
        list[6] = a.value_table.values.data();
      }
      return list;
    };
    const auto revision = [](const auto& a) { return a.dictionary.operand().stencil_revision(); };
    const auto now = uses_narrow() ? std::visit(arrays, *narrow) : std::visit(arrays, matrix);
    const auto stencil =
        uses_narrow() ? std::visit(revision, *narrow) : std::visit(revision, matrix);
    if (now != planned_arrays || stencil != planned_stencil) ++arrays_of_matrix;
    planned_arrays = now;
    planned_stencil = stencil;
  }

  /// To be called when the arrays of the matrix are others; their values may change in place.
  void plan_products() {
    product_plans = {};
    if (matrix_free) return;
    note_arrays();
    product_plans.matrix = plan_spmv<V>(*ctx, matrix);
    if (uses_narrow()) product_plans.narrow = plan_spmv<V>(*ctx, *narrow);
    if (widens()) product_plans.widened = plan_spmv<double>(*ctx, matrix);
    if (narrow_transpose && uses_narrow())
      product_plans.transpose = plan_spmv<V>(*ctx, *narrow_transpose);
    else if (transpose)
      product_plans.transpose = plan_spmv<V>(*ctx, *transpose);
  }

  const VectorOps<V>& vector_ops() const { return ctx->template vectors<V>(); }

  /// y := A x with the operator that iterations use, or A^T x.
  void apply(const Vector<const V, Space>& x, const Vector<V, Space>& y,
             bool transposed = false) const {
    if (matrix_free) return (transposed ? matrix_free->apply_transposed : matrix_free->apply)(x, y);
    among_ranks(x, y, transposed, [&] { multiply(ctx->queue(), x, y, transposed); });
  }
  /// multiply_own() is y := the own block times x, during which what other ranks need of x is on its way.
  template <class W, class MultiplyOwn>
  void among_ranks(const Vector<const W, Space>& x, const Vector<W, Space>& y, bool transposed,
                   const MultiplyOwn& multiply_own) const {
    if (ranks) ranks->begin(x.data(), transposed);
    multiply_own();
    if (ranks) ranks->end(y.data(), transposed, nullptr);
  }
  /// Sums over the own rows become those over all rows. The host's, and there.
  void add_up(double* sums, int count) const {
    if (ranks) ranks->add_up(sums, count);
  }
  /// The same of sums in the backend's memory, for which it waits.
  void add_up_there(const Vector<double, Space>& sums) const {
    if (!ranks) return;
    if constexpr (detail::is_host_space<Space>) {
      ranks->add_up(sums.data(), static_cast<int>(sums.extent(0)));
    } else {
      std::vector<double> here(sums.extent(0));
      const Kokkos::View<double*, HostSpace> view(here.data(), here.size());
      Kokkos::deep_copy(ctx->execution_space_instance(), view, sums);
      ctx->fence();
      ranks->add_up(here.data(), static_cast<int>(here.size()));
      Kokkos::deep_copy(ctx->execution_space_instance(), sums, view);
      ctx->fence();
    }
  }
  /// Whether there are other ranks with which the kernels of runs exchange and add up.
  bool has_peers(bool transposes) const {
    const auto has = [](const PeersOfRun& peers) {
      return std::get<const PeerOperand<V>*>(peers) != nullptr;
    };
    return ranks && has(ranks->peers()) && (!transposes || has(ranks->peers_of_transpose()));
  }
  /// Whether something is so on any rank.
  bool anywhere(bool here) const {
    double found = here;
    take_largest(found);
    return found != 0;
  }
  /// Of all ranks; a NaN is larger than everything.
  void take_largest(double& value) const {
    if (ranks) ranks->take_largest(&value, 1);
  }
  /// What there is to say of a row, by the first rank that has something to say.
  std::string said_by_ranks(std::string here) const {
    return ranks ? ranks->first_text(here) : here;
  }
  /// The number that the caller knows a row by.
  std::string row_text(offset_t row) const {
    return std::to_string(ranks ? ranks->number_of(static_cast<index_t>(row)) : row);
  }
  offset_t all_rows() const { return ranks ? ranks->all_rows() : rows; }
  /// The same on a queue that need not be the context's; not for matrix-free systems.
  void multiply(const Queue& queue, const Vector<const V, Space>& x, const Vector<V, Space>& y,
                bool transposed = false) const {
    with_operand([&](const auto& A) {
      multiply_with(queue, transposed ? *A.transpose : A, x.data(), y.data());
    });
  }
  /// y := A x with an operand. The one place that decides in which arithmetic.
  template <class Operand, class W>
  void multiply_with(const Queue& queue, const Operand& A, const W* x, W* y) const {
    const auto& ops = ctx->template matrices<W>(A);
    if (arithmetic == Arithmetic::fast)
      offered(ops.spmv, ctx->backend(), "spmv")(queue, W(1), A, x, W(0), y);
    else
      offered(ops.spmv_careful, ctx->backend(), "spmv_careful")(queue, arithmetic, A, x, y);
  }
  /// *result := x . y
  void dot(const V* x, const V* y, double* result) const {
    const VectorOps<V>& ops = vector_ops();
    (is_compensated(arithmetic) ? ops.dot_compensated : ops.dot)(ctx->queue(), rows, x, y, result);
  }
  /// Throws UnsupportedOperation where products and dots cannot be had in the arithmetic.
  void require_arithmetic() const {
    if (arithmetic == Arithmetic::fast) return;
    if (matrix_free)
      throw UnsupportedOperation(std::string("SolveOptions: arithmetic '") + to_string(arithmetic) +
                                 "' is one of products with a matrix; an operator has its own");
    const VectorOps<V>& ops = vector_ops();
    bool sums = ops.dot_compensated != nullptr && ops.sums_compensated != nullptr;
    const auto multiplies = [&]<class W>(std::type_identity<W>) {
      return std::visit(
          [&](const auto& a) {
            return ctx->template matrices<W>(a.operand()).spmv_careful != nullptr;
          },
          matrix);
    };
    bool products = multiplies(std::type_identity<V>()) && with_operand([&](const auto& A) {
                      return ctx->template matrices<V>(A).spmv_careful != nullptr;
                    });
    if (widens()) {  // the true residual is one in double
      products = products && multiplies(std::type_identity<double>());
      sums = sums && ctx->template vectors<double>().dot_compensated != nullptr;
    }
    if (!products || (is_compensated(arithmetic) && !sums))
      throw UnsupportedOperation(std::string("SolveOptions: backend '") + ctx->backend().name +
                                 "' does not offer arithmetic '" + to_string(arithmetic) + "'");
  }

  bool has_transposed_matrix() const {
    return matrix_free ? bool(matrix_free->apply_transposed) : transpose || narrow_transpose;
  }
  /// Whether there are A^T and, where it is needed, M^-T for a method with products with A^T.
  bool has_transposes(const MethodFacts& method) const {
    const bool has_transpose = has_transposed_matrix();
    if (!has_transpose || method.normal_equations) return has_transpose;
    const auto M = preconditioner().local();  // which passes apply themselves
    if (!M) return preconditioner().has_transpose();
    return M->kind != PreconditionerKind::block_jacobi || M->transposed_inverse != nullptr ||
           rows == 0;
  }

  /// y := A x with the matrix given by the caller, whatever the iterations store, or A^T x.
  void apply_exactly(const Vector<const V, Space>& x, const Vector<V, Space>& y,
                     bool transposed = false) const {
    if (matrix_free || (uses_narrow() && narrow_is_exact)) return apply(x, y, transposed);
    among_ranks(x, y, transposed, [&] {
      if (transposed)
        multiply_with(*transpose, uses_narrow() ? nullptr : product_plans.transpose.get(), x, y);
      else
        multiply_with(matrix, product_plans.matrix.get(), x, y);
    });
  }
  /// r := b - A x with that matrix in one operation, to the bit what a product and a subtraction are. False, and nothing done:
  /// there is no such operation.
  bool subtract_product_exactly(const Vector<const V, Space>& b, const Vector<const V, Space>& x,
                                const Vector<V, Space>& r) const {
    return with_exact_operand([&](const auto& A) {
      const auto relax = ctx->template matrices<V>(A).relax;
      if (relax != nullptr) relax(ctx->queue(), A, {.f = b.data()}, x.data(), r.data());
      return relax != nullptr;
    });
  }
  /// The same with its 2-norm and, unless that is null, the one of b, added up as a product has its rows: their last bits are not nrm2's.
  bool residual_exactly(const Vector<const V, Space>& b, const Vector<const V, Space>& x,
                        const Vector<V, Space>& r, double* norm, double* norm_of_b) const {
    return with_exact_operand([&](const auto& A) {
      const auto residual = ctx->template matrices<V>(A).residual;
      return residual != nullptr &&
             residual(ctx->queue(), A, b.data(), x.data(), r.data(), norm, norm_of_b);
    });
  }
  /// f(A) for the matrix as it was given, where products with it are one operation of the backend; else false.
  template <class F>
  bool with_exact_operand(const F& f) const {
    if (matrix_free || ranks || arithmetic != Arithmetic::fast) return false;
    if (uses_narrow() && narrow_is_exact) return with_operand(f);
    return std::visit(
        [&](const auto& a) {
          auto operand = a.operand();
          operand.plan = product_plans.matrix.get();
          return f(operand);
        },
        matrix);
  }
  /// The same with a matrix and its plan.
  template <class M, class W>
  void multiply_with(const Matrix<M, Space>& A, const MatrixPlan* plan,
                     const Vector<const W, Space>& x, const Vector<W, Space>& y) const {
    std::visit(
        [&](const auto& a) {
          auto operand = a.operand();
          operand.plan = plan;
          multiply_with(ctx->queue(), operand, x.data(), y.data());
        },
        A);
  }

  /// Whether a float matrix can be applied to double vectors, for the true residual of float ones.
  bool widens() const {
    if constexpr (!std::is_same_v<V, float>) return false;
    if (matrix_free || ctx->template vectors<double>().nrm2 == nullptr) return false;
    return std::visit(
        [&](const auto& a) { return ctx->template matrices<double>(a.operand()).spmv != nullptr; },
        matrix);
  }
  /// y := A x in double with a float matrix.
  void apply_widened(const Vector<const double, Space>& x, const Vector<double, Space>& y) const {
    among_ranks(x, y, false, [&] { multiply_with(matrix, product_plans.widened.get(), x, y); });
  }

  const PreconditionerBase<V, Exec>& preconditioner() const {
    if (given) return *given;
    return uses_normal ? of_normal : built_in;
  }
  /// Throws where the caller's says of itself what cannot be.
  void check_given() const {
    if (!given) return;
    const auto M = given->local();
    if (!M || M->kind == PreconditionerKind::none) return;
    require(M->inverse != nullptr || rows == 0,
            "PreconditionerBase: local() has no inverse; has it been set up with a matrix?");
    if (M->kind != PreconditionerKind::block_jacobi) return;
    require(M->block_size >= 1 && M->block_size <= max_block_size,
            "PreconditionerBase: the block size of local() must be 1 to 16");
    offered(vector_ops().precondition, ctx->backend(), "block-Jacobi preconditioning");
  }
  bool is_local() const { return preconditioner().local().has_value(); }
  /// The kind of one that passes apply; empty: it is enqueued between them.
  std::optional<PreconditionerKind> kind_in_passes() const {
    const auto M = preconditioner().local();
    return M ? std::optional(M->kind) : std::nullopt;
  }

  /// Throws UnsupportedOperation unless the backend offers what the plainest form of a solve needs.
  void require_operations() const {
    const Backend& backend = ctx->backend();
    const VectorOps<V>& ops = vector_ops();
    offered(ops.axpy, backend, "axpy");
    offered(ops.axpby, backend, "axpby");
    offered(ops.scal, backend, "scal");
    offered(ops.multiply, backend, "multiply");
    offered(ops.dot, backend, "dot");
    offered(ops.nrm2, backend, "nrm2");
    if (const auto M = preconditioner().local(); M && M->kind == PreconditionerKind::block_jacobi)
      offered(ops.precondition, backend, "block-Jacobi preconditioning");
    if (matrix_free) return;
    std::visit(
        [&](const auto& a) {
          offered(ctx->template matrices<V>(a.operand()).spmv, backend, "spmv");
        },
        matrix);
    with_operand(
        [&](const auto& A) { offered(ctx->template matrices<V>(A).spmv, backend, "spmv"); });
  }

  const MethodPasses<V>& passes(Method method) const {
    return vector_ops().methods[static_cast<int>(method)];
  }
  /// Whether the backend has the passes of a method. Products, and preconditioners that are not built in, need not be
  /// the backend's own.
  bool has_phases(Method method) const {
    if (!is_phased(method)) return false;
    const MethodFacts& facts = method_facts(method);
    return passes(method).iteration[facts.iteration_phases - 1] != nullptr;
  }
  /// Whether the backend has the plain operations of a method.
  bool has_plain_operations(Method method) const {
    const VectorOps<V>& ops = vector_ops();
    return has_plain_form(method) &&
           (is_phased(method) ||
            (ops.mdot != nullptr && ops.maxpy != nullptr && ops.normalize != nullptr));
  }
  bool has_product_with_dots() const {
    return arithmetic == Arithmetic::fast && !matrix_free && with_operand([&](const auto& A) {
             return ctx->template matrices<V>(A).spmv_dot != nullptr;
           });
  }

  /// Whether the preconditioner does, on all ranks: theirs are of other blocks, which may differ in that.
  bool only_enqueues() const { return ranks ? enqueues_on_all : preconditioner().only_enqueues(); }
  /// Finds out what only_enqueues() says, at the beginning of a solve.
  void agree_on_preconditioner() {
    if (ranks && given) enqueues_on_all = !anywhere(!given->only_enqueues());
  }

  /// Whether the backend runs many iterations in one call. A run has passes apply the preconditioner; those of devices,
  /// which are planned, can have it enqueued between them.
  bool runs(Method method) const {
    if (matrix_free || !is_phased(method)) return false;
    if (!is_local() && !(only_enqueues() && plans())) return false;
    return with_operand([&](const auto& A) {
      return ctx->template matrices<V>(A).run[static_cast<int>(method)] != nullptr;
    });
  }

  /// Whether the backend sets up for its runs, as devices do.
  bool plans() const {
    if (matrix_free) return false;
    return with_operand(
        [&](const auto& A) { return ctx->template matrices<V>(A).run_plan != nullptr; });
  }
  std::unique_ptr<RunPlan> make_plan(PlannedRuns runs) const {
    if (!plans()) return nullptr;
    if (const auto kind = kind_in_passes()) runs.preconditioner = *kind;
    // The best that holds a preconditioner between passes, or sums over ranks.
    if (!kind_in_passes() || ranks) runs.form = SolveForm::graph;
    return with_operand([&](const auto& A) {
      return ctx->template matrices<V>(A).run_plan(ctx->queue(), A, runs);
    });
  }

  /// Whether the backend makes steps on a basis in one launch.
  bool has_resident_steps() const {
    if (matrix_free || !is_local()) return false;
    return with_operand(
        [&](const auto& A) { return ctx->template matrices<V>(A).arnoldi != nullptr; });
  }

  /// Bytes of the entries of the diagonal and of their columns, as iterations read them.
  double diagonal_bytes() const {
    const auto of_entry = [](const auto& a) {
      double bytes = sizeof(a.values(0));
      if constexpr (requires { a.short_columns; }) bytes += cost::column_bytes(a.operand());
      return bytes;
    };
    return double(rows) *
           (uses_narrow() ? std::visit(of_entry, *narrow) : std::visit(of_entry, matrix));
  }

  /// Compulsory traffic of one product with the operator that iterations use, from its arrays or from the dictionary of its
  /// rows, if it has one; by the table of values, if it has one.
  Cost product_cost(bool from_dictionary, bool by_table) const {
    if (matrix_free) return cost::vectors(rows, 2, 0, sizeof(V));
    const auto cost_of = [&](auto layout) {
      std::visit(
          [&](auto& a) {
            if (!from_dictionary) a.dictionary = {};
            if constexpr (requires { a.value_table; })
              if (!by_table) a.value_table = {};
          },
          layout);
      return spmv_cost(layout, sizeof(V));
    };
    const Cost own = uses_narrow() ? cost_of(*narrow) : cost_of(matrix);
    return ranks ? own + ranks->halo_cost(sizeof(V)) : own;
  }
};

}  // namespace cnc::detail
