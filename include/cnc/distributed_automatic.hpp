#pragma once

// The choice of a preconditioner for a matrix on several ranks. Part of cnc::mpi, as distributed.hpp is.

#include <cnc/automatic_preconditioner.hpp>
#include <cnc/distributed_amg.hpp>

#include <memory>

namespace cnc {

/// AutomaticPreconditioner for DistributedSolver: all ranks take the same, by trials with the whole matrix. Candidates are Jacobi (by blocks where the
/// layout has them), incomplete factorisations of the own blocks, and DistributedAmg, so what is taken depends on the number of ranks and the partition.
///
/// Errors   as AutomaticPreconditioner, on all ranks: the others get RankError. InvalidArgument (options that differ between ranks; not given to a
///          DistributedSolver), DeviceError (a device of another rank was waited for in vain). After an error nothing is taken.
/// Cost     that of AutomaticPreconditioner. Products are counted with entries in columns of other ranks, but without the time of exchanges. update_values is
///          that of the candidate taken, or a set_up: where nothing is taken, or where a rank's layout is built anew.
template <class V, class Exec = Kokkos::DefaultHostExecutionSpace>
class DistributedAutomaticPreconditioner final
    : public OneOfSeveral<V, Exec, PartitionedPreconditioner<V, Exec>> {
 public:
  using typename PreconditionerBase<V, Exec>::Space;

  /// `amg`: the multigrid to try, with options and a near-null space of its own; null: one with defaults.
  explicit DistributedAutomaticPreconditioner(const AutomaticOptions& options = {},
                                              std::shared_ptr<DistributedAmg<V, Exec>> amg = {});

  /// @{
  /// What PartitionedPreconditioner says of them.
  double bytes(index_t rows, offset_t nonzeros) const override;
  void take(const PartitionedMatrix<V>& A) override;
  void require_all() const override;
  PreconditionerSetup set_up(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                             const Matrix<V, Space>& layout) override;
  PreconditionerSetup update_values(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                                    const Matrix<V, Space>& layout) override;
  /// @}

 private:
  void forget();  ///< what was taken
  PreconditionerSetup choose(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                             const Matrix<V, Space>& layout);
  PreconditionerSetup on_all(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                             const Matrix<V, Space>& layout, bool anew);

  AutomaticOptions options_;
  std::shared_ptr<DistributedAmg<V, Exec>> amg_;
  PartitionedMatrix<V> matrix_;
};

}  // namespace cnc
