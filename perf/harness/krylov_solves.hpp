#pragma once

#include "harness/bench.hpp"
#include "harness/measure.hpp"
#include "peers/peers.hpp"

#include <cnc/solver.hpp>

#include <algorithm>
#include <compare>
#include <string>
#include <vector>

namespace cnc::perf {

// What the benches of solvers' iterations share. An iteration's time is the difference between a long and a short solve.

/// What --solver names: pcg, bicgstab or gmres.
Method& chosen_method();
void add_solver_option(CLI::App& app);
/// The same for peers.
Krylov peers_method(Method method);
/// Names the record after the method; PCG's keeps the bench's name.
void name_record(Method method, Record& record);

/// As matrix_sources. Without any choice, other methods than PCG get matrices that need them.
std::vector<std::string> solver_sources(MatrixChoice choice, Method method);
/// Why the method is not for this matrix; empty where it is.
std::string unfit(Method method, const Structure& structure);

/// Iterations of a short solve.
index_t short_solve(Method method);

/// Of the short and of the long solve: whole cycles of GMRES, whose steps cost more and more.
struct Lengths {
  index_t shorter = 0;
  index_t longer = 0;  ///< 0: too few to time

  index_t difference() const { return longer - shorter; }
};
/// Where `possible` iterations can be done at all, and `wanted` more than the short solve's are enough.
Lengths lengths_of(Method method, index_t possible, index_t wanted);

/// Options of a solve that runs to its limit, whatever happens.
SolveOptions endless(Method method, PreconditionerKind preconditioner, int block_size);

/// Options of a solve that finds out how many iterations can be done, `most` beyond the short solve's.
SolveOptions trial(Method method, index_t most);

/// Of an iteration with a Jacobi preconditioner, where a product costs that much.
Cost iteration_cost(Method method, const Cost& product, index_t rows, std::size_t vector_bytes);

/// The method's diagonal, in blocks of that size, and the side on which GMRES is preconditioned.
struct Preconditioned {
  int block_size = 1;
  bool left = false;

  auto operator<=>(const Preconditioned&) const = default;
};
/// Residual norm of the reference backend after the short solve of A x = random_vector(rows, 2).
double expected_residual(const CsrMatrix<double>& A, Method method, Preconditioned by);

/// || b - A x || in double, with the right-hand side of all solves.
template <class V>
double residual_norm(const CsrMatrix<double>& A, const Vector<V>& x);

/// A turn: pairs of a short and a long solve for its share of the time, after a solve that is not timed. The seconds of
/// an iteration are the median of the differences. time(iterations) does a solve and says how many seconds it took.
template <class Time>
Turn iteration_turn(const Time& time, const Lengths& lengths, const MeasureOptions& measure) {
  return [time, lengths, share = measure.seconds / measure.turns] {
    (void)time(lengths.shorter);
    std::vector<double> differences;
    for (double spent = 0; spent < share;) {
      const double few = time(lengths.shorter);
      const double many = time(lengths.longer);
      spent += few + many;
      // A difference that is smaller could only be noise.
      differences.push_back(std::max(many - few, 0.1 * many) / lengths.difference());
    }
    return median_of(std::move(differences));
  };
}

}  // namespace cnc::perf
