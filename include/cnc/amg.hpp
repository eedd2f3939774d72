#pragma once

#include <cnc/preconditioner.hpp>

#include <memory>
#include <string>
#include <vector>

namespace cnc {

/// How often a cycle visits the next coarser level.
enum class AmgCycle {
  v,  ///< once
  w,  ///< twice, from the second level on
  k,  ///< the same, each time the best combination of two cycles: about half the iterations of V with plain aggregates, at
      ///< more work. Such a cycle varies: solve with pcg_flexible or fgmres.
};

/// What a level is smoothed with before and after each coarse correction.
enum class AmgSmoother {
  chebyshev,  ///< Chebyshev's polynomial of the fourth kind with the inverted diagonal (blocks)
  jacobi,  ///< sweeps with the inverted diagonal (blocks), damped by 4/3 over the largest eigenvalue
  l1_jacobi,  ///< undamped sweeps with the magnitudes outside the diagonal (blocks) added to it
  gauss_seidel,  ///< sweeps forth and back, by colours of rows, which are found on one thread of the host
  ilu0,  ///< sweeps with an incomplete factorisation, of symmetric matrices with positive pivots and damped where sweeps would diverge: the strongest,
         ///< set up on one thread of the host
};

/// As options name them: "chebyshev", "jacobi", "l1-jacobi", "gauss-seidel", "ilu0".
const char* to_string(AmgSmoother smoother);

/// How a hierarchy is built and gone through.
struct AmgOptions {
  /// A coupling is strong that is not less than this part of the largest ones of its two rows, by their geometric mean; the others do not
  /// make aggregates, nor spread the prolongation. 0: all are.
  double strength = 0.25;
  /// Unknowns to a node, which are aggregated together; 0: the block size of the layout. Set it when rigid motions are given: a layout by
  /// diagonals has no blocks.
  int block_size = 0;
  AmgSmoother smoother = AmgSmoother::chebyshev;  ///< of all levels but the last
  /// Degree of the polynomial that smooths before and after each coarse correction; of other smoothers, sweeps.
  int smoother_degree = 2;
  AmgCycle cycle = AmgCycle::v;  ///< through the levels
  bool smoothed =
      true;  ///< the prolongation; plain aggregates are cheaper to set up and converge slower
  /// A level of so many rows is the last, which is solved with its inverse.
  index_t coarsest_rows = 300;
  int max_levels = 25;  ///< at most, the first included
  /// The cycle works in float under double vectors, which halves its bytes. (A matrix whose entries float cannot hold stays in double.)
  bool in_float = true;
};

/// One level of a hierarchy.
struct AmgLevel {
  offset_t rows = 0;      ///< scalars
  offset_t nonzeros = 0;  ///< of the matrix, fill of blocks included
  int block_size = 1;     ///< unknowns to a node
  std::string format;     ///< the layout for products, "bcsr:6"
  double largest_eigenvalue =
      0;          ///< estimate for D^-1 A, from above as a rule; 0 of the last level
  int ranks = 1;  ///< that have some of the rows; 0: each of several ranks has them all
};

/// What a set-up has built.
struct AmgHierarchy {
  std::vector<AmgLevel> levels;  ///< the finest first
  index_t coarsest_rank =
      0;  ///< of the last matrix: less than its rows where it is singular, 0 where it is too large for an inverse
  bool in_float = false;  ///< the precision of the cycle
  AmgSmoother smoother =
      AmgSmoother::chebyshev;  ///< asked for; a level that does not let it has Chebyshev's
  int smoother_degree = 0;     ///< its degree, or sweeps
  bool symmetric = false;      ///< whether the matrix is
  /// Whether cycles have the first prolongation by its factors, (I - omega D^-1 A) T: where products read a dictionary of rows, A is symmetric with
  /// one diagonal and strong couplings only, and the near-null space is constant.
  bool in_factors = false;
  int levels_together =
      0;  ///< the last so many levels are gone through in one launch; 0: each by itself
  /// @{
  /// Seconds of the set-up by part: aggregates with strength; prolongations; products of matrices; layouts, diagonals and spectra; the last level's inverse.
  double aggregation_seconds = 0, prolongation_seconds = 0, product_seconds = 0,
         smoother_seconds = 0, coarsest_seconds = 0;
  /// @}

  /// Nonzeros of all levels over those of the first.
  double operator_complexity() const;
  /// Rows of all levels over those of the first.
  double grid_complexity() const;
};

/// The rigid motions of a body, as near-null space of linear elasticity: translations, then rotations about the centre of
/// the nodes, scaled to the size of the body. 3 vectors in the plane, 6 in space.
///
/// Shapes   coordinates: [nodes dimension], those of each node one after the other; the vectors: as long, displacements in the same order.
/// Errors   InvalidArgument (dimension not 2 or 3, a number of coordinates that it does not divide).
template <class V>
std::vector<Vector<V>> rigid_body_modes(const Vector<const double>& coordinates, int dimension);

/// Algebraic multigrid by smoothed aggregation: one cycle approximates A^-1. For matrices of elliptic problems, whose solves then
/// take a number of iterations that hardly grows with their size; symmetric where A is, so that it preconditions CG.
///
/// Everything but the inverse of the last level, and what smoothers say of themselves, happens where the matrix is, and is the same on every run. The smoother
/// is Chebyshev's polynomial of the fourth kind by default. It needs nothing but a bound of the largest eigenvalue.
///
/// Memory   what a set-up took, temporaries included, is kept for the next one of a matrix of this size and for update_values; temporaries are
///          given back where they are more than a quarter of what is free, and everything by clear().
/// Values   rows without off-diagonal entries take no part in coarse levels. A row is at fault whose diagonal entry is zero or not finite.
/// Errors   InvalidArgument (options out of range, apply without a set_up; near-null vectors of another length), OutOfMemory.
/// Cost     set_up some 50 to 160 products on hosts, 200 on devices and 4 ms of launches; update_values, which keeps aggregates and patterns, a third to three quarters of it; apply 2 degree
///          products on each level.
/// Method   Vanek, Mandel & Brezina, Algebraic multigrid by smoothed aggregation, 1996. Aggregates: Kelley & Rajamanickam,
///          Parallel, portable algorithms for distance-2 maximal independent set and graph coarsening, 2022. Smoother: Lottes,
///          Optimal polynomial smoothers for multigrid V-cycles, 2023, section 2 (fourth kind); l1-Jacobi: Baker, Falgout, Kolev & Yang,
///          Multigrid smoothers for ultraparallel computing, 2011, section 5. K-cycle: Notay & Vassilevski, Recursive
///          Krylov-based multigrid cycles, 2008, section 2.
template <class V, class Exec = Kokkos::DefaultHostExecutionSpace>
class Amg final : public PreconditionerBase<V, Exec> {
 public:
  using typename PreconditionerBase<V, Exec>::Space;

  /// Nothing is set up yet.
  explicit Amg(const AmgOptions& options = {});
  ~Amg() override;

  /// Vectors that A maps to little beside their size: rigid-body modes, say. They are copied. None: a constant for each
  /// unknown of a node. Takes effect in the next set_up.
  ///
  /// Shapes   [rows] each, 16 at most, in the order of the iterations: that of the caller unless the solver reorders
  void set_near_null_space(std::vector<Vector<const V, Space>> vectors);

  /// Frees what set-ups have built, and the memory that is kept for the next one.
  void clear();

  std::string name() const override;  ///< "amg"
  double bytes(index_t rows, offset_t nonzeros) const override;
  /// @{
  /// What PreconditionerBase says of them.
  PreconditionerSetup set_up(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                             const Matrix<V, Space>& layout) override;
  PreconditionerSetup update_values(Context<Exec>& ctx, const CsrMatrix<V, Space>& A,
                                    const Matrix<V, Space>& layout) override;
  void apply(const Context<Exec>& ctx, const Vector<const V, Space>& r,
             const Vector<V, Space>& z) const override;
  /// @}
  /// On a device, where the smoothers do: loops of the host are no part of what is enqueued.
  bool only_enqueues() const override;
  /// A K-cycle does.
  bool varies() const override;

  const AmgHierarchy& hierarchy() const;  ///< of the last set_up

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cnc
