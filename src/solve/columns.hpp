#pragma once

#include <cnc/contract/columns.hpp>
#include <cnc/solver.hpp>

#include "on_each.hpp"
#include "solve/residual.hpp"
#include "solve/system.hpp"
#include "solve/tally.hpp"
#include "solve/workspace.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <tuple>
#include <vector>

namespace cnc::detail {

/// Columns of the caller's to interleaved ones, rows in the order of the iterations; zeros where there is no column.
template <class V, class View>
struct Interleave {
  View from;
  const index_t* permutation;  ///< null: rows as given
  V* to;
  int columns, first, count;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t place) const {
    const offset_t i = place / columns;
    const int c = static_cast<int>(place % columns);
    const offset_t row = permutation != nullptr ? permutation[i] : i;
    to[place] = c < count ? from(row, first + c) : V(0);
  }
};

/// One column back.
template <class V, class View>
struct TakeColumn {
  const V* from;
  const index_t* permutation;
  View to;
  int columns, column, target;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    to(permutation != nullptr ? permutation[i] : i, target) = from[i * columns + column];
  }
};

/// What a vector costs among interleaved ones, over one alone: fewer of a matrix's rows fit into a cache, and iterations are
/// done phase by phase. Measured on a host and a device.
inline constexpr double interleaved_cost = 1.4;

/// How many columns are solved together, one batch after the other: the cheapest by what passes through memory. The last
/// may be filled up with columns of zeros.
///
/// Shapes   matrix, vectors: bytes that an iteration moves for any number of columns, and for each; least, most: columns of
///          a batch, if it is one
inline std::vector<int> split_columns(int count, double matrix, double vectors, int least,
                                      int most) {
  std::vector<double> cost(static_cast<std::size_t>(count) + 1, 0.0);
  std::vector<int> choice(cost.size(), 1);
  for (int left = 1; left <= count; ++left) {
    double& best = cost[static_cast<std::size_t>(left)];
    best = std::numeric_limits<double>::infinity();
    for (int size = 1; size <= most; size *= 2) {
      if (size > 1 && size < least) continue;
      const double each = size == 1 ? vectors : interleaved_cost * vectors;
      const double with =
          matrix + size * each + cost[static_cast<std::size_t>(std::max(0, left - size))];
      if (with >= best) continue;
      best = with;
      choice[static_cast<std::size_t>(left)] = size;
    }
  }
  std::vector<int> batches;
  for (int left = count; left > 0; left -= batches.back())
    batches.push_back(choice[static_cast<std::size_t>(left)]);
  return batches;
}

/// What a batch of columns is solved in.
template <class V, class Space>
struct ColumnWork {
  int columns = 0;
  Vector<V, Space> vectors[max_method_vectors];  ///< of the method, interleaved, x among them
  Vector<V, Space> b;
  Kokkos::View<ColumnScalars*, Space> scalars;
  Kokkos::View<ColumnScalars*, SharedSpace<Space>> host_scalars;  ///< the same on a host

  /// Of iterations: method, columns, how many, the arrays of the matrix, the preconditioner, and what kernels know of the queue.
  Recorded<std::tuple<Method, int, index_t, int, PreconditionerOperand<V>, const double*, int>>
      recorded;

  static double bytes(index_t rows, const MethodFacts& method, int columns) {
    return double(rows) * columns * (method.vectors + 1) * sizeof(V);
  }
  /// Whether there is room for so many columns of a method.
  bool holds(const MethodFacts& method, int most) const {
    return columns >= most && vectors[method.vectors - 1].extent(0) > 0;
  }
  void allocate(index_t rows, const MethodFacts& method, int most) {
    if (holds(method, most)) return;
    *this = {};
    const std::size_t size = static_cast<std::size_t>(rows) * static_cast<std::size_t>(most);
    for (int k = 0; k < method.vectors; ++k) vectors[k] = zeroed<V, Space>("cnc::columns", size);
    b = zeroed<V, Space>("cnc::columns_b", size);
    scalars = zeroed<ColumnScalars, Space>("cnc::column_scalars", 1);
    host_scalars = host_copy<ColumnScalars, Space>("cnc::host_column_scalars", scalars);
    columns = most;
  }
};

/// What the iterations of a batch did for a column.
struct ColumnOutcome {
  index_t iterations = 0;
  index_t restarts = 0;
  double initial_residual = 0;
  double tolerance = 0;  ///< absolute
  std::vector<double> history;
};

/// Iterations of a method for several columns at a time, by the phases that backends have for them. The recurrence of a
/// column starts again from its true residual, as long as that helps; whether it has converged is left to the caller, who
/// solves on from the x found, as a solve of one right-hand side.
template <class V, class Exec>
class ColumnSolve {
 public:
  using Space = typename Exec::memory_space;

  ColumnSolve(const System<V, Exec>& system, ColumnWork<V, Space>& work,
              const SolveOptions& options, Method method, const std::function<bool()>& is_patient,
              int columns, Tally& tally)
      : system_(system),
        work_(work),
        options_(options),
        which_(method),
        method_(method_facts(method)),
        is_patient_(is_patient),
        columns_(columns),
        tally_(tally),
        M_(system.preconditioner().local().value_or(PreconditionerOperand<V>())) {}

  /// Whether a solve can go this way.
  static bool offered(const System<V, Exec>& system, Method method) {
    if (system.matrix_free || !is_phased(method) || !system.is_local()) return false;
    const VectorOps<V>& ops = system.vector_ops();
    const auto multiplies = [&](const auto& A) {
      return system.ctx->template matrices<V>(A).spmm != nullptr;
    };
    return ops.column_methods[static_cast<int>(method)]
                   .iteration[method_facts(method).iteration_phases - 1] != nullptr &&
           ops.dot_columns != nullptr && ops.precondition_columns != nullptr &&
           system.with_operand(multiplies) &&
           std::visit([&](const auto& A) { return multiplies(A.operand()); }, system.matrix);
  }

  /// From b and x in the work space to a better x, for `count` columns.
  std::vector<ColumnOutcome> solve(int count) {
    start_ = Clock::now();
    std::vector<ColumnOutcome> outcomes(static_cast<std::size_t>(count));
    double residual[max_columns], sought[max_columns] = {}, norms[max_columns];
    norms_of_rhs(norms);
    true_residual(residual);
    bool active[max_columns] = {};
    for (int c = 0; c < count; ++c) {
      ColumnOutcome& outcome = outcomes[static_cast<std::size_t>(c)];
      outcome.initial_residual = residual[c];
      const double reference =
          options_.reference == ToleranceReference::rhs ? norms[c] : residual[c];
      outcome.tolerance = std::max(options_.rtol * reference, options_.atol);
      outcome.history.push_back(residual[c]);
      // Short of it, so that the caller, who sums in another order, finds the same.
      sought[c] = 0.99 * outcome.tolerance;
      active[c] = residual[c] > sought[c] && within_range(norms[c]) && within_range(residual[c]);
    }
    for (;;) {
      const bool any = std::any_of(active, active + count, [](bool a) { return a; });
      if (!any || done_ >= options_.max_iterations || seconds() >= options_.max_seconds) break;
      recurrences(residual, sought, active, outcomes);
      double now[max_columns];
      true_residual(now);
      for (int c = 0; c < count; ++c) {
        if (!active[c]) continue;
        const bool goes_on = host().of[c].breakdown == Breakdown::none && !given_up_[c] &&
                             now[c] > sought[c] && now[c] <= least_gain * residual[c];
        outcomes[static_cast<std::size_t>(c)].restarts += goes_on;
        active[c] = goes_on;
        residual[c] = now[c];
      }
    }
    for (int c = 0; c < count; ++c)
      gained_[c] = residual[c] < outcomes[static_cast<std::size_t>(c)].initial_residual;
    return outcomes;
  }

  /// Whether x of a column is better than it was.
  bool gained(int column) const { return gained_[column]; }
  SolveForm form() const { return replayed_ ? SolveForm::graph : SolveForm::fused_steps; }

 private:
  using Clock = std::chrono::steady_clock;
  /// Iterations between looks. On a host a look costs nothing.
  static constexpr index_t between_looks = is_host_space<Space> ? 1 : column_log_size;

  /// Sums of squares neither overflow nor vanish. Others are left to solves of one column, which scale.
  static bool within_range(double norm) {
    constexpr double most = sizeof(V) == 4 ? 1e15 : 1e120;
    return norm < most && norm > 1 / most;
  }

  const Queue& queue() const { return recording_ != nullptr ? *recording_ : system_.ctx->queue(); }
  ColumnScalars& host() const { return work_.host_scalars(0); }
  const Exec& exec() const { return system_.ctx->execution_space_instance(); }
  V* vector(int k) const { return work_.vectors[k].data(); }
  MethodVectors<V> vectors() const {
    MethodVectors<V> all;
    for (int k = 0; k < method_.vectors; ++k) all.at[k] = vector(k);
    return all;
  }
  const ColumnPasses<V>& passes() const {
    return system_.vector_ops().column_methods[static_cast<int>(which_)];
  }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  /// Brings the scalars to the host, and back.
  void look() {
    if constexpr (!is_host_space<Space>) {
      Kokkos::deep_copy(exec(), work_.host_scalars, work_.scalars);
      wait_for(exec());
    }
    ++tally_.host_synchronisations;
  }
  void tell() {
    if constexpr (!is_host_space<Space>) {
      Kokkos::deep_copy(exec(), work_.scalars, work_.host_scalars);
      wait_for(exec());
    }
  }

  void norms_of_rhs(double* norms) {
    system_.vector_ops().dot_columns(queue(), system_.rows, columns_, work_.b.data(),
                                     work_.b.data(), work_.scalars.data()->rr_target);
    ++tally_.backend_calls;
    look();
    for (int c = 0; c < columns_; ++c) norms[c] = std::sqrt(host().rr_target[c]);
  }

  /// r := b - A x with the matrix given, and its norms.
  void true_residual(double* norms) {
    V* const r = vector(method_.r);
    const std::size_t size =
        static_cast<std::size_t>(system_.rows) * static_cast<std::size_t>(columns_);
    Kokkos::deep_copy(
        exec(), Kokkos::subview(work_.vectors[method_.r], std::make_pair(std::size_t(0), size)),
        Kokkos::subview(work_.b, std::make_pair(std::size_t(0), size)));
    std::visit(
        [&](const auto& A) {
          auto operand = A.operand();
          operand.plan = system_.product_plans.matrix.get();
          system_.ctx->template matrices<V>(operand).spmm(queue(), columns_, V(-1), operand,
                                                          vector(method_.x), V(1), r,
                                                          {r, work_.scalars.data(), 0, -1});
        },
        system_.matrix);
    tally_.backend_calls += 2;
    look();
    for (int c = 0; c < columns_; ++c) norms[c] = std::sqrt(host().of[c].rr());
  }

  /// One recurrence for each active column from the residual in r.
  void recurrences(const double* residual, const double* sought, const bool* active,
                   std::vector<ColumnOutcome>& outcomes) {
    const int count = static_cast<int>(outcomes.size());
    double lowest[max_columns];
    index_t lowest_at[max_columns] = {};
    for (int c = 0; c < columns_; ++c) {
      const bool goes_on = c < count && active[c];
      double target = goes_on ? sought[c] : 0;
      if (goes_on && system_.is_rounded())
        target = std::max(target, narrow_reduction * residual[c]);
      host().rr_target[c] = target * target;
      host().frozen[c] = !goes_on;
      host().iterations[c] = 0;
      lowest[c] = residual[c];
      given_up_[c] = false;
    }
    tell();
    system_.with_operand(
        [&](const auto& A) { execute(A, method_.start, method_.start_phases, passes().start); });
    index_t done = 0;
    std::int32_t seen[max_columns] = {};
    while (done + done_ < options_.max_iterations && seconds() < options_.max_seconds) {
      const index_t steps = std::min(between_looks, options_.max_iterations - done_ - done);
      iterate(steps);
      look();
      done += steps;
      bool runs = false, changed = false;
      for (int c = 0; c < count; ++c) {
        ColumnOutcome& outcome = outcomes[static_cast<std::size_t>(c)];
        for (; seen[c] < host().iterations[c]; ++seen[c])
          outcome.history.push_back(std::sqrt(host().rr_log[seen[c] % column_log_size][c]));
        if (host().frozen[c] != 0 || host().of[c].breakdown != Breakdown::none) continue;
        const double now = std::sqrt(host().of[c].rr());
        if (now <= 0.5 * lowest[c]) {
          lowest[c] = now;
          lowest_at[c] = done;
        }
        if (done - lowest_at[c] >= patience && is_patient_()) lowest_at[c] = done;
        if (!(now <= options_.divergence * outcome.initial_residual) ||
            done - lowest_at[c] >= patience) {
          host().frozen[c] = 1;
          given_up_[c] = changed = true;
          continue;
        }
        runs = true;
      }
      if (changed) tell();
      if (!runs) break;
    }
    if (const ColumnPassEntry<V> finish = passes().finish) {
      finish(queue(), system_.rows, columns_, {}, vectors(), work_.scalars.data(), PassPart::whole);
      ++tally_.backend_calls;
    }
    index_t longest = 0;
    for (int c = 0; c < count; ++c) {
      outcomes[static_cast<std::size_t>(c)].iterations += host().iterations[c];
      longest = std::max<index_t>(longest, host().iterations[c]);
    }
    done_ += std::max<index_t>(longest, 1);
  }

  /// Enqueues iterations; a device replays those that came up before.
  void iterate(index_t steps) {
    const auto enqueue = [&](const Queue* recording) {
      recording_ = recording;
      system_.with_operand([&](const auto& A) {
        for (index_t k = 0; k < steps; ++k)
          execute(A, method_.iteration, method_.iteration_phases, passes().iteration);
      });
      recording_ = nullptr;
    };
    const Backend& backend = system_.ctx->backend();
    if (!work_.recorded.offered(backend) || steps < column_log_size) return enqueue(nullptr);
    const Queue& queue = system_.ctx->queue();
    if (work_.recorded.run(backend, queue,
                           {which_, columns_, steps, system_.arrays_of_matrix, M_, queue.partials,
                            queue.block_threads},
                           tally_, enqueue))
      replayed_ = true;
  }

  template <class Operand>
  void execute(const Operand& A, const PhaseFacts* phases, int count,
               const ColumnPassEntry<V>* entries) {
    for (int k = 0; k < count; ++k) {
      if (phases[k].is_product)
        multiply(A, phases[k]);
      else
        pass(phases[k], entries[k]);
    }
  }
  template <class Operand>
  void multiply(const Operand& A, const PhaseFacts& phase) {
    ColumnDots<V> dots;
    if (phase.with >= 0)
      dots = {vector(phase.with), work_.scalars.data(), phase.with_scalar, phase.self_scalar};
    system_.ctx->template matrices<V>(A).spmm(queue(), columns_, V(1),
                                              phase.transposed ? *A.transpose : A, vector(phase.of),
                                              V(0), vector(phase.to), dots);
    ++tally_.backend_calls;
  }
  /// Blocks of rows are preconditioned between the two parts of a pass.
  void pass(const PhaseFacts& phase, ColumnPassEntry<V> entry) {
    const auto part = [&](PassPart which) {
      entry(queue(), system_.rows, columns_, M_, vectors(), work_.scalars.data(), which);
      ++tally_.backend_calls;
    };
    if (!phase.M.active() || M_.kind != PreconditionerKind::block_jacobi)
      return part(PassPart::whole);
    part(PassPart::before);
    system_.vector_ops().precondition_columns(queue(), system_.rows, columns_,
                                              phase.M.transposed ? M_.transposed() : M_,
                                              vector(phase.M.from), vector(phase.M.to));
    ++tally_.backend_calls;
    if (phase.stores) part(PassPart::after);
  }

  const System<V, Exec>& system_;
  ColumnWork<V, Space>& work_;
  const SolveOptions& options_;
  Method which_;
  const MethodFacts& method_;
  const std::function<bool()>& is_patient_;
  int columns_;
  Tally& tally_;
  PreconditionerOperand<V> M_;
  const Queue* recording_ = nullptr;
  bool replayed_ = false;
  bool given_up_[max_columns] = {}, gained_[max_columns] = {};
  index_t done_ = 0;
  Clock::time_point start_;
};

/// Columns of the caller's, solved in batches as far as they go, and each of them then by solve_one(b, x, options), which goes
/// on from there and has the last word.
template <class V, class Exec>
class Batches {
 public:
  using Space = typename Exec::memory_space;

  Batches(System<V, Exec>& system, ColumnWork<V, Space>& work, const SolveOptions& options,
          Method method, const std::function<bool()>& is_patient,
          const Vector<index_t, Space>& permutation, const MultiVector<const V, Space>& b,
          const MultiVector<V, Space>& x)
      : system_(system),
        work_(work),
        options_(options),
        method_(method),
        is_patient_(is_patient),
        permutation_(permutation),
        b_(b),
        x_(x) {}

  /// Together, or every column for itself.
  ///
  /// Cost   the first time, and where there are more columns than before, allocates.
  template <class SolveOne>
  std::vector<SolveReport> solve(bool together, const SolveOne& solve_one) {
    const int count = static_cast<int>(x_.extent(1));
    const std::vector<int> batches =
        together ? batches_of(count) : std::vector<int>(static_cast<std::size_t>(count), 1);
    std::vector<SolveReport> reports;
    int first = 0;
    for (const int columns : batches) {
      const int here = std::min(columns, count - first);
      if (columns == 1)
        reports.push_back(solve_one(first, with_time_left(options_)));
      else
        solve_batch(first, here, columns, solve_one, reports);
      first += here;
    }
    return reports;
  }

 private:
  /// A device does two small systems faster one after the other, each resident; measured.
  static constexpr int least_columns = is_host_space<Space> ? 2 : 4;

  /// How many columns come together, and the work space for them.
  std::vector<int> batches_of(int count) const {
    const MethodFacts& facts = method_facts(method_);
    const double vectors = double(system_.rows) * sizeof(V);
    const double of_iteration = facts.passes + 2.0 * facts.products;
    const double matrix =
        system_.product_cost(false, false).bytes * facts.products - 2 * vectors * facts.products;
    const std::vector<int> batches = split_columns(count, matrix, vectors * of_iteration,
                                                   least_columns, most_columns(facts, count));
    if (const int most = *std::max_element(batches.begin(), batches.end()); most > 1)
      work_.allocate(system_.rows, facts, most);
    return batches;
  }

  /// As many columns as there is memory for.
  int most_columns(const MethodFacts& facts, int count) const {
    int most = 1;
    while (most < max_columns && most < count) most *= 2;
    for (; most > 1; most /= 2) {
      try {
        if (!work_.holds(facts, most))
          require_memory("Solver::solve", work_.bytes(system_.rows, facts, most), memory_of<Space>);
        break;
      } catch (const OutOfMemory&) {
      }
    }
    return most;
  }

  template <class SolveOne>
  void solve_batch(int first, int count, int columns, const SolveOne& solve_one,
                   std::vector<SolveReport>& reports) {
    const auto start = std::chrono::steady_clock::now();
    system_.uses_normal = false;  // the columns before may have come to cgnr
    const Exec& exec = system_.ctx->execution_space_instance();
    const index_t* const permutation = permutation_.extent(0) > 0 ? permutation_.data() : nullptr;
    const Vector<V, Space>& interleaved_x = work_.vectors[method_facts(method_).x];
    const offset_t places = static_cast<offset_t>(system_.rows) * columns;
    on_each(exec, places,
            Interleave<V, MultiVector<const V, Space>>{b_, permutation, work_.b.data(), columns,
                                                       first, count});
    on_each(exec, places,
            Interleave<V, MultiVector<const V, Space>>{x_, permutation, interleaved_x.data(),
                                                       columns, first, count});
    Tally tally;
    const SolveOptions now = with_time_left(options_);
    ColumnSolve<V, Exec> batch(system_, work_, now, method_, is_patient_, columns, tally);
    const std::vector<ColumnOutcome> outcomes = batch.solve(count);
    for (int c = 0; c < count; ++c)
      if (batch.gained(c))
        on_each(exec, system_.rows,
                TakeColumn<V, MultiVector<V, Space>>{interleaved_x.data(), permutation, x_, columns,
                                                     c, first + c});
    wait_for(exec);
    const double seconds = seconds_since(start);
    for (int c = 0; c < count; ++c) {
      const ColumnOutcome& outcome = outcomes[static_cast<std::size_t>(c)];
      SolveOptions rest = with_time_left(options_);
      rest.max_iterations -= std::min(outcome.iterations, rest.max_iterations);
      if (rest.reference == ToleranceReference::initial_residual && outcome.iterations > 0) {
        rest.rtol = 0;
        rest.atol = outcome.tolerance;
      }
      SolveReport report = solve_one(first + c, rest);
      if (outcome.iterations > 0) add(outcome, batch.form(), columns, report);
      report.seconds += seconds / count;
      report.backend_calls += share(tally.backend_calls, c, count);
      report.host_synchronisations += share(tally.host_synchronisations, c, count);
      reports.push_back(std::move(report));
    }
  }

  static double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  /// The limit of time is that of all columns together.
  SolveOptions with_time_left(SolveOptions options) const {
    options.max_seconds = std::max(0.0, options.max_seconds - seconds_since(begin_));
    return options;
  }
  static offset_t share(offset_t of, int c, int count) {
    return of / count + (c < of % count ? 1 : 0);
  }

  /// What the batch did for a column, before the report of its solve.
  void add(const ColumnOutcome& outcome, SolveForm form, int columns, SolveReport& report) const {
    const MethodFacts& facts = method_facts(method_);
    if (report.iterations == 0) {
      report.form = form;
      report.method = method_;
      report.recurrence_residual = outcome.history.back();
    }
    report.iterations += outcome.iterations;
    report.restarts += outcome.restarts;
    report.initial_residual = outcome.initial_residual;
    if (options_.reference == ToleranceReference::initial_residual)
      report.relative_residual = report.true_residual / outcome.initial_residual;
    if (options_.record_history) {
      std::vector<double> history = outcome.history;
      if (!report.history.empty())
        history.insert(history.end(), report.history.begin() + 1, report.history.end());
      report.history = std::move(history);
    }
    // The column's share of the matrix, and its vectors.
    Cost product = system_.product_cost(false, false);
    const Cost vectors = cost::vectors(system_.rows, 2, 0, sizeof(V));
    product.bytes = (product.bytes - vectors.bytes) / columns + vectors.bytes;
    const Cost iteration = product * facts.products + cost::vectors(system_.rows, facts.passes,
                                                                    facts.flops_per_row, sizeof(V));
    report.bytes += iteration.bytes * outcome.iterations;
    report.flops += iteration.flops * outcome.iterations;
  }

  System<V, Exec>& system_;
  ColumnWork<V, Space>& work_;
  const SolveOptions& options_;
  Method method_;
  const std::function<bool()>& is_patient_;
  const Vector<index_t, Space>& permutation_;
  const MultiVector<const V, Space>& b_;
  const MultiVector<V, Space>& x_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace cnc::detail
