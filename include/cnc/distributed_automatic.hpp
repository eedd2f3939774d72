#pragma once

// A preconditioner for a matrix on several ranks by what each promises. Part of cnc::mpi, as distributed.hpp is.

#include <cnc/automatic_preconditioner.hpp>
#include <cnc/distributed_amg.hpp>

#include <memory>

namespace cnc {

/// AutomaticPreconditioner for DistributedSolver: all ranks take the same, by trials with the whole matrix. Candidates are Jacobi and
/// incomplete factorisations of the own blocks, and DistributedAmg.
///
/// Errors   as AutomaticPreconditioner, on all ranks; InvalidArgument (options that differ between ranks); OutOfMemory, where a trial has no room for its vectors.
/// Cost     that of AutomaticPreconditioner. What is counted in products leaves out their exchanges. update_values is a set_up where one rank's layout
///          is built anew, else that of the candidate taken.
template <class V, class Exec = Kokkos::DefaultHostExecutionSpace>
class DistributedAutomaticPreconditioner final
    : public detail::OneOfSeveral<V, Exec, PartitionedPreconditioner<V, Exec>> {
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
  PreconditionerSetup choose(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                             const Matrix<V, Space>& layout);
  PreconditionerSetup on_all(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                             const Matrix<V, Space>& layout, bool anew);

  AutomaticOptions options_;
  std::shared_ptr<DistributedAmg<V, Exec>> amg_;
  PartitionedMatrix<V> matrix_;
};

}  // namespace cnc
