#pragma once

#include <cnc/contract/methods.hpp>

// Several systems with one matrix, solved side by side: K = 1, 2, 4, 8 or 16 vectors as interleaved columns, entry i of
// column c at i K + c, so that a matrix that is read once serves all of them. The phases of a method are those of one
// column; each column has scalars of its own. A column whose residual meets its target, or that breaks down, is left
// alone from then on.

namespace cnc {

/// Columns that operations take together at most; they take any power of two up to it.
inline constexpr int max_columns = 16;
/// Iterations of which r . r is kept for the host.
inline constexpr int column_log_size = 8;

/// Scalars of the columns, in the backend's memory space.
struct ColumnScalars {
  MethodScalars of[max_columns];       ///< each as of one vector
  double rr_target[max_columns] = {};  ///< a column with r . r at most that is frozen
  std::int32_t frozen[max_columns] =
      {};  ///< whether nothing changes it any more but the method's Finish
  std::int32_t iterations[max_columns] = {};  ///< done since this was 0
  double rr_log[column_log_size][max_columns] =
      {};  ///< after iteration k in line k % column_log_size
};

namespace methods {

/// The methods whose passes are compiled for several columns; with the others, columns are solved one after the other.
template <class V>
using ColumnMethods = MethodList<Cg<V>, Bicgstab<V>, Minres<V>, CgSmoothed<V>>;

template <class Method, class List>
inline constexpr bool is_in = false;
template <class Method, class... Listed>
inline constexpr bool is_in<Method, MethodList<Listed...>> = (std::is_same_v<Method, Listed> ||
                                                              ...);

/// The scalars of a column after the step of a pass, and whether the pass moves anything in it.
template <class Method, class Pass>
constexpr bool begin_column(const ColumnScalars& stored, int column, MethodScalars& s) {
  s = begin_pass<Pass>(stored.of[column]);
  constexpr bool takes_frozen = Pass::starts || std::is_same_v<Pass, typename Method::Finish>;
  return s.breakdown == Breakdown::none && (takes_frozen || stored.frozen[column] == 0);
}

/// Why a pass moved nothing in a column, if that is new.
constexpr void give_up_column(ColumnScalars& stored, int column, const MethodScalars& s) {
  if (stored.frozen[column] == 0) stored.of[column].breakdown = s.breakdown;
}

/// The scalars to store at the end of a pass that moved a column: from begin_column.
template <class Method, class Pass>
constexpr void end_column(ColumnScalars& stored, int column, MethodScalars& s, const double* sums) {
  end_pass<Pass>(s, sums);
  stored.of[column] = s;
  // The last phase of an iteration is a pass with sums.
  if constexpr (std::is_same_v<Pass, typename Method::Iteration::Last>) {
    static_assert(Pass::sums.count > 0);
    std::int32_t& done = stored.iterations[column];
    stored.rr_log[done % column_log_size][column] = s.rr();
    ++done;
    if (s.rr() <= stored.rr_target[column]) stored.frozen[column] = 1;
  }
}

}  // namespace methods
}  // namespace cnc
