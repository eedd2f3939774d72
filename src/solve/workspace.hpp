#pragma once

#include <cnc/context.hpp>
#include <cnc/contract/ops.hpp>
#include <cnc/contract/preconditioner_operand.hpp>
#include <cnc/contract/run.hpp>

#include "solve/notice.hpp"
#include "solve/recorded.hpp"

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace cnc::detail {

/// Steps of the longest cycle of a method with a basis.
inline constexpr int largest_restart = 1000;

/// The host's copy of what is `there`, not filled; the same where that is on a host.
template <class T, class Space>
Vector<T, SharedSpace<Space>> host_copy(const std::string& label, const Vector<T, Space>& there) {
  if constexpr (is_host_space<Space>)
    return there;
  else
    return uninitialized<T, SharedSpace<Space>>(label, there.extent(0));
}

/// What a solve works in, allocated in prepare.
template <class V, class Space>
struct Workspace {
  /// Iterations between looks at the clock, the divergence limit and the best iterate. A device does so
  /// many in the time of a look that it is better left alone for longer.
  static constexpr index_t longest_batch = is_host_space<Space> ? 64 : 256;

  Vector<V, Space> vectors[max_method_vectors];  ///< of the method, but for x
  Vector<V, Space> r, scratch;                   ///< two of them
  Vector<V, Space> best;                         ///< snapshot of the best iterate
  Vector<V, Space> rhs,
      guess;  ///< b and x in the order of the rows that iterations use (reordering)
  Vector<double, Space> wide_x, wide_r;  ///< of float vectors: for the true residual in double
  Vector<V, Space> normal;               ///< of least squares: A^T (b - A x)
  bool has_wide = false,
       has_normal = false;  ///< whether there are these, though they may be of no rows
  Kokkos::View<MethodScalars*, Space> scalars;
  Kokkos::View<MethodScalars*, SharedSpace<Space>>
      host_scalars;  ///< the host's copy; the same on a host
  Kokkos::View<MethodScalars*, SharedSpace<Space>>
      kept_scalars;  ///< among several ranks: those before a pass
  std::unique_ptr<Notice<typename Space::execution_space>>
      notice;  ///< by which the host sees them there
  /// [longest_batch] of a run, and as many of what takes the energy norm down
  Vector<double, SharedSpace<Space>> rr_history, energy_gains;
  /// Of groups of rows and components, where a Criterion is asked for; and the host's copy, the same on a host
  Vector<double, Space> partial_norms;
  Vector<double, SharedSpace<Space>> host_partial_norms;
  PlannedRuns planned;  ///< without the preconditioner, which the system has
  std::unique_ptr<RunPlan> plan;

  /// What methods with a growing basis need besides.
  struct Basis {
    int restart = 0;        ///< steps of a cycle
    bool flexible = false;  ///< whether z has a vector for each of them
    offset_t stride = 0;    ///< from a vector of v or z to the next
    Vector<V, Space> v;     ///< restart + 1 vectors
    Vector<V, Space> z;     ///< M^-1 of one of them; flexible: of all but the last
    Vector<V, Space> w, base;
    /// What steps leave, column_size() numbers each, and the host's copy; the same on a host.
    Vector<double, Space> columns;
    Vector<double, SharedSpace<Space>> host_columns;
    Vector<double, Space>
        coefficients;  ///< on the way to the backend's memory, and the host's copy
    Vector<double, SharedSpace<Space>> host_coefficients;
    /// Of steps: first and last, whether twice, the arrays of the matrix, the preconditioner, and what kernels know of the queue.
    Recorded<
        std::tuple<int, int, bool, int, Arithmetic, PreconditionerOperand<V>, const double*, int>>
        recorded;
    std::vector<char> twice;  ///< whether the vector of a step was made orthogonal a second time
    /// Steps of which the host reads the columns at once: on a host a look costs nothing.
    index_t steps_between_looks = is_host_space<Space> ? 1 : 8;
    /// The same of resident ones, whose launch and look cost as much as one or two of them. A solve is over in the middle of
    /// a group, so that half of one is done for nothing: with k steps in all sqrt(3 k) are best, 10 of 30, 17 of 100.
    index_t resident_steps_between_looks = 16;
    std::vector<double> cosines, sines, g, y,
        upper;  ///< the rotations, what they act on, and R by columns

    std::size_t column_size() const {
      return static_cast<std::size_t>(basis_column_size(restart + 1));
    }
  };
  std::unique_ptr<Basis> basis;

  void allocate_basis(index_t n, int restart, bool flexible) {
    const offset_t stride = ceil_div(n, 16) * offset_t(16);
    const auto several = [stride](int count) {
      return zeroed<V, Space>("cnc::basis", static_cast<std::size_t>(stride * count));
    };
    auto made = std::make_unique<Basis>();
    made->restart = restart;
    made->flexible = flexible;
    made->stride = stride;
    made->v = several(restart + 1);
    made->z = several(flexible ? restart : 1);
    made->w = zeroed<V, Space>("cnc::w", static_cast<std::size_t>(n));
    made->base = zeroed<V, Space>("cnc::base", static_cast<std::size_t>(n));
    const std::size_t size = static_cast<std::size_t>(restart) + 1;
    const auto with_copy = [](std::size_t count, auto& there, auto& here) {
      there = zeroed<double, Space>("cnc::coefficients", count);
      here = host_copy<double, Space>("cnc::host_coefficients", there);
    };
    with_copy(made->column_size() * size, made->columns, made->host_columns);
    with_copy(2 * size, made->coefficients, made->host_coefficients);
    for (auto* numbers : {&made->cosines, &made->sines, &made->g, &made->y})
      numbers->resize(size + 1);
    made->twice.resize(size);
    made->upper.resize(size * size);
    basis = std::move(made);
  }

  void allocate(index_t n, const MethodFacts& method, bool reordered, bool wide = false) {
    const auto size = static_cast<std::size_t>(n);
    const auto vector = [size](const char* label) { return zeroed<V, Space>(label, size); };
    for (int k = 0; k < max_method_vectors; ++k)
      vectors[k] =
          k < method.vectors && k != method.x ? vector("cnc::method_vector") : Vector<V, Space>();
    r = vectors[method.r];
    scratch = method.scratch >= 0 ? vectors[method.scratch] : vector("cnc::scratch");
    best = vector("cnc::best");
    rhs = reordered ? vector("cnc::rhs") : Vector<V, Space>();
    guess = reordered ? vector("cnc::guess") : Vector<V, Space>();
    wide_x = wide ? zeroed<double, Space>("cnc::wide_x", size) : Vector<double, Space>();
    wide_r = wide ? zeroed<double, Space>("cnc::wide_r", size) : Vector<double, Space>();
    normal = method.least_squares ? vector("cnc::normal") : Vector<V, Space>();
    has_wide = wide;
    has_normal = method.least_squares;
    scalars = zeroed<MethodScalars, Space>("cnc::scalars", 1);
    host_scalars = host_copy<MethodScalars, Space>("cnc::host_scalars", scalars);
    host_scalars(0) = {};
    kept_scalars = zeroed<MethodScalars, SharedSpace<Space>>("cnc::kept_scalars", 1);
    notice = std::make_unique<Notice<typename Space::execution_space>>();
    basis.reset();
    rr_history = uninitialized<double, SharedSpace<Space>>("cnc::rr_history", longest_batch);
    energy_gains = uninitialized<double, SharedSpace<Space>>("cnc::energy_gains", longest_batch);
  }
};

}  // namespace cnc::detail
