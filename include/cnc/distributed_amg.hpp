#pragma once

// Algebraic multigrid of a matrix on several ranks. Part of cnc::mpi, as distributed.hpp is.

#include <cnc/amg.hpp>
#include <cnc/distributed.hpp>

#include <memory>
#include <string>
#include <vector>

namespace cnc {

/// Algebraic multigrid by smoothed aggregation of a whole matrix on several ranks: Amg, whose iterations hardly grow with the number of
/// ranks. Aggregates are of the nodes of one rank; prolongations are smoothed across ranks, and so is every level. From a level on
/// that is small beside the own part of the finest one every rank has the whole of it and goes through the levels below by itself, with Amg.
/// Before that, coarse levels of few rows a rank are on fewer ranks: about half of those before, or less. The rows of consecutive ranks go to the first
/// of them; the others have none from there on, and wait for the correction.
///
/// Set up in the memory of the vectors; the hosts see rows that are coupled with other ranks or go there, and the level that every rank has. That memory
/// is kept for the next set-up for a matrix of the same size, and given back by clear(). The first prolongation is in factors (AmgHierarchy::in_factors) on all
/// ranks or none: a rank without rows has none.
///
/// Values   as Amg. The smoothers are chebyshev, jacobi and l1_jacobi. W- and K-cycles visit levels twice that come after the first one that
///          every rank has: with few levels they are V-cycles.
/// Errors   as Amg, on all ranks; InvalidArgument (options that differ between ranks, named; block_size > 1 where a rank's first
///          row or rows are no multiple of it), UnsupportedOperation (other smoothers).
/// Cost     set_up as that of Amg for the own rows, and some 50 exchanges a level, most of them for the spectrum; apply 2 degree + 2
///          exchanges with the neighbours a level, two more where the next is on fewer ranks, and one of the small level among all ranks. update_values is a set_up.
/// Method   Tuminaro & Tong, Parallel smoothed aggregation multigrid: aggregation strategies on massively parallel machines, 2000,
///          section 3 (uncoupled aggregation).
template <class V, class Exec = Kokkos::DefaultHostExecutionSpace>
class DistributedAmg final : public PartitionedPreconditioner<V, Exec> {
 public:
  using typename PreconditionerBase<V, Exec>::Space;

  /// Nothing is set up yet. A level of at most whole_rows rows, of all ranks together, is one that every rank has the whole of; 0: 4000, or
  /// a sixteenth of the mean own part of the finest level.
  /// A larger coarse level of which the ranks with rows would have fewer than rank_rows in the mean is on fewer; 0: 1000; 1: all stay.
  /// Errors   as Amg; InvalidArgument (whole_rows < 0, rank_rows < 0).
  explicit DistributedAmg(const AmgOptions& options = {}, offset_t whole_rows = 0,
                          offset_t rank_rows = 0);
  ~DistributedAmg() override;

  /// As Amg::set_near_null_space, of the own rows, in the host's memory: as many vectors on all ranks.
  void set_near_null_space(std::vector<Vector<const V>> vectors);

  /// Frees what set-ups have built, and the memory that is kept for the next one; to be called on all ranks or none.
  void clear();

  std::string name() const override;  ///< "amg"
  double bytes(index_t rows, offset_t nonzeros) const override;
  void take(const PartitionedMatrix<V>& A) override;
  void require_all() const override;
  /// @{
  /// What PreconditionerBase says of them. Collective.
  PreconditionerSetup set_up(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                             const Matrix<V, Space>& layout) override;
  void apply(const Context<Exec>& ctx, const Vector<const V, Space>& r,
             const Vector<V, Space>& z) const override;
  /// @}
  /// Where devices of ranks exchange without their hosts: RankLink::messages and devices.
  bool only_enqueues() const override;
  /// A K-cycle does.
  bool varies() const override;

  /// Of the last set_up: rows and nonzeros of all ranks together, seconds of this one.
  const AmgHierarchy& hierarchy() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cnc
