#include "peers/amgcl.hpp"

#include <amgcl/adapter/crs_tuple.hpp>
#include <amgcl/amg.hpp>
#include <amgcl/backend/builtin.hpp>
#include <amgcl/coarsening/smoothed_aggregation.hpp>
#include <amgcl/make_solver.hpp>
#include <amgcl/relaxation/ilu0.hpp>
#include <amgcl/relaxation/spai0.hpp>
#include <amgcl/solver/cg.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <tuple>

namespace cnc::perf::amgcl_peer {
namespace {

using Backend = amgcl::backend::builtin<double, int, int>;

template <template <class> class Smoother>
MultigridPeer multigrid_of(const CsrArrays<double>& A, const std::string& name) {
  using Solver =
      amgcl::make_solver<amgcl::amg<Backend, amgcl::coarsening::smoothed_aggregation, Smoother>,
                         amgcl::solver::cg<Backend>>;
  auto solver = std::make_shared<std::unique_ptr<Solver>>();
  const auto n = static_cast<std::size_t>(A.rows);
  return {name,
          [=] {
            solver->reset();
            *solver = std::make_unique<Solver>(
                std::make_tuple(n, amgcl::make_iterator_range(A.row_offsets, A.row_offsets + n + 1),
                                amgcl::make_iterator_range(A.columns, A.columns + A.nonzeros()),
                                amgcl::make_iterator_range(A.values, A.values + A.nonzeros())));
          },
          [=](const double* b, double* x, double tolerance) {
            (*solver)->solver().prm.tol = tolerance;
            (*solver)->solver().prm.maxiter = 500;
            auto solution = amgcl::make_iterator_range(x, x + n);
            return static_cast<int>(
                std::get<0>((**solver)(amgcl::make_iterator_range(b, b + n), solution)));
          }};
}

}  // namespace

std::vector<MultigridPeer> multigrid(const CsrArrays<double>& A) {
  return {multigrid_of<amgcl::relaxation::spai0>(A, "AMGCL, smoothed aggregation, SPAI(0)"),
          multigrid_of<amgcl::relaxation::ilu0>(A, "AMGCL, smoothed aggregation, ILU(0)")};
}

}  // namespace cnc::perf::amgcl_peer
