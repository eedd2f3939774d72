#pragma once

#include "precondition/amg/prolongation.hpp"

#include <cnc/amg.hpp>

#include <chrono>
#include <tuple>
#include <vector>

// The levels as they are set up, in the precision of the matrix: aggregates and patterns once, numbers as often as values change.

namespace cnc::detail {

/// What a level needs so that the next one can be formed again from other values.
template <class V, class Space>
struct SetUpLevel {
  SparseBlocks<V, Space> A;
  Vector<V, Space> inverse;  ///< of the diagonal blocks
  NearNullSpace<V, Space> near_null;
  bool smoothed = true;  ///< the prolongation
  // All of this is empty in the last level.
  StrengthGraph<Space> strong;
  SparseBlocks<V, Space> tentative;
  TransposedPattern<Space> members;  ///< of its aggregates, without origins, for factors; or empty
  SparseBlocks<V, Space> prolongation;
  SparseBlocks<V, Space> restriction;  ///< the transpose
  Vector<index_t, Space> origins;      ///< of its blocks, in the prolongation
  SparseBlocks<V, Space> A_prolongation;
};

template <class V, class Exec>
struct Hierarchy {
  std::vector<SetUpLevel<V, typename Exec::memory_space>> levels;
};

/// A clock whose laps wait for what is enqueued.
template <class Exec>
class Laps {
 public:
  explicit Laps(const Exec& exec) : exec_(exec), last_(now()) {}
  void add_to(double& seconds) {
    exec_.fence();
    const double time = now();
    seconds += time - last_;
    last_ = time;
  }

 private:
  static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  const Exec& exec_;
  double last_;
};

/// rows[(i b + r)][c] := 1 where r == c: a constant for each unknown of a node
template <class V>
struct SetConstants {
  int b;
  V* rows;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t k) const {
    const offset_t row = k / b;
    rows[k] = row % b == k % b ? V(1) : V(0);
  }
};
/// rows[i][c] := vector[i]
template <class V>
struct SetColumn {
  const V* vector;
  int vectors, column;
  V* rows;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    rows[i * vectors + column] = vector[i];
  }
};

template <class V, class Exec, class Space>
NearNullSpace<V, Space> near_null_space(const Exec& exec, index_t rows, int b,
                                        const std::vector<Vector<const V, Space>>& given) {
  NearNullSpace<V, Space> space;
  space.vectors = given.empty() ? b : static_cast<int>(given.size());
  const auto n = static_cast<std::size_t>(rows) * static_cast<std::size_t>(space.vectors);
  space.rows = in_large_pages<V, Space>("cnc::near_null_space", n);
  space.is_one = given.empty() && b == 1;
  if (given.empty()) {
    on_each(exec, static_cast<offset_t>(n), SetConstants<V>{b, space.rows.data()});
    return space;
  }
  for (int c = 0; c < space.vectors; ++c) {
    const auto& vector = given[static_cast<std::size_t>(c)];
    require(vector.extent(0) == static_cast<std::size_t>(rows), [&] {
      return "Amg: near-null vector " + std::to_string(c + 1) + " has " +
             std::to_string(vector.extent(0)) + " entries, the matrix has " + std::to_string(rows) +
             " rows";
    });
    on_each(exec, rows, SetColumn<V>{vector.data(), space.vectors, c, space.rows.data()});
  }
  exec.fence();
  return space;
}

/// omega of P = T - omega D^-1 F T, the largest eigenvalue of D^-1 A being given
inline double smoothing_factor(double largest) { return largest > 0 ? 4.0 / 3 / largest : 0; }

/// A prolongation and what follows from it: of a new level, or again for other values. Waits.
template <class V, class Exec>
class Coarsening {
 public:
  using Level = SetUpLevel<V, typename Exec::memory_space>;
  using Blocks = SparseBlocks<V, typename Exec::memory_space>;

  Coarsening(const Exec& exec, Level& fine, Level& coarse, bool again, const std::string& level)
      : exec_(exec), fine_(fine), coarse_(coarse), again_(again), level_(level) {}

  /// Of T, the largest eigenvalue of D^-1 A being given.
  void smooth_prolongation(double largest) {
    smooth(exec_, fine_.A, fine_.strong, fine_.tentative, fine_.inverse, fine_.near_null,
           coarse_.near_null, smoothing_factor(largest), fine_.prolongation);
  }
  /// P^T, in memory that is there.
  void transpose_prolongation() {
    take_transposed(exec_, fine_.prolongation, fine_.origins, fine_.restriction);
  }
  /// P^T A P
  void form_coarse() {
    form(fine_.A, fine_.prolongation, fine_.A_prolongation, "the coarse matrix", RowsOf::any_order);
    form(fine_.restriction, fine_.A_prolongation, coarse_.A, "the coarse matrix");
    on_each(exec_, coarse_.A.rows, KeepRegular<V>{operand_of(coarse_.A)});
    exec_.fence();
  }

 private:
  void form(const Blocks& A, const Blocks& B, Blocks& C, const char* what,
            RowsOf order = RowsOf::ascending) {
    if (again_)
      multiply_again(exec_, A, B, C);
    else
      C = product(exec_, A, B, what + level_, order);
  }

  const Exec& exec_;
  Level& fine_;
  Level& coarse_;
  bool again_;
  std::string level_;
};

/// The next level: false where it would be no smaller to speak of. Waits.
template <class V, class Exec>
bool coarsen(const Exec& exec, const AmgOptions& options, bool symmetric, double largest,
             SetUpLevel<V, typename Exec::memory_space>& fine,
             SetUpLevel<V, typename Exec::memory_space>& coarse, std::size_t number,
             AmgHierarchy& facts) {
  constexpr double no_smaller = 0.8;
  Laps laps(exec);
  fine.strong = strong_couplings(exec, fine.A, options.strength, symmetric);
  const auto aggregates = aggregate(exec, fine.strong);
  laps.add_to(facts.aggregation_seconds);
  const double coarse_rows = double(aggregates.count) * fine.near_null.vectors;
  if (aggregates.count == 0 || coarse_rows > no_smaller * fine.A.rows * fine.A.height) {
    fine.strong = {};
    return false;
  }
  const std::string level = " of level " + std::to_string(number);
  fine.tentative = tentative_prolongation(exec, aggregates, fine.A.height, fine.near_null,
                                          coarse.near_null, &fine.members);
  if (!fine.near_null.is_one) fine.members = {};  // only factors of the prolongation need them
  Coarsening<V, Exec> coarsening(exec, fine, coarse, false, level);
  fine.smoothed = options.smoothed;
  if (fine.smoothed) {
    fine.prolongation =
        smoothed_pattern(exec, fine.strong, aggregates, fine.tentative, "the prolongation" + level);
    coarsening.smooth_prolongation(largest);
    // Few nodes with very many neighbours would make the coarse matrix full.
    constexpr offset_t ordinary = 40;
    const TakeLength length{fine.prolongation.row_offsets.data()};
    fine.smoothed =
        sum_over<Largest>(exec, fine.prolongation.rows, length).value <= double(ordinary) ||
        product_work(exec, fine.A, fine.prolongation) <= ordinary * fine.A.blocks();
  }
  if (!fine.smoothed) {
    fine.prolongation = fine.tentative;
    fine.strong = {};
  }
  std::tie(fine.restriction, fine.origins) = transpose_of(exec, fine.prolongation);
  laps.add_to(facts.prolongation_seconds);
  coarsening.form_coarse();
  laps.add_to(facts.product_seconds);
  return true;
}

}  // namespace cnc::detail
