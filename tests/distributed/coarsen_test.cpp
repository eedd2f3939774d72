#include "distributed/whole_amg.hpp"

#include "distributed/among_ranks.hpp"
#include "distributed/distributed_test.hpp"

#include <cmath>

// What coarse levels of multigrid on several ranks are made of.

using namespace cnc;
using namespace cnc::testing;

namespace {

using HostExec = Kokkos::DefaultHostExecutionSpace;
using OnRanks = detail::BlocksOnRanks<double, HostSpace>;

/// A x, or A^T x, of a matrix whose columns may be others than its rows.
Vector<double> product(const OnRanks& A, const Vector<double>& x, bool transposed = false) {
  detail::AmongRanks<double, HostExec> ranks(one_thread(), A.halo);
  const CsrMatrix<double> own = to_csr(detail::matrix_of<double>(HostExec(), A.own));
  const CsrMatrix<double> block = transposed ? transpose(own) : own;
  Vector<double> y("y", static_cast<std::size_t>(block.rows));
  if (transposed) ranks.lay_out_transpose();
  ranks.begin(x.data(), transposed);
  spmv(one_thread(), 1.0, block, x, 0.0, y);
  ranks.end(y.data(), transposed, nullptr);
  return y;
}

/// Of own parts of vectors: |x - y| against |y| over all ranks.
double difference(const Vector<double>& x, const Vector<double>& y) {
  double sums[2] = {}, all[2];
  for (std::size_t i = 0; i < x.extent(0); ++i) {
    sums[0] += (x(i) - y(i)) * (x(i) - y(i));
    sums[1] += y(i) * y(i);
  }
  MPI_Allreduce(sums, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return std::sqrt(all[0] / all[1]);
}

struct Coarsening {
  int block = 1;
  AmgOptions options = {};
  bool symmetric = true, keeps_near_null = false;
  std::vector<Vector<const double>> near_null = {};  ///< of own rows; none: constants
};
void check_coarsening(const CsrMatrix<double>& A, const PartitionedMatrix<double>& parts,
                      const Coarsening& how) {
  const HostExec host;
  const int b = how.block;
  const Matrix<double> layout(parts.own_block());
  const OnRanks of_parts{detail::finest_blocks<HostExec>(parts.own_block(), layout, b),
                         detail::PartitionAccess::halo(parts)};
  const detail::LevelOnRanks<double, HostSpace> fine{
      of_parts, detail::near_null_space<double>(host, parts.rows(), b, how.near_null)};
  detail::CoarseningOnRanks<double, HostExec> coarsening(host, fine);
  const Vector<double> inverse(
      "inverse", static_cast<std::size_t>(parts.rows()) * static_cast<std::size_t>(b));
  CHECK(detail::invert_diagonal(host, of_parts.own, inverse) < 0);
  detail::LevelOnRanks<double, HostSpace> coarse;
  AmgHierarchy facts;
  const double largest = 2;
  const bool found =
      coarsening.coarsen(how.options, how.symmetric, inverse, largest, coarse, facts);
  CHECK(found);
  if (!found) return;
  const auto vectors = static_cast<std::size_t>(coarse.near_null.vectors);
  CHECK(coarse.A.halo->all_rows / static_cast<offset_t>(vectors) < A.rows / 2);
  const auto [P, R] = coarsening.transfers();

  const auto n = static_cast<std::size_t>(coarse.A.rows());
  Vector<double> x("x", n), y, near_null("near-null", n);
  for (std::size_t i = 0; i < n; ++i) {
    x(i) = std::sin(double(coarse.A.halo->first_row) + double(i) * 1.7);
    for (std::size_t c = 0; c < vectors; ++c)  // their sum
      near_null(i) += coarse.near_null.rows(i * vectors + c);
  }
  // Rows that the coarse matrix has beyond P^T A P, of aggregates with fewer nodes than vectors: ones on the diagonal.
  const CsrMatrix<double> own = to_csr(detail::matrix_of<double>(host, coarse.A.own));
  for (index_t i = 0; i < own.rows; ++i) {
    double sum = 0, diagonal = 0;
    for (index_t k = own.row_offsets(i); k < own.row_offsets(i + 1); ++k) {
      sum += std::abs(own.values(k));
      if (own.columns(k) == i) diagonal = own.values(k);
    }
    if (diagonal == 1 && sum == 1) x(static_cast<std::size_t>(i)) = 0;
  }
  y = product(coarse.A, x);
  CHECK(difference(y, product(R, product(of_parts, product(P, x)))) < 1e-13);
  Vector<double> z("z", static_cast<std::size_t>(parts.rows()));
  for (std::size_t i = 0; i < z.extent(0); ++i)
    z(i) = std::cos(double(parts.first_row()) + double(i) * 0.9);
  CHECK(difference(product(R, z), product(P, z, true)) < 1e-14);
  if (!how.keeps_near_null) return;
  // P B_c is (I - omega D^-1 A) B.
  Vector<double> all("all", static_cast<std::size_t>(parts.rows()));
  if (how.near_null.empty()) Kokkos::deep_copy(all, 1.0);
  for (const auto& vector : how.near_null)
    for (std::size_t i = 0; i < all.extent(0); ++i) all(i) += vector(i);
  const Vector<double> image = product(of_parts, all);
  for (std::size_t i = 0; i < all.extent(0); ++i)
    image(i) = all(i) - detail::smoothing_factor(largest) * inverse(i) * image(i);
  CHECK(difference(product(P, near_null), image) < 1e-12);
}

}  // namespace

TEST_CASE("the coarse matrix is P^T A P, and P keeps the near-null space") {
  for (const char* text : {"poisson2d:15x14", "anisotropic2d:16:0.01", "poisson3d:8"}) {
    INFO(text);
    const CsrMatrix<double> A = generate_problem(text);
    const CsrMatrix<double> of_first = world().rank() == 0 ? A : CsrMatrix<double>();
    std::vector<int> list(static_cast<std::size_t>(A.rows));
    for (std::size_t i = 0; i < list.size(); ++i)
      list[i] = static_cast<int>(i / 7 * 13 % 11) % world().size();
    // The last but one rank has no rows.
    std::vector<int> others = list;
    for (int& rank : others)
      if (rank == world().size() - 2) ++rank;
    for (const PartitionOptions& how :
         {PartitionOptions{}, PartitionOptions{.kind = Partition::given, .rank_of_row = list},
          PartitionOptions{.kind = Partition::given, .rank_of_row = others}}) {
      INFO(to_string(how.kind));
      const auto parts = PartitionedMatrix<double>::scattered(world(), of_first, how);
      check_coarsening(A, parts, {.keeps_near_null = true});
      check_coarsening(A, parts, {.options = {.smoothed = false}});
      Vector<double> ones("ones", static_cast<std::size_t>(parts.rows())),
          slope("slope", static_cast<std::size_t>(parts.rows()));
      Kokkos::deep_copy(ones, 1.0);
      const auto numbers = parts.original_rows();
      for (std::size_t i = 0; i < numbers.size(); ++i) slope(i) = double(numbers[i] % 3) - 1;
      // Else single nodes are aggregates, and twice as many vectors leave no fewer rows.
      if (how.kind == Partition::segments)
        check_coarsening(A, parts, {.keeps_near_null = true, .near_null = {ones, slope}});
    }
  }
  const CsrMatrix<double> blocks = generate_problem("elasticity3d:4");
  const auto parts = PartitionedMatrix<double>::scattered(
      world(), world().rank() == 0 ? blocks : CsrMatrix<double>(), {.block_size = 3});
  check_coarsening(blocks, parts, {.block = 3});
}

TEST_CASE("the coarse matrix of one that is not symmetric is P^T A P") {
  const CsrMatrix<double> A = generate_problem("convection3d:8:20");
  check_coarsening(A, scattered(A), {.symmetric = false, .keeps_near_null = true});
}
