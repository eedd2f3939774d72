#pragma once

#include "support/catch.hpp"
#include "support/random_matrix.hpp"
#include "support/solve_problem.hpp"

#include <cnc/cnc.hpp>
#include <cnc/distributed.hpp>
#include <cnc/reorder.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

// Every rank runs every case. A check that fails on one of them alone must not keep it from what the others wait for: CHECK, not
// REQUIRE, wherever ranks may differ.

namespace cnc::testing {

/// All ranks. MPI lives until the program ends.
inline const Communicator& world() {
  static const MpiScope scope;
  static const Communicator ranks;
  return ranks;
}

/// Exchanges go at best like this for as long as it lives.
class LimitedLink {
 public:
  explicit LimitedLink(RankLink best) { world().limit_link(best); }
  ~LimitedLink() { world().limit_link(RankLink::devices); }
  LimitedLink(const LimitedLink&) = delete;
  LimitedLink& operator=(const LimitedLink&) = delete;
};

/// Of a host with one thread, because ranks share the processors of a test machine; or of the rank's device.
template <class Exec>
Context<Exec>& context_in() {
  static std::unique_ptr<Context<Exec>> ctx;
  if (!ctx) {
    ctx = std::make_unique<Context<Exec>>(
        Context<Exec>::memory == MemorySpace::host ? "openmp" : "auto", 1);
    Kokkos::push_finalize_hook([] { ctx.reset(); });
  }
  return *ctx;
}
inline Context<>& one_thread() { return context_in<Kokkos::DefaultHostExecutionSpace>(); }

/// Rows [first, first + rows) of a matrix, which every rank has, as a caller would have them.
template <class V>
struct Slice {
  offset_t first = 0;
  std::vector<offset_t> offsets = {0}, columns;
  std::vector<V> values;

  Slice(const CsrMatrix<V>& A, index_t begin, index_t end) : first(begin) {
    for (index_t i = begin; i < end; ++i) {
      // From the last to the first: any order will do.
      for (index_t k = A.row_offsets(i + 1); k-- > A.row_offsets(i);) {
        columns.push_back(A.columns(k));
        values.push_back(A.values(k));
      }
      offsets.push_back(static_cast<offset_t>(columns.size()));
    }
  }
  OwnRows<V> rows() const { return {first, offsets, columns, values}; }
};

/// The rows of a rank when all have as many.
inline index_t bound(index_t rows, int rank) {
  return static_cast<index_t>(offset_t(rows) * rank / world().size());
}

template <class V>
PartitionedMatrix<V> partitioned(const CsrMatrix<V>& A, const Communicator& ranks = world()) {
  const int rank = world().rank();
  return PartitionedMatrix<V>(ranks,
                              Slice<V>(A, bound(A.rows, rank), bound(A.rows, rank + 1)).rows());
}

/// With its groups of rows in any order.
inline CsrMatrix<double> shuffled(const CsrMatrix<double>& A, index_t group = 1) {
  std::vector<index_t> groups(static_cast<std::size_t>(A.rows / group));
  std::iota(groups.begin(), groups.end(), 0);
  Random random(7);
  for (std::size_t g = groups.size(); g > 1; --g)
    std::swap(groups[g - 1],
              groups[static_cast<std::size_t>(random.below(static_cast<offset_t>(g)))]);
  Vector<index_t> order("order", static_cast<std::size_t>(A.rows));
  for (std::size_t i = 0; i < order.extent(0); ++i)
    order(i) =
        groups[i / static_cast<std::size_t>(group)] * group + static_cast<index_t>(i) % group;
  return permute(A, Vector<const index_t>(order));
}

/// Rows of a rank by their numbers, from the last to the first, dealt out in turn.
struct Dealt {
  std::vector<offset_t> numbers, offsets = {0}, columns;
  std::vector<double> values;
  explicit Dealt(const CsrMatrix<double>& A) {
    for (index_t i = A.rows; i-- > 0;)
      if (i % std::max(1, world().size() - 1) == world().rank())
        add(A, i);  // none for the last of several
  }
  void add(const CsrMatrix<double>& A, index_t i) {
    numbers.push_back(i);
    for (index_t k = A.row_offsets(i); k < A.row_offsets(i + 1); ++k) {
      columns.push_back(A.columns(k));
      values.push_back(A.values(k));
    }
    offsets.push_back(static_cast<offset_t>(columns.size()));
  }
  OwnRows<double> rows() const {
    return {.row_offsets = offsets, .columns = columns, .values = values, .numbers = numbers};
  }
};

/// What every rank has, on the first one alone.
template <class Whole>
Whole of_first(const Whole& whole) {
  return world().rank() == 0 ? whole : Whole();
}

template <class V>
PartitionedMatrix<V> scattered(const CsrMatrix<V>& A, const PartitionOptions& options = {}) {
  return PartitionedMatrix<V>::scattered(world(), of_first(A), options);
}

/// The own part of a vector that every rank has.
template <class V>
Vector<V> own_part(const PartitionedMatrix<V>& A, const Vector<V>& whole) {
  Vector<V> own("own", static_cast<std::size_t>(A.rows()));
  const std::vector<offset_t> rows = A.original_rows();
  for (std::size_t i = 0; i < rows.size(); ++i) own(i) = whole(static_cast<std::size_t>(rows[i]));
  return own;
}

/// A vector of own parts as a whole, on every rank.
template <class V>
Vector<V> whole_of(const PartitionedMatrix<V>& A, const Vector<V>& own) {
  Vector<V> whole = A.gather(own);
  if (world().rank() != 0) whole = Vector<V>("whole", static_cast<std::size_t>(A.all_rows()));
  MPI_Bcast(whole.data(), static_cast<int>(whole.extent(0) * sizeof(V)), MPI_BYTE, 0,
            MPI_COMM_WORLD);
  return whole;
}

template <class V>
void check_products(const CsrMatrix<V>& A, const PartitionedMatrix<V>& parts) {
  CHECK(parts.all_rows() == A.rows);
  const Vector<V> x = varied_vector<V>(A.rows);
  const Vector<V> y("y", static_cast<std::size_t>(parts.rows()));
  for (int repeat = 0; repeat < 3; ++repeat) {  // persistent requests are started again
    parts.multiply(one_thread(), own_part(parts, x), y);
    CHECK(relative_difference(whole_of(parts, y), product(A, x)) <
          4 * std::numeric_limits<V>::epsilon());
  }
}

/// Whether a rank has the same rows of both, cut at the same places, and the same bits of them and of products.
template <class V>
void check_same_parts(const PartitionedMatrix<V>& A, const PartitionedMatrix<V>& B) {
  CHECK(A.all_rows() == B.all_rows());
  CHECK(A.first_row() == B.first_row());
  CHECK(A.partition() == B.partition());
  CHECK(A.original_rows() == B.original_rows());
  CHECK(A.facts().entries == B.facts().entries);
  CHECK(A.facts().halo_entries == B.facts().halo_entries);
  CHECK(same_bits(A.own_block().row_offsets, B.own_block().row_offsets));
  CHECK(same_bits(A.own_block().columns, B.own_block().columns));
  CHECK(same_bits(A.own_block().values, B.own_block().values));
  const Vector<V> x = own_part(B, varied_vector<V>(static_cast<index_t>(B.all_rows())));
  const auto product_of = [&](const PartitionedMatrix<V>& of) {
    const Vector<V> y("y", static_cast<std::size_t>(of.rows()));
    of.multiply(one_thread(), x, y);
    return y;
  };
  CHECK(same_bits(product_of(A), product_of(B)));
}

/// What a rank throws, in words; "" if nothing.
template <class Call>
std::string thrown_by(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Whether every rank says the same.
inline bool same_on_all(const std::string& text) {
  char first[500] = {}, mine[500] = {};
  text.copy(mine, sizeof mine - 1);
  std::copy(mine, mine + sizeof mine, first);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
  int same = std::equal(mine, mine + sizeof mine, first), all = 0;
  MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all != 0;
}

}  // namespace cnc::testing
