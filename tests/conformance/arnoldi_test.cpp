// Steps of Arnoldi's process in one launch, against the operations of the reference, one step after the other.

#include "conformance/layouts.hpp"
#include "conformance/test_preconditioner.hpp"

#include <cmath>

namespace cnc::testing {
namespace {

/// A basis with room for `vectors` vectors, the first of them there, NaN behind each.
template <class V>
struct Basis {
  int vectors;
  offset_t stride;
  GuardedVector<V> v, z;
  GuardedVector<double> columns;

  Basis(index_t n, int count)
      : vectors(count),
        stride(n + 3),
        v(static_cast<index_t>(count * stride), Alignment::odd),
        z(static_cast<index_t>(count * stride), Alignment::even),
        columns(count * basis_column_size(count), Alignment::odd) {
    for (index_t i = 0; i < n; ++i) v[i] = static_cast<V>(std::sin(i + 1.0));
    double norm2 = 0;
    for (index_t i = 0; i < n; ++i) norm2 += double(v[i]) * v[i];
    for (index_t i = 0; i < n; ++i) v[i] = static_cast<V>(v[i] / std::sqrt(norm2));
  }
  index_t at(int k, index_t i) const { return static_cast<index_t>(k * stride) + i; }
  double column(int j, int k) const { return columns[j * basis_column_size(vectors) + k]; }
};

template <class M, class V>
class ArnoldiCheck {
 public:
  ArnoldiCheck(const Backend& backend, Findings& findings, index_t n, int vectors, bool flexible,
               bool twice)
      : backend_(backend),
        findings_(findings),
        n_(n),
        vectors_(vectors),
        flexible_(flexible),
        twice_(twice),
        A_(random_csr<M>(n, n, 5, 17 + n)) {}

  void run(PreconditionerKind kind, int block_size) {
    const TestPreconditioner<V> P(n_, kind, block_size, Alignment::odd);
    for (const Layout<M>& layout : layouts(A_, 3)) {
      what_ = std::string(Precision<M, V>::name()) + " " + layout.name +
              ", n = " + std::to_string(n_) + ", " + std::to_string(vectors_) + " vectors, " +
              P.name() + (flexible_ ? ", flexible" : "") + (twice_ ? ", twice" : "");
      std::visit([&](const auto& A) { check(A, P, block_size); }, layout.A);
    }
  }

 private:
  /// False where such a matrix and preconditioner have no such steps.
  template <class SparseMatrix>
  bool make(const SparseMatrix& A, const TestPreconditioner<V>& P, Basis<V>& basis,
            const std::vector<int>& looks) {
    const TestQueue queue(backend_, n_, 1);
    const auto operand = queue(A);
    const auto& ops = matrix_ops<V>(backend_, operand);
    const auto plan = ops.run_plan(queue, operand, {});
    ArnoldiSteps<V> steps{.twice = twice_,
                          .vectors = vectors_,
                          .v = queue(basis.v),
                          .stride = basis.stride,
                          .z = queue(basis.z),
                          .z_stride = flexible_ ? basis.stride : 0,
                          .columns = queue(basis.columns),
                          .plan = plan.get(),
                          .forced = true};
    const auto M_operand = P.in(queue);
    for (const int last : looks) {
      steps.last = last;
      try {
        compare(unless(ops.arnoldi(queue, operand, M_operand, steps), "forced, and not done"), "");
      } catch (const UnsupportedOperation&) {
        return false;
      }
      steps.first = last;
    }
    queue.finish();
    compare(unless(queue.walls_intact() && basis.v.walls_intact() && basis.z.walls_intact() &&
                       basis.columns.walls_intact(),
                   "wrote outside"),
            "memory");
    return true;
  }

  template <class SparseMatrix>
  void check(const SparseMatrix& A, const TestPreconditioner<V>& P, int block_size) {
    const auto& ops = matrix_ops<V>(backend_, A.operand());
    if (!findings_.offered(ops.arnoldi, std::string("arnoldi with ") + A.format_name())) return;
    Basis<V> basis(n_, vectors_), again = basis;
    const int last = vectors_ - 1;
    int b = 1;
    if constexpr (requires { A.block_size; }) b = A.block_size;
    const bool made = make(A, P, basis, {last});
    // Scalar rows and blocks of 3 have them, but where a slice tears blocks of the preconditioner apart.
    const bool torn =
        block_size > 1 && block_size != b && (b > 1 || std::string(A.format_name()) == "bsell");
    compare(unless(made == ((b == 1 || b == 3) && !torn), "another answer"), "whether it fits");
    if (!made) return;
    for (int j = 0; j < last; ++j) check_step(P, basis, j);
    if (last < 3) return;
    make(A, P, again, {last / 2, last});
    bool same = true;
    for (int k = 0; k < vectors_; ++k)
      for (index_t i = 0; i < n_; ++i)
        same = same && basis.v[basis.at(k, i)] == again.v[again.at(k, i)];
    compare(unless(same, "other bits in two launches"), "v");
  }

  /// Step j of the reference from the same basis.
  void check_step(const TestPreconditioner<V>& P, const Basis<V>& basis, int j) {
    const TestQueue queue(reference(), n_, 1);
    const VectorOps<V>& ops = vector_ops<V>(reference());
    const auto operand = A_.operand();
    GuardedVector<V> z(n_, Alignment::even), w = z, next = z;
    GuardedVector<double> h(vectors_ + 1, Alignment::even);
    const V* const v = basis.v.data();
    const std::string step = "step " + std::to_string(j);
    ops.precondition(queue, n_, P.in(queue), v + j * basis.stride, z.data());
    if (flexible_)
      compare(difference(apart(basis.z, basis.at(j, 0), z), 0, sum_tolerance<V>(16, 4 * norm(z))),
              step + ", z");
    matrix_ops<V>(reference(), operand).spmv(queue, V(1), operand, z.data(), V(0), w.data());
    const double size = norm(w), tolerance = 64 * std::numeric_limits<V>::epsilon() * size;
    std::vector<double> sum(static_cast<std::size_t>(j) + 1, 0.0);
    double ww = 0;
    for (int pass = 0; pass <= int(twice_); ++pass) {
      for (int k = 0; k <= j; k += max_vectors_together)
        ops.mdot(queue, n_, std::min(max_vectors_together, j + 1 - k), v + k * basis.stride,
                 basis.stride, w.data(), h.data() + k);
      for (int k = 0; k <= j; k += max_vectors_together)
        ops.maxpy(queue, n_, std::min(max_vectors_together, j + 1 - k), -1, h.data() + k,
                  v + k * basis.stride, basis.stride, w.data(), &ww);
      for (int k = 0; k <= j; ++k) {
        sum[static_cast<std::size_t>(k)] += basis.column(j, pass * vectors_ + k);
        h[k] = pass == 0 ? h[k] : h[k] + sum_of_first_[static_cast<std::size_t>(k)];
        compare(difference(sum[static_cast<std::size_t>(k)], h[k], tolerance), step + ", h");
      }
      sum_of_first_.assign(h.data(), h.data() + j + 1);
      const double left = basis.column(j, 2 * vectors_ + pass);
      compare(difference(std::sqrt(left), std::sqrt(ww), 10 * tolerance * size / std::sqrt(ww)),
              step + ", norm");
    }
    compare(
        difference(basis.column(j, 2 * vectors_ + 2), 1, 1e3 * std::numeric_limits<V>::epsilon()),
        step + ", v_j . v_j");
    ops.normalize(queue, n_, w.data(), &ww, next.data());
    compare(difference(apart(basis.v, basis.at(j + 1, 0), next), 0, 10 * tolerance / std::sqrt(ww)),
            step + ", v");
  }

  /// How far entries are from those of one of several vectors, which begins at `first`; NaN where one is.
  static double apart(const GuardedVector<V>& several, index_t first, const GuardedVector<V>& one) {
    double most = 0;
    for (index_t i = 0; i < one.size(); ++i) {
      const double here = std::abs(double(several[first + i]) - one[i]);
      if (!(here <= most)) most = here;
      if (std::isnan(here)) return here;
    }
    return most;
  }
  void compare(const std::string& text, const std::string& what) {
    findings_.compare(text, [&] { return "arnoldi, " + what_ + ", " + what; });
  }

  const Backend& backend_;
  Findings& findings_;
  index_t n_;
  int vectors_;
  bool flexible_, twice_;
  CsrMatrix<M> A_;
  std::string what_;
  std::vector<double> sum_of_first_;
};

void check_arnoldi(const Backend& backend, Findings& findings) {
  using Kind = PreconditionerKind;
  for_each_precision([&](auto precision) {
    using M = typename decltype(precision)::M;
    using V = typename decltype(precision)::V;
    const bool turn = sizeof(M) == 8;
    ArnoldiCheck<M, V>(backend, findings, 5, 4, false, false).run(Kind::none, 1);
    ArnoldiCheck<M, V>(backend, findings, 64, 8, true, !turn).run(Kind::jacobi, 1);
    ArnoldiCheck<M, V>(backend, findings, 65, 6, false, turn).run(Kind::block_jacobi, 3);
    ArnoldiCheck<M, V>(backend, findings, 131, 40, turn, turn).run(Kind::block_jacobi, 4);
    if (sizeof(M) < sizeof(V) || (is_sanitized && is_emulated(backend))) return;
    // More than there is room for on chip where devices are emulated.
    ArnoldiCheck<M, V>(backend, findings, 2000, 36, false, false).run(Kind::jacobi, 1);
  });
}

CNC_CONFORMANCE_TEST("steps on a basis in one launch", check_arnoldi);

}  // namespace
}  // namespace cnc::testing
