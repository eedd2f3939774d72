// Several interleaved columns: products in every format, dots and preconditioners against the reference column by column;
// solves phase by phase against the reference's runs of each column; columns that are frozen or break down.

#include "conformance/layouts.hpp"
#include "conformance/method_state.hpp"
#include "conformance/test_preconditioner.hpp"

namespace cnc::testing {
namespace {

constexpr int column_counts[] = {1, 2, 4, 8, 16};

template <class V>
GuardedVector<V> column_of(const GuardedVector<V>& all, int columns, int c) {
  GuardedVector<V> one(all.size() / columns, Alignment::odd);
  for (index_t i = 0; i < one.size(); ++i) one[i] = all[i * columns + c];
  return one;
}

template <class V>
GuardedVector<V> random_columns(index_t n, int columns, std::uint64_t seed,
                                Alignment alignment = Alignment::odd) {
  GuardedVector<V> all(n * columns, alignment);
  all.randomize(seed);
  return all;
}

/// alpha, beta, and which dots a product leaves.
struct WantedProduct {
  double alpha, beta;
  enum { nothing, with_y, with_another } dots;
  bool self;
};
constexpr WantedProduct products[] = {{1, 0, WantedProduct::nothing, false},
                                      {1, 0, WantedProduct::with_another, false},
                                      {-1, 1, WantedProduct::with_y, false},
                                      {0.5, -2, WantedProduct::nothing, false},
                                      {1, 0, WantedProduct::with_another, true}};

template <class V>
struct ProductResult {
  GuardedVector<V> y;
  ColumnScalars scalars;
  bool stayed_inside = true;
};

template <class V, class SparseMatrix>
ProductResult<V> multiply(const Backend& backend, const SparseMatrix& A, int columns,
                          const WantedProduct& product, const GuardedVector<V>& x,
                          const GuardedVector<V>& y, const GuardedVector<V>& w, int threads) {
  ProductResult<V> result{y, {}};
  if (product.beta == 0) result.y.fill(GuardedVector<V>::nan());
  const TestQueue queue(backend, A.rows, threads);
  V* const to = queue(result.y);
  ColumnDots<V> dots;
  if (product.dots != WantedProduct::nothing) {
    dots.with = product.dots == WantedProduct::with_y ? to : queue(w);
    dots.scalars = queue(result.scalars);
    dots.with_scalar = 2;
    if (product.self) dots.self_scalar = 1;
  }
  matrix_ops<V>(backend, A.operand())
      .spmm(queue, columns, V(product.alpha), queue(A), queue(x), V(product.beta), to, dots);
  queue.finish();
  result.stayed_inside = queue.walls_intact() && result.y.walls_intact();
  return result;
}

template <class M, class V>
void check_products_with(const Backend& backend, Findings& findings, const NamedMatrix<M>& matrix,
                         unsigned& turn) {
  const CsrMatrix<M>& A = matrix.A;
  for (const Layout<M>& layout : layouts(A, largest_block(A))) {
    const int columns = column_counts[turn % std::size(column_counts)];
    WantedProduct product = products[turn / std::size(column_counts) % std::size(products)];
    ++turn;
    if (A.rows != A.cols) product.dots = WantedProduct::nothing;
    // Packs are read where all three allow it.
    const Alignment alignment = turn % 4 != 0 ? Alignment::even : Alignment::odd;
    const auto x = random_columns<V>(A.cols, columns, 31, alignment);
    const auto y = random_columns<V>(A.rows, columns, 32, Alignment::even);
    const auto w = random_columns<V>(A.rows, columns, 33, Alignment::even);
    const auto label = [&] {
      return "spmm " + std::string(Precision<M, V>::name()) + " " + layout.name + ", " +
             matrix.name + ", " + std::to_string(columns) + " columns, alpha " +
             std::to_string(product.alpha) + ", beta " + std::to_string(product.beta);
    };
    std::visit(
        [&](const auto& a) {
          if (!findings.offered(matrix_ops<V>(backend, a.operand()).spmm,
                                "spmm of " + layout.format))
            return;
          const int threads = 1 + static_cast<int>(turn) % most_threads(backend);
          const auto result = multiply(backend, a, columns, product, x, y, w, threads);
          findings.compare(unless(result.stayed_inside, "wrote outside of its memory"), label);
          const auto again =
              multiply(backend, a, columns, product, x, y, w, 1 + threads % most_threads(backend));
          findings.compare(
              unless(again.y.same_bits(result.y) &&
                         std::memcmp(&again.scalars, &result.scalars, sizeof again.scalars) == 0,
                     "other bits on another run or with other threads"),
              label);
          for (int c = 0; c < columns; ++c) {
            const auto of_x = column_of(x, columns, c), of_w = column_of(w, columns, c);
            GuardedVector<V> expected = column_of(y, columns, c);
            const TestQueue oracle(reference(), A.rows, 1);
            matrix_ops<BcsrOperand<M>, V>(reference())
                .spmv(oracle, V(product.alpha), A.operand(), of_x.data(), V(product.beta),
                      expected.data());
            const auto weights = row_weights(A, of_x);
            const auto actual = column_of(result.y, columns, c);
            findings.compare(
                difference(actual, expected,
                           [&](index_t row) {
                             const RowWeight& weight = weights[static_cast<std::size_t>(row)];
                             return sum_tolerance<V>(weight.length + 2, weight.absolute_sum + 2);
                           }),
                label);
            if (product.dots == WantedProduct::nothing) continue;
            double with = 0, self = 0, size = 0;
            for (index_t i = 0; i < A.rows; ++i) {
              const double other = product.dots == WantedProduct::with_y ? actual[i] : of_w[i];
              with += other * double(actual[i]);
              self += double(actual[i]) * double(actual[i]);
              size += std::abs(other * double(actual[i]));
            }
            const MethodScalars& s = result.scalars.of[c];
            findings.compare(difference(s[2], with, reduction_tolerance(A.rows, size)), label);
            if (product.self)
              findings.compare(difference(s[1], self, reduction_tolerance(A.rows, self)), label);
          }
        },
        misaligned(layout.A));
  }
}

void check_products(const Backend& backend, Findings& findings) {
  for_each_precision([&](auto precision) {
    using M = typename decltype(precision)::M;
    using V = typename decltype(precision)::V;
    unsigned turn = 0;
    for (const NamedMatrix<M>& matrix : conformance_matrices<M>()) {
      if (is_emulated(backend) && is_sanitized && matrix.A.rows > 100) continue;
      check_products_with<M, V>(backend, findings, matrix, turn);
    }
  });
}

CNC_CONFORMANCE_TEST("products with columns", check_products);

// --- solves -----------------------------------------------------------------------------------------------

template <class V>
struct ColumnsState {
  std::vector<GuardedVector<V>> vectors;
  ColumnScalars scalars;
};

/// The phases of a solve with columns, through the entries of a backend.
template <class Method, class V>
class ColumnStepper {
 public:
  ColumnStepper(const Backend& backend, const TestQueue& queue, int columns,
                const BcsrOperand<V>& A, const PreconditionerOperand<V>& M, ColumnsState<V>& state)
      : queue_(queue),
        vectors_(vector_ops<V>(backend)),
        matrix_(matrix_ops<BcsrOperand<V>, V>(backend)),
        columns_(columns),
        A_(A),
        M_(M),
        scalars_(queue(state.scalars)) {
    for (std::size_t k = 0; k < state.vectors.size(); ++k) v_.at[k] = queue(state.vectors[k]);
  }
  template <class Phases, class Entries>
  void execute(const Entries& entries) {
    Phases::for_each([&]<class Phase>(int k) {
      if constexpr (is_product<Phase>) {
        ColumnDots<V> dots;
        if constexpr (Phase::dots > 0)
          dots = {v_[Phase::with[0]], scalars_, Phase::scalar[0], Phase::scalar[1]};
        matrix_.spmm(queue_, columns_, V(1), A_, v_[Phase::of], V(0), v_[Phase::to], dots);
      } else {
        pass<Phase>(entries[k]);
      }
    });
  }
  template <class Pass>
  void pass(ColumnPassEntry<V> entry) {
    const bool local = M_.kind != PreconditionerKind::block_jacobi || !Pass::M.active();
    if (local) return entry(queue_, A_.rows, columns_, M_, v_, scalars_, PassPart::whole);
    if constexpr (Pass::M.active()) {
      entry(queue_, A_.rows, columns_, {}, v_, scalars_, PassPart::before);
      vectors_.precondition_columns(queue_, A_.rows, columns_, M_, v_[Pass::M.from],
                                    v_[Pass::M.to]);
      if constexpr (stores_scalars<Pass>)
        entry(queue_, A_.rows, columns_, {}, v_, scalars_, PassPart::after);
    }
  }

 private:
  const TestQueue& queue_;
  const VectorOps<V>& vectors_;
  const MatrixOps<BcsrOperand<V>, V>& matrix_;
  int columns_;
  BcsrOperand<V> A_;
  PreconditionerOperand<V> M_;
  MethodVectors<V> v_;
  ColumnScalars* scalars_;
};

/// Column 0 is frozen by its target after an iteration, the last one from the start; the others go on.
template <class Method, class V>
void check_solve(const Backend& backend, Findings& findings, int method, index_t n, int columns,
                 const TestPreconditioner<V>& M, int threads) {
  const auto which = cnc::Method(method);
  const CsrMatrix<V> A = matrix_for<V>(which, n);
  const auto vectors = static_cast<std::size_t>(Method::vectors);
  ColumnsState<V> state{{vectors, GuardedVector<V>(n * columns, Alignment::odd)}, {}};
  state.vectors[Method::x].randomize(41);
  state.vectors[Method::r].randomize(42);
  const ColumnsState<V> before = state;
  const index_t most = n <= 2 ? 1 : 3;  // beyond convergence there are rounding errors alone
  const auto label = [&] {
    return std::string("columns of ") + Method::name + (sizeof(V) == 4 ? " f32, " : " f64, ") +
           M.name() + ", n = " + std::to_string(n) + ", " + std::to_string(columns) + " columns, " +
           std::to_string(threads) + " threads";
  };
  const ColumnPasses<V>& passes = vector_ops<V>(backend).column_methods[method];
  {
    const TestQueue queue(backend, n, threads);
    ColumnStepper<Method, V> steps(backend, queue, columns, queue(A), M.in(queue), state);
    steps.template execute<typename Method::Start>(passes.start);
    queue.finish();
    findings.compare(unless(queue.walls_intact(), "wrote outside of its memory"), label);
  }
  for (int c = 0; c < columns; ++c) state.scalars.rr_target[c] = -1;
  state.scalars.rr_target[0] = std::numeric_limits<double>::infinity();
  if (columns > 2) state.scalars.frozen[columns - 1] = 1;
  {
    const TestQueue queue(backend, n, threads);
    ColumnStepper<Method, V> steps(backend, queue, columns, queue(A), M.in(queue), state);
    for (index_t k = 0; k < most; ++k)
      steps.template execute<typename Method::Iteration>(passes.iteration);
    if constexpr (!std::is_void_v<typename Method::Finish>)
      steps.template pass<typename Method::Finish>(passes.finish);
    queue.finish();
    findings.compare(unless(queue.walls_intact(), "wrote outside of its memory"), label);
  }
  for (const auto& vector : state.vectors)
    findings.compare(unless(vector.walls_intact(), "wrote outside a vector"), label);
  if (n == 0) return;
  for (int c = 0; c < columns; ++c) {
    MethodState<V> expected(which, n, Alignment::odd);
    expected.x() = column_of(before.vectors[Method::x], columns, c);
    expected.r() = column_of(before.vectors[Method::r], columns, c);
    const double first = norm(expected.r());
    const index_t limit = columns > 2 && c == columns - 1 ? 0 : c == 0 ? 1 : most;
    const MethodRun run =
        reference_run(which, A, M.in(TestQueue(reference(), n, 1)), expected, limit);
    const MethodScalars& s = state.scalars.of[c];
    findings.compare(unless(state.scalars.iterations[c] == run.iterations, "other iterations"),
                     label);
    findings.compare(unless(s.breakdown == expected.scalars.breakdown, "another breakdown"), label);
    const double tolerance =
        method_tolerance<V>(method_facts(which), limit + 1, 5 + M.block_size());
    const auto close = [&](int vector, const GuardedVector<V>& wanted, double size) {
      findings.compare(
          difference(column_of(state.vectors[static_cast<std::size_t>(vector)], columns, c), wanted,
                     [&](index_t) { return tolerance * size; }),
          label);
    };
    close(Method::x, expected.x(), norm(expected.x()));
    close(Method::r, expected.r(), first);
    if (run.iterations > 0)
      findings.compare(difference(std::sqrt(state.scalars.rr_log[run.iterations - 1][c]),
                                  std::sqrt(expected.scalars.rr()), tolerance * first),
                       label);
  }
}

template <class V>
void check_solves(const Backend& backend, Findings& findings) {
  Methods<V>::for_each([&]<class Method>(int method) {
    if constexpr (is_in<Method, ColumnMethods<V>>) {
      // Variants are products with one mapping, beside all vector operations.
      if (!findings.offered(matrix_ops<BcsrOperand<V>, V>(backend).spmm, "spmm") ||
          !findings.offered(vector_ops<V>(backend).column_methods[method].start[0],
                            std::string("columns of ") + Method::name))
        return;
      unsigned turn = 0;
      for (const index_t n : {0, 1, 2, 17, 33, 513, 2100}) {
        if (is_emulated(backend) && is_sanitized && n > 33) continue;
        for (const TestPreconditioner<V>& M : test_preconditioners<V>(n, Alignment::odd))
          for (const int columns : column_counts)
            // A third of them by turns.
            if (++turn % 3 == 0)
              check_solve<Method, V>(backend, findings, method, n, columns, M,
                                     1 + static_cast<int>(turn) % most_threads(backend));
      }
    }
  });
}

void check_columns(const Backend& backend, Findings& findings) {
  check_solves<double>(backend, findings);
  check_solves<float>(backend, findings);
}

CNC_CONFORMANCE_TEST("method phases with columns", check_columns);

/// dot_columns and precondition_columns.
template <class V>
void check_vectors(const Backend& backend, Findings& findings) {
  const VectorOps<V>& ops = vector_ops<V>(backend);
  if (!findings.offered(ops.dot_columns, "dot_columns") ||
      !findings.offered(ops.precondition_columns, "precondition_columns"))
    return;
  for (const index_t n : {0, 1, 5, 33, 511, 2100})
    for (const int columns : column_counts) {
      const auto x = random_columns<V>(n, columns, 51), y = random_columns<V>(n, columns, 52);
      GuardedVector<double> result(columns, Alignment::odd);
      const TestQueue queue(backend, n, most_threads(backend));
      ops.dot_columns(queue, n, columns, queue(x), queue(y), queue(result));
      queue.finish();
      const auto label = [&] {
        return "n = " + std::to_string(n) + ", " + std::to_string(columns) + " columns";
      };
      findings.compare(unless(queue.walls_intact() && result.walls_intact(), "wrote outside"),
                       label);
      for (int c = 0; c < columns; ++c) {
        double sum = 0, size = 0;
        for (index_t i = 0; i < n; ++i) {
          const double term = double(x[i * columns + c]) * double(y[i * columns + c]);
          sum += term;
          size += std::abs(term);
        }
        findings.compare(difference(result[c], sum, reduction_tolerance(n, size)), label);
      }
      for (const TestPreconditioner<V>& M : test_preconditioners<V>(n, Alignment::odd)) {
        GuardedVector<V> z(n * columns, Alignment::odd);
        const TestQueue other(backend, n, most_threads(backend));
        ops.precondition_columns(other, n, columns, M.in(other), other(x), other(z));
        other.finish();
        for (int c = 0; c < columns; ++c) {
          const auto of_x = column_of(x, columns, c);
          GuardedVector<V> expected(n, Alignment::odd);
          const TestQueue oracle(reference(), n, 1);
          vector_ops<V>(reference())
              .precondition(oracle, n, M.in(oracle), of_x.data(), expected.data());
          findings.compare(difference(column_of(z, columns, c), expected,
                                      [&](index_t) { return sum_tolerance<V>(20, 20); }),
                           label);
        }
      }
    }
}

void check_column_vectors(const Backend& backend, Findings& findings) {
  check_vectors<double>(backend, findings);
  check_vectors<float>(backend, findings);
}

CNC_CONFORMANCE_TEST("vector operations with columns", check_column_vectors);

}  // namespace
}  // namespace cnc::testing
