// y := of_x x + of_y y + of_residual D^-1 (f - A x), and residuals with their norms, of every backend that has them, for every
// format, block size, precision and square edge shape, against the reference backend on the CSR matrix that the layouts were built from.

#include "conformance/layouts.hpp"
#include "conformance/per_backend.hpp"

namespace cnc::testing {
namespace {

/// Residuals, first steps and later ones.
struct Step {
  double of_x, of_y, of_residual;
  bool scaled;
  bool has_f = true;
};
constexpr Step steps[] = {{0, 0, 1, false},
                          {1, 0, 0.7, true},
                          {1.3, -0.3, 0.7, true},
                          {0, 2, -1, false},
                          {1, 1, 0.4, false, false}};

template <class M, class V>
class RelaxCheck {
 public:
  RelaxCheck(const Backend& backend, Findings& findings, const NamedMatrix<M>& matrix)
      : backend_(backend), findings_(findings), matrix_(matrix), A_(matrix.A) {
    for (GuardedVector<V>* v : {&x_, &f_, &inverse_, &before_}) v->randomize(turn_++);
    weights_ = row_weights(A_, x_);
    for (const Step& step : steps) {
      expected_.push_back(start(step));
      matrix_ops<BcsrOperand<M>, V>(reference())
          .relax(TestQueue(reference(), A_.rows, 1), A_.operand(),
                 step_of(step, f_.data(), inverse_.data()), x_.data(), expected_.back().data());
    }
  }

  void run() {
    for (const Layout<M>& layout : product_layouts(A_, largest_block(A_)))
      for (std::size_t k = 0; k < std::size(steps); ++k) {
        const int threads = 1 + turn_++ % max_threads;
        std::visit([&](const auto& a) { check(layout, a, k, threads); }, layout.A);
      }
  }
  void run_residuals() {
    for (const Layout<M>& layout : product_layouts(A_, largest_block(A_)))
      for (const bool wants_norm_of_f : {true, false})
        std::visit([&](const auto& a) { check_residual(layout, a, wants_norm_of_f); }, layout.A);
  }

 private:
  static RelaxationStep<V> step_of(const Step& step, const V* f, const V* inverse) {
    return {V(step.of_x), V(step.of_y), V(step.of_residual), step.has_f ? f : nullptr,
            step.scaled ? inverse : nullptr};
  }
  /// y before the step: never a number where it is not to be read.
  GuardedVector<V> start(const Step& step) const {
    GuardedVector<V> y(A_.rows, Alignment::odd);
    if (step.of_y == 0)
      y.fill(GuardedVector<V>::nan());
    else
      y.assign(before_);
    return y;
  }
  double tolerance(const Step& step, index_t row) const {
    const RowWeight& weight = weights_[static_cast<std::size_t>(row)];
    const double residual =
        (std::abs(double(f_[row])) + weight.absolute_sum) * std::abs(step.of_residual);
    const double scaled = step.scaled ? residual * std::abs(double(inverse_[row])) : residual;
    const double others = std::abs(step.of_x * x_[row]) + std::abs(step.of_y * before_[row]);
    return sum_tolerance<V>(weight.length + 4, scaled + others);
  }

  template <class SparseMatrix>
  void check(const Layout<M>& layout, const SparseMatrix& A, std::size_t k, int threads) {
    const auto& ops = matrix_ops<decltype(A.operand()), V>(backend_);
    if (!findings_.offered(ops.relax, "relax of " + layout.format)) return;
    GuardedVector<V> y = start(steps[k]);
    const TestQueue queue(backend_, A.rows, threads);
    const auto step = step_of(steps[k], queue(std::as_const(f_)), queue(std::as_const(inverse_)));
    ops.relax(queue, Planned(ops, queue, queue(A)).operand, step, queue(std::as_const(x_)),
              queue(y));
    queue.finish();
    findings_.compare(
        difference(y, expected_[k], [&](index_t row) { return tolerance(steps[k], row); }), [&] {
          return "relax " + std::string(Precision<M, V>::name()) + " " + layout.name + ", " +
                 matrix_.name + ", step " + std::to_string(k) + ", " + std::to_string(threads) +
                 " threads";
        });
  }

  /// f - A x in one operation with the norms, which are those of what is there. Blocks may be left to others.
  template <class SparseMatrix>
  void check_residual(const Layout<M>& layout, const SparseMatrix& A, bool wants_norm_of_f) {
    const auto& ops = matrix_ops<decltype(A.operand()), V>(backend_);
    if (!findings_.offered(ops.residual, "residual of " + layout.format)) return;
    const GuardedVector<V> before = start(steps[0]);
    GuardedVector<V> r = before;
    double norm_of_r = -1, norm_of_f = -1;
    const TestQueue queue(backend_, A.rows, 1);
    const bool done = ops.residual(queue, Planned(ops, queue, queue(A)).operand,
                                   queue(std::as_const(f_)), queue(std::as_const(x_)), queue(r),
                                   queue(norm_of_r), wants_norm_of_f ? queue(norm_of_f) : nullptr);
    queue.finish();
    const auto compare = [&](const std::string& difference, const char* what) {
      findings_.compare(difference, [&] {
        return "residual " + std::string(Precision<M, V>::name()) + " " + layout.name + ", " +
               matrix_.name + ", " + what;
      });
    };
    if (!done) {
      compare(unless(block_size(layout.A) > 1, "is not offered"), "offer");
      return compare(unless(r.same_bits(before) && norm_of_r == -1, "did something"), "refusal");
    }
    compare(difference(r, expected_[0], [&](index_t row) { return tolerance(steps[0], row); }),
            "r");
    const auto compare_norm = [&](double actual, const GuardedVector<V>& of, const char* what) {
      compare(difference(actual, norm(of), sum_tolerance<double>(A_.rows + 4, norm(of))), what);
    };
    compare_norm(norm_of_r, r, "norm of r");
    if (wants_norm_of_f)
      compare_norm(norm_of_f, f_, "norm of f");
    else
      compare(unless(norm_of_f == -1, "was written"), "norm of f");
  }

  const Backend& backend_;
  Findings& findings_;
  const NamedMatrix<M>& matrix_;
  const CsrMatrix<M>& A_;
  GuardedVector<V> x_{A_.rows, Alignment::odd}, f_{A_.rows, Alignment::even},
      inverse_{A_.rows, Alignment::odd}, before_{A_.rows, Alignment::odd};
  std::vector<RowWeight> weights_;
  std::vector<GuardedVector<V>> expected_;
  int turn_ = 31;
};

template <class Check>
void for_each_matrix(const Backend& backend, Findings& findings, const Check& check) {
  for_each_precision([&](auto precision) {
    using M = typename decltype(precision)::M;
    using V = typename decltype(precision)::V;
    for (const NamedMatrix<M>& matrix : conformance_matrices<M>())
      if (matrix.A.rows == matrix.A.cols && (matrix.A.rows < 1000 || !is_emulated(backend)))
        check(RelaxCheck<M, V>(backend, findings, matrix));
  });
}

void check_relax(const Backend& backend, Findings& findings) {
  for_each_matrix(backend, findings, [](auto&& of_matrix) { of_matrix.run(); });
}
void check_residuals(const Backend& backend, Findings& findings) {
  for_each_matrix(backend, findings, [](auto&& of_matrix) { of_matrix.run_residuals(); });
}

CNC_CONFORMANCE_TEST("relaxation steps", check_relax);
CNC_CONFORMANCE_TEST("residuals with their norms", check_residuals);

}  // namespace
}  // namespace cnc::testing
