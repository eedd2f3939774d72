// Compensated sums and products in a given arithmetic: against sums that are known exactly, and what is not compensated
// bit for bit.

#include "conformance/exact.hpp"
#include "conformance/layouts.hpp"
#include "conformance/method_state.hpp"

#include <cnc/contract/stored_rows.hpp>

#include <memory>

namespace cnc::testing {
namespace {

constexpr index_t lengths[] = {0, 1, 2, 7, 33, 511, 512, 513, 1025, 2100};
/// From here on a plain dot cannot help losing what is small: it has no digit right.
constexpr index_t long_enough = 513;

template <class V>
void check_dots(const Backend& backend, Findings& findings) {
  const VectorOps<V>& ops = vector_ops<V>(backend);
  if (!findings.offered(ops.dot_compensated, "dot_compensated")) return;
  for (const index_t n : lengths)
    for (const Alignment alignment : {Alignment::even, Alignment::odd}) {
      GuardedVector<V> x(n, alignment), y(n, Alignment::odd);
      make_cancelling(x, 1, 1);
      make_cancelling(y, -1, 2);
      WholeSum sum;
      for (index_t i = 0; i < n; ++i) sum.add(x[i], y[i]);
      const double exact = rounded(sum.sum);
      for (int threads = 1; threads <= most_threads(backend); ++threads) {
        const auto label = [&] {
          return "dot of " + std::to_string(n) + ", " + std::to_string(threads) + " threads, " +
                 (sizeof(V) == 4 ? "f32" : "f64");
        };
        const TestQueue queue(backend, n, threads);
        double compensated = -1, plain = -1;
        double* const to = queue(compensated);
        double* const plain_to = queue(plain);
        const V* const at_x = queue(std::as_const(x));
        const V* const at_y = queue(std::as_const(y));
        ops.dot_compensated(queue, n, at_x, at_y, to);
        ops.dot(queue, n, at_x, at_y, plain_to);
        queue.finish();
        findings.compare(difference(compensated, exact, 0), label);
        findings.compare(unless(queue.walls_intact(), "scratch beyond its end"), label);
        if (n >= long_enough)
          findings.compare(unless(std::abs(plain - exact) > 0.5 * std::abs(exact),
                                  "the plain dot is right too, so this shows nothing"),
                           label);
      }
    }
}

void dots(const Backend& backend, Findings& findings) {
  check_dots<float>(backend, findings);
  check_dots<double>(backend, findings);
}
CNC_CONFORMANCE_TEST("compensated dots", dots);

/// Takes the sums of a pass exactly.
struct WholeSums {
  WholeSum sums[3];
  template <class V>
  void operator()(int k, V a, V b) {
    sums[k].add(a, b);
  }
};

/// The sums of one pass, over vectors of which any two neighbours in the method's list cancel.
template <class Method, class Pass, class V>
void check_pass(const Backend& backend, PassName name, index_t n, int threads, Findings& findings) {
  MethodState<V> state(static_cast<cnc::Method>(name.method), n, Alignment::odd);
  for (std::size_t k = 0; k < state.vectors.size(); ++k)
    make_cancelling(state.vectors[k], k % 2 == 0 ? 1 : -1, k);
  MethodState<V> before = state;
  for (double& value : before.scalars.value) value = 1;
  before.scalars.breakdown = Breakdown::none;
  state.scalars = before.scalars;

  MethodScalars expected = begin_pass<Pass>(before.scalars);
  if (expected.breakdown != Breakdown::none) {
    const Breakdown why = expected.breakdown;
    expected = before.scalars;
    expected.breakdown = why;
  } else {
    const Pass pass(expected);
    WholeSums exact;
    for (index_t i = 0; i < n; ++i) {
      Row<V> row{};
      for (std::size_t k = 0; k < before.vectors.size(); ++k)
        row[static_cast<int>(k)] = before.vectors[k][i];
      pass.sums_of(row, exact);
    }
    double sums[3];
    for (int k = 0; k < 3; ++k) sums[k] = rounded(exact.sums[k].sum);
    end_pass<Pass>(expected, sums);
  }

  const TestQueue queue(backend, n, threads);
  vector_ops<V>(backend).sums_compensated(queue, name, n, state.in(queue), queue(state.scalars));
  queue.finish();
  const auto label = [&] {
    return std::string(Method::name) + ", pass " + std::to_string(name.phase) +
           (name.group == PhaseGroup::start ? " of the start" : "") + ", n = " + std::to_string(n) +
           ", " + std::to_string(threads) + " threads, " + (sizeof(V) == 4 ? "f32" : "f64");
  };
  for (int k = 0; k < Method::scalars; ++k)
    findings.compare(difference(state.scalars[k], expected[k], 1e-15 * std::abs(expected[k])),
                     [&] { return label() + ", scalar " + std::to_string(k); });
  findings.compare(
      unless(state.scalars.breakdown == expected.breakdown && state.scalars.first == expected.first,
             "another breakdown, or first iteration"),
      label);
  findings.compare(
      unless(state.same_vectors(before) && state.walls_intact() && queue.walls_intact(),
             "changed a vector, or wrote outside of one"),
      label);
}

template <class V>
void check_passes(const Backend& backend, Findings& findings) {
  if (!findings.offered(vector_ops<V>(backend).sums_compensated, "sums_compensated")) return;
  Methods<V>::for_each([&]<class Method>(int m) {
    const auto check_group = [&](PhaseGroup group) {
      return [&, group]<class Phase>(int k) {
        if constexpr (!is_product<Phase>)
          if constexpr (Phase::sums.count > 0)
            for (const index_t n : lengths)
              for (int threads = 1; threads <= most_threads(backend); threads += 2)
                check_pass<Method, Phase, V>(backend, {m, group, k}, n, threads, findings);
      };
    };
    Method::Start::for_each(check_group(PhaseGroup::start));
    Method::Iteration::for_each(check_group(PhaseGroup::iteration));
  });
}

void passes(const Backend& backend, Findings& findings) {
  check_passes<float>(backend, findings);
  check_passes<double>(backend, findings);
}
CNC_CONFORMANCE_TEST("compensated sums of every pass", passes);

// --- products ---------------------------------------------------------------------------------------------

constexpr Arithmetic arithmetics[] = {Arithmetic::separate, Arithmetic::fused,
                                      Arithmetic::compensated_separate,
                                      Arithmetic::compensated_fused};
constexpr const char* names[] = {"separate", "fused", "compensated separate", "compensated fused"};

/// Calls add(value, x, row) for the entries of a matrix, rows in the order of storage.
template <class SparseMatrix, class V, class Add>
void for_each_product(const SparseMatrix& A, const GuardedVector<V>& x, const Add& add) {
  const detail::StoredRows<decltype(A.operand()), 0> rows{A.operand()};
  for (offset_t t = 0; t < rows.count(); ++t) {
    const auto row = rows.at(t);
    if (row.row < 0) continue;
    for (auto k = row.begin; k < row.end; k += row.step)
      for (int w = 0; w < rows.width(); ++w) {
        const index_t column = row.column(k) + w;
        if (column >= 0 && column < A.cols)
          add(static_cast<V>(row.value(k, w)), x[column], row.row);
      }
  }
}

/// Each operation rounded: a compiler cannot contract what is volatile.
template <class V>
void add_separately(V a, V b, V& sum) {
  volatile V product = a * b;
  volatile V total = sum + product;
  sum = total;
}

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 Wide;
#else
using Wide = long double;
#endif

/// What a row of a product ought to be, and how far it may be off.
struct ExactRow {
  Wide sum = 0;
  double absolute_sum = 0;
  index_t length = 0;
  /// Ogita, Rump & Oishi 2005, Corollary 4.2 and Proposition 5.5: once rounded, and then as if in twice the precision; rounded
  /// products are off by half a unit each.
  template <class V>
  double tolerance(Arithmetic arithmetic) const {
    constexpr double unit = std::numeric_limits<V>::epsilon();
    const double of_sum = unit * std::abs(static_cast<double>(sum)) +
                          (length + 1.0) * (length + 1.0) * unit * unit * absolute_sum;
    return arithmetic == Arithmetic::compensated_fused ? of_sum : of_sum + unit * absolute_sum;
  }
};

template <class M, class V>
void check_product(const Backend& backend, const Matrix<M>& matrix, const std::string& name,
                   int threads, Findings& findings) {
  std::visit(
      [&](const auto& A) {
        const auto& ops = matrix_ops<decltype(A.operand()), V>(backend);
        if (!findings.offered(ops.spmv_careful, std::string("spmv_careful of ") + A.format_name()))
          return;
        GuardedVector<V> x(A.cols, Alignment::odd);
        x.randomize(3);
        GuardedVector<V> separate(A.rows, Alignment::even), fused(A.rows, Alignment::even);
        separate.fill(0);
        fused.fill(0);
        // Not a std::vector: nvcc would compile members of its initializer_list for the device.
        const auto exact = std::make_unique<ExactRow[]>(static_cast<std::size_t>(A.rows));
        for_each_product(A, x, [&](V a, V b, index_t row) {
          add_separately(a, b, separate[row]);
          fused[row] = std::fma(a, b, fused[row]);
          ExactRow& to = exact[static_cast<std::size_t>(row)];
          to.sum += static_cast<Wide>(a) * static_cast<Wide>(b);
          to.absolute_sum += std::abs(double(a) * double(b));
          ++to.length;
        });
        for (std::size_t k = 0; k < std::size(arithmetics); ++k) {
          const auto label = [&] {
            return "product " + std::string(Precision<M, V>::name()) + " " + name + ", " +
                   names[k] + ", " + std::to_string(threads) + " threads";
          };
          GuardedVector<V> y(A.rows, Alignment::odd);
          const TestQueue queue(backend, A.rows, threads);
          ops.spmv_careful(queue, arithmetics[k], queue(A), queue(std::as_const(x)), queue(y));
          queue.finish();
          if (!is_compensated(arithmetics[k])) {
            const GuardedVector<V>& expected = k == 0 ? separate : fused;
            findings.compare(unless(y.same_bits(expected) && y.walls_intact(), "other bits"),
                             label);
            continue;
          }
          std::string off = unless(y.walls_intact(), "wrote outside the vector");
          for (index_t row = 0; row < A.rows && off.empty(); ++row) {
            const ExactRow& to = exact[static_cast<std::size_t>(row)];
            off = difference(y[row], static_cast<double>(to.sum),
                             to.template tolerance<V>(arithmetics[k]));
          }
          findings.compare(off, label);
        }
      },
      matrix);
}

void products(const Backend& backend, Findings& findings) {
  for_each_precision([&](auto precision) {
    using M = typename decltype(precision)::M;
    using V = typename decltype(precision)::V;
    int turn = 0;
    for (const NamedMatrix<M>& matrix : conformance_matrices<M>()) {
      if (matrix.A.rows >= 1000 && is_emulated(backend)) continue;
      for (const Layout<M>& layout : layouts(matrix.A, largest_block(matrix.A))) {
        const int threads = 1 + turn++ % most_threads(backend);
        check_product<M, V>(backend, turn % 2 == 0 ? misaligned(layout.A) : layout.A,
                            layout.name + ", " + matrix.name, threads, findings);
      }
    }
  });
}
CNC_CONFORMANCE_TEST("products in a given arithmetic", products);

/// Rows of which little is left: the large entries of a row and those of x are whole numbers that cancel.
template <class M>
CsrMatrix<M> cancelling_matrix(index_t n, int bits) {
  Kokkos::View<index_t*, HostSpace> offsets("offsets", static_cast<std::size_t>(n) + 1);
  Kokkos::View<index_t*, HostSpace> columns("columns", static_cast<std::size_t>(n * n));
  Vector<M> values("values", static_cast<std::size_t>(n * n));
  for (index_t i = 0; i < n; ++i) {
    offsets(i + 1) = (i + 1) * n;
    for (index_t j = 0; j < n; ++j) {
      columns(i * n + j) = j;
      values(i * n + j) = cancelling_entry<M>(j, n, -1, 77 + static_cast<std::uint64_t>(i), bits);
    }
  }
  return {n, n, 1, offsets, columns, values};
}

template <class M, class V>
void check_cancelling_products(const Backend& backend, Findings& findings) {
  constexpr index_t n = 48;
  constexpr int bits = sizeof(V) == 4 ? 18 : 44;
  const CsrMatrix<M> A = cancelling_matrix<M>(n, bits);
  GuardedVector<V> x(n, Alignment::even);
  make_cancelling(x, 1, 5, bits);
  GuardedVector<V> expected(n, Alignment::even);
  for (index_t i = 0; i < n; ++i) {
    WholeSum sum;
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k)
      sum.add(static_cast<V>(A.values(k)), x[A.columns(k)]);
    expected[i] = static_cast<V>(sum.sum);
  }
  for (const Layout<M>& layout : layouts(A))
    std::visit(
        [&](const auto& a) {
          const auto& ops = matrix_ops<decltype(a.operand()), V>(backend);
          if (!findings.offered(ops.spmv_careful, "spmv_careful of " + layout.format)) return;
          for (std::size_t k = 0; k < std::size(arithmetics); ++k) {
            GuardedVector<V> y(n, Alignment::odd);
            const TestQueue queue(backend, n, 1);
            ops.spmv_careful(queue, arithmetics[k], queue(a), queue(std::as_const(x)), queue(y));
            queue.finish();
            const auto label = [&] {
              return std::string(Precision<M, V>::name()) + " " + layout.name + ", " + names[k];
            };
            if (is_compensated(arithmetics[k])) {
              findings.compare(difference(y, expected, [](index_t) { return 0.0; }), label);
              continue;
            }
            double off = 0, of = 0;
            for (index_t i = 0; i < n; ++i) {
              off += std::abs(double(y[i]) - double(expected[i]));
              of += std::abs(double(expected[i]));
            }
            findings.compare(
                unless(off > 0.5 * of, "plain sums are right too, so this shows nothing"), label);
          }
        },
        layout.A);
}

void cancelling_products(const Backend& backend, Findings& findings) {
  for_each_precision([&](auto precision) {
    check_cancelling_products<typename decltype(precision)::M, typename decltype(precision)::V>(
        backend, findings);
  });
}
CNC_CONFORMANCE_TEST("products of which little is left", cancelling_products);

}  // namespace
}  // namespace cnc::testing
