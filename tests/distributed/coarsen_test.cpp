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
  offset_t rank_rows = 1;                            ///< so that all ranks stay
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
  const bool found = coarsening.coarsen(how.options, {.per_rank = how.rank_rows}, how.symmetric,
                                        inverse, largest, coarse, facts);
  CHECK(found);
  if (!found) return;
  const auto vectors = static_cast<std::size_t>(coarse.near_null.vectors);
  CHECK(coarse.A.halo->all_rows / static_cast<offset_t>(vectors) < A.rows / 2);
  const auto transfers = coarsening.transfers();
  const auto &P = transfers.prolongation, &R = transfers.restriction;
  const bool is_gathered = coarsening.is_gathered();
  const int have_rows[] = {parts.rows() > 0, coarse.A.rows() > 0};
  int ranks[2];
  MPI_Allreduce(have_rows, ranks, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(is_gathered == (coarse.A.halo->all_rows < how.rank_rows * ranks[0] && ranks[0] > 1));
  CHECK(ranks[1] <= (is_gathered ? std::clamp<offset_t>(coarse.A.halo->all_rows / how.rank_rows, 1,
                                                        (ranks[0] + 1) / 2)
                                 : ranks[0]));
  const auto ways = is_gathered ? coarsening.ways_to_aggregates() : decltype(transfers){};
  const auto at_aggregates = [&](const Vector<double>& coarse_vector) {
    return is_gathered ? product(ways.prolongation, coarse_vector) : coarse_vector;
  };
  const auto at_rows = [&](const Vector<double>& of_aggregates) {
    return is_gathered ? product(ways.restriction, of_aggregates) : of_aggregates;
  };

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
  CHECK(difference(y, at_rows(product(R, product(of_parts, product(P, at_aggregates(x)))))) <
        1e-13);
  CHECK(same_bits(at_rows(at_aggregates(x)), x));
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
  CHECK(difference(product(P, at_aggregates(near_null)), image) < 1e-12);
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
      for (const offset_t rank_rows : {offset_t(12), offset_t(1) << 40})
        check_coarsening(A, parts, {.keeps_near_null = true, .rank_rows = rank_rows});
      check_coarsening(A, parts, {.options = {.smoothed = false}});
      Vector<double> ones("ones", static_cast<std::size_t>(parts.rows())),
          slope("slope", static_cast<std::size_t>(parts.rows()));
      Kokkos::deep_copy(ones, 1.0);
      const auto numbers = parts.original_rows();
      for (std::size_t i = 0; i < numbers.size(); ++i) slope(i) = double(numbers[i] % 3) - 1;
      // Else single nodes are aggregates, and twice as many vectors leave no fewer rows.
      if (how.kind != Partition::segments) continue;
      check_coarsening(A, parts, {.keeps_near_null = true, .near_null = {ones, slope}});
      check_coarsening(A, parts,
                       {.keeps_near_null = true, .near_null = {ones, slope}, .rank_rows = 24});
    }
  }
  const CsrMatrix<double> blocks = generate_problem("elasticity3d:4");
  const auto parts = PartitionedMatrix<double>::scattered(
      world(), world().rank() == 0 ? blocks : CsrMatrix<double>(), {.block_size = 3});
  check_coarsening(blocks, parts, {.block = 3});
  for (const offset_t rank_rows : {12, 1200})
    check_coarsening(blocks, parts, {.block = 3, .rank_rows = rank_rows});
}

TEST_CASE("the coarse matrix of one that is not symmetric is P^T A P") {
  const CsrMatrix<double> A = generate_problem("convection3d:8:20");
  check_coarsening(A, scattered(A), {.symmetric = false, .keeps_near_null = true});
  check_coarsening(A, scattered(A), {.symmetric = false, .keeps_near_null = true, .rank_rows = 12});
}

TEST_CASE("neighbouring ranks give their nodes to the first of a group") {
  using Firsts = std::vector<offset_t>;
  const auto fewer = [](const Firsts& firsts, offset_t least) {
    return detail::on_fewer_ranks(firsts, least);
  };
  const Firsts even{0, 10, 20, 30, 40};
  for (const offset_t least : {1, 10}) CHECK(fewer(even, least) == even);
  for (const offset_t least : {11, 20}) CHECK(fewer(even, least) == Firsts{0, 20, 20, 40, 40});
  for (const offset_t least : {offset_t(21), offset_t(40), offset_t(41), offset_t(1) << 40})
    CHECK(fewer(even, least) == Firsts{0, 40, 40, 40, 40});
  // Ranks without nodes count for nothing and take none.
  CHECK(fewer({0, 0, 10, 10, 20, 20}, 10) == Firsts{0, 0, 10, 10, 20, 20});
  CHECK(fewer({0, 0, 10, 10, 20, 20}, 20) == Firsts{0, 0, 20, 20, 20, 20});
  // One with many stays by itself.
  CHECK(fewer({0, 100, 102, 104, 106}, 30) == Firsts{0, 100, 106, 106, 106});
  CHECK(fewer({0, 2, 4, 104, 106}, 30) == Firsts{0, 4, 4, 106, 106});
  CHECK(fewer({0, 5}, 1000) == Firsts{0, 5});
}
