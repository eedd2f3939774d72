#pragma once

// One system on several processes, over MPI: the library cnc::mpi, where CNC was built with CNC_ENABLE_MPI. Not part of cnc.hpp.

#include <cnc/solver.hpp>

#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace cnc {

/// An MPI operation failed: its name and MPI's own words are in the text.
class MpiError : public Error {
 public:
  using Error::Error;
};

/// Something failed on another rank: which, and why, are in the text.
class RankError : public Error {
 public:
  using Error::Error;
};

namespace detail {
class Channel;
template <class T>
struct Halo;
template <class T>
struct Products;
struct PartitionAccess;
struct Move;
template <class T, class Exec>
class AmongRanks;
template <class T, class Exec>
struct MovedVectors;
}  // namespace detail

/// Keeps MPI alive for as long as it lives: initialises it, and finalises it at the end of the scope. Does nothing at all
/// where the program, or another library in it, has initialised MPI before: that one then finalises it.
class [[nodiscard]] MpiScope {
 public:
  /// Asks for MPI_THREAD_FUNNELED: the library calls MPI from the threads that call it, never from its own.
  /// Errors   MpiError (MPI has been finalised and cannot be initialised again; its initialisation fails).
  MpiScope();
  ~MpiScope();
  MpiScope(const MpiScope&) = delete;
  MpiScope& operator=(const MpiScope&) = delete;

  bool owns_mpi() const { return owns_mpi_; }  ///< whether it will finalise MPI

 private:
  bool owns_mpi_ = false;
};

/// Whether this process was started as one of several by mpirun, mpiexec or srun. Asks the environment, not MPI.
bool started_by_mpi();

/// How the entries of x that ranks need of each other come to them.
enum class RankLink {
  mpi,           ///< from host to host
  through_host,  ///< from device to device, by MPI between memory of their hosts
  device_mpi,    ///< from device to device, by an MPI that says it reads and writes their memory
  messages,  ///< from device to device by their vendor's library, NCCL or RCCL, where CNC was built with it
  devices  ///< devices of one machine write into each other's memory
};
/// "MPI", "MPI between the hosts' memory", "MPI between the devices' memory", "messages between devices", "the devices' memory".
const char* to_string(RankLink link);

/// Processes that work on one system, as ranks of a duplicate of the caller's communicator: messages of the library meet
/// none of his. A small handle; copies share the duplicate, which must be gone before MPI is finalised.
///
/// Collective  Everything that says so is called by all ranks, in the same order. Where it fails on one of them it fails on
///             all: ranks that fail throw what went wrong there, the others RankError with the words of the first of
///             them; nobody is left waiting. Ranks that were at different operations by then cannot use the communicator
///             any more: every later call throws RankError.
/// Threads     one at a time; the main one unless MPI was initialised for more.
class Communicator {
 public:
  /// Collective.
  /// Errors   MpiError (MPI is not initialised, or does not allow calls from this thread).
  explicit Communicator(MPI_Comm ranks = MPI_COMM_WORLD);

  int rank() const;  ///< from 0
  int size() const;  ///< ranks
  /// Ranks on the same machine, which share its processors.
  int ranks_of_machine() const;
  /// Does something in which ranks may wait for each other in the library's functions. Collective: this is what they all
  /// run in.
  void together(const std::function<void()>& work) const;
  /// Waits inside together() until all ranks have come here, and gives the processor to others meanwhile. Collective.
  /// Errors   RankError (another rank has failed).
  void wait_for_all() const;

  /// How devices of ranks exchange at best, in solvers that are prepared from now on: the least of what the ranks say, and
  /// what there is; RankLink::devices at first. For comparisons, and where a library or driver fails. Memory of hosts: no change.
  void limit_link(RankLink best) const;

  const std::shared_ptr<detail::Channel>& channel() const { return channel_; }  ///< for the library

 private:
  std::shared_ptr<detail::Channel> channel_;
};

/// The rows that a rank has, in CSR with the columns of the whole matrix, in any order: first_row and those after it, or any.
template <class T>
struct OwnRows {
  offset_t first_row = 0;                 ///< its number in the whole matrix
  std::span<const offset_t> row_offsets;  ///< [rows + 1], from 0; empty: no rows
  std::span<const offset_t> columns;      ///< [entries], 0 to the number of all rows
  std::span<const T> values;              ///< [entries]
  /// [rows] The numbers of rows that do not follow each other, in the order of row_offsets. Empty: first_row and those after it. Where a
  /// rank gives some, all that have rows do.
  std::span<const offset_t> numbers = {};
};

/// By what a whole matrix is cut into parts, one for each rank.
enum class Partition {
  segments,  ///< into consecutive rows
  graph,  ///< where few entries couple the parts: by METIS, which the library need not be built with
  given   ///< as the caller says
};
/// "segments", "graph", "given".
const char* to_string(Partition partition);

/// How a matrix is cut. PartitionedMatrix::scattered takes those of the first rank.
struct PartitionOptions {
  Partition kind = Partition::segments;  ///< by what
  /// Rows block_size k to block_size (k + 1) - 1 stay together: the unknowns of a node. With `given` only where a rank's rows are
  /// reordered, and counted from its first one.
  int block_size = 1;
  /// With `given`: of scattered [rows of the matrix] on the first rank, of repartitioned [rows of this rank] on each.
  std::span<const int> rank_of_row = {};
};

/// How a matrix lies on the ranks, as one of them has it.
struct PartitionFacts {
  index_t rows = 0;           ///< its own
  offset_t entries = 0;       ///< of these rows
  offset_t halo_entries = 0;  ///< of them in columns of other ranks: the cut
  index_t boundary_rows = 0;  ///< rows that have some
  index_t halo = 0;           ///< entries of x that it takes from others
  int neighbours = 0;         ///< ranks that it takes some from, or gives some to
};

/// A square matrix of which each rank has some consecutive rows, and what it takes to multiply with it.
///
/// A rank stores the block of its own rows and columns, with 32-bit indices of its own; and the entries in columns of others,
/// apart, for those rows alone that have some. y = A x is the block's product, during which x goes to the neighbours, and
/// then those rows again. An immutable handle: copies share everything.
template <class T>
class PartitionedMatrix {
 public:
  PartitionedMatrix() =
      default;  ///< of nothing: every function but rows() and own_block() throws InvalidArgument
  /// From rows that every rank has, none included. They are copied. Rows with numbers of their own are renumbered as by
  /// scattered: those of a rank follow each other in the order given.
  ///
  /// Collective
  /// Errors   InvalidArgument (rows owned by two ranks or by none, named; a column outside; twice in a row; arrays that do not
  ///          fit together; ranks with values of another type; more than 2^31 - 1 rows with numbers), OutOfMemory, RankError.
  /// Cost     O(entries log(entries of a row)), and a message to each neighbour; with numbers O(entries log(entries)) and some messages
  ///          from each rank to each.
  PartitionedMatrix(const Communicator& ranks, const OwnRows<T>& rows);

  /// From a whole matrix that the first rank has. Other ranks pass an empty one.
  ///
  /// segments  Consecutive rows, with as equal numbers of stored entries as whole groups of `block_size` rows allow.
  /// graph     METIS cuts the graph of A + A^T, whose nodes are groups of `block_size` rows, k-way: numbers of stored entries
  ///           are equal within some percent if groups are small, and few entries are in columns of other ranks. The same
  ///           pattern gives the same parts, by the same METIS: its seed is fixed. With fewer than 16 groups for each rank, or
  ///           none that are coupled: segments.
  /// given     Rank rank_of_row[i] has row i; ranks may have none.
  ///
  /// With the last two, rows are renumbered so that those of a rank are consecutive, in the order that they had. The first rank
  /// sees nothing of it, because scatter and gather undo it; original_rows() tells the others. first_row() and the columns of
  /// other ranks are in the new order.
  ///
  /// Collective
  /// Shapes   A: square, in CSR. rank_of_row: [A.rows], 0 to the number of ranks - 1.
  /// Errors   InvalidArgument (not square, not valid CSR, block_size < 1; a list of another length or with another rank; with
  ///          `graph` more entries than METIS can count), UnsupportedOperation (`graph` where the library was built without
  ///          METIS), OutOfMemory, RankError.
  /// Cost     O(entries) on the first rank and messages; with `graph` METIS beside that. Where rows are renumbered the first
  ///          rank has a copy of A for that time.
  /// Threads  METIS seeds and draws from std::rand: no other thread may at that time.
  /// Method   segments: Verschoor & Jalba, Analysis and performance estimation of the conjugate gradient method on multiple
  ///          GPUs, 2012: one segment per device, balanced by nonzeros. graph: Karypis & Kumar, A fast and high quality
  ///          multilevel scheme for partitioning irregular graphs, 1998.
  static PartitionedMatrix scattered(const Communicator& ranks, const CsrMatrix<T>& A,
                                     const PartitionOptions& options = {});

  /// From a file that read_matrix reads, in segments as of scattered. Each rank parses a part of plain Matrix Market text with entries
  /// by coordinates, or reads its own rows of a binary cache, and no rank ever has the whole; other files, and what is faulty, the
  /// first rank reads, and scatters. The values have the bits of read_matrix.
  ///
  /// Collective
  /// Errors   IoError, as read_matrix, on the first rank, RankError on the others; or on the rank that does not reach the file, which
  ///          all must. Those of scattered.
  /// Cost     text: each rank the parsing of its part, and messages with the entries of others; about 5 times the memory of its entries.
  ///          Cuts are between groups of rows, where there are more than 65,536 blocks. A binary cache: about twice the memory of its
  ///          entries; the checksum, of all bytes in their order, is taken by one rank after the other.
  static PartitionedMatrix read(const Communicator& ranks, const std::string& path,
                                int block_size = 1);

  /// A built-in problem, "poisson3d:100" say, in segments as of scattered: the bits of generate_problem, of which each rank makes
  /// its own rows, and none has the whole.
  ///
  /// Collective
  /// Errors   those of generate_problem, on all ranks; InvalidArgument (block_size < 1; another problem or block size than
  ///          the first rank's), OutOfMemory, RankError.
  /// Cost     each rank: counting the entries of as many rows as others, and making its own; about twice the memory of its entries.
  ///          For trefethen each rank also computes the primes of all rows.
  static PartitionedMatrix generated(const Communicator& ranks, const std::string& problem,
                                     int block_size = 1);

  /// This matrix with its rows redistributed: on other ranks, or in another order within each rank.
  ///
  /// segments  As of scattered, of the rows as they are numbered here: first_row() and those after it.
  /// graph     As of scattered, of the rows as they are numbered here.
  /// given     Own row i goes to rank rank_of_row[i].
  /// within    none: the rows of a rank are in the order of their numbers here. rcm: in that of rcm_ordering of their own block; groups
  ///           of `block_size` rows, counted from the rank's first, stay together.
  ///
  /// Rows keep the numbers that their caller knows them by: original_rows(), scatter and gather are of those. first_row() and the columns
  /// of other ranks are in the new order. DistributedSolver::prepare does this, too, and moves b and x as well.
  ///
  /// Collective
  /// Errors   InvalidArgument (options that differ between ranks; block_size < 1, or over 16 with rcm; a list of another length or with
  ///          another rank; more than 2^31 - 1 rows; more entries than that for a rank, or with `graph` in all),
  ///          UnsupportedOperation (`graph` where the library was built without METIS), OutOfMemory, RankError.
  /// Cost     rows go from rank to rank in some messages, with about 50 bytes of memory for each entry. The first rank gets the number of
  ///          every row, with segments and `graph` also its number of entries, with `graph` the columns, 4 bytes each, and what METIS takes.
  /// Threads  as scattered.
  /// Source   rcm: Cuthill & McKee, Reducing the bandwidth of sparse symmetric matrices, 1969.
  PartitionedMatrix repartitioned(const PartitionOptions& options,
                                  Reordering within = Reordering::none) const;

  offset_t all_rows() const;   ///< of all ranks
  offset_t first_row() const;  ///< this rank's first
  /// [rows] The own rows' numbers in the matrix that was scattered, ascending; or as they were given, or redistributed; first_row() and
  /// those after it where there was no renumbering. For what there is of each row of the whole matrix on every rank.
  std::vector<offset_t> original_rows() const;
  index_t rows() const { return block_.rows; }  ///< own ones
  /// The block of the own rows and columns: what preconditioners are set up from.
  const CsrMatrix<T>& own_block() const { return block_; }
  const PartitionFacts& facts() const;  ///< of this rank
  Partition partition() const;          ///< by what the rows were dealt out
  const Communicator& ranks() const;    ///< that it lies on

  /// y := A x, own entries. Collective.
  /// Shapes   x, y: [rows]; they do not overlap.
  void multiply(Context<>& ctx, const Vector<const T>& x, const Vector<T>& y) const;

  /// @{
  /// A vector that the first rank has, to everybody his part, and back. Collective. Other ranks pass, and get, nothing. The whole
  /// vector is in the order of the matrix before any renumbering.
  /// Errors   InvalidArgument (a wrong length).
  Vector<T> scatter(const Vector<const T>& whole) const;
  Vector<T> gather(const Vector<const T>& own) const;
  /// @}

 private:
  template <class, class>
  friend class DistributedSolver;
  friend struct detail::PartitionAccess;
  /// From rows that follow each other, with the columns of the whole matrix, as segments. Collective.
  static PartitionedMatrix of_segment(const Communicator& ranks, offset_t first_row,
                                      const CsrMatrix<T>& rows);
  template <class Rows>
  void take_rows(const Rows& rows);
  void take_numbered_rows(const OwnRows<T>& rows);
  detail::Halo<T>& halo() const;
  std::shared_ptr<const Communicator> ranks_;
  std::shared_ptr<detail::Halo<T>> halo_;
  std::shared_ptr<detail::Products<T>> products_;
  std::shared_ptr<const detail::Move> move_;  ///< within a solver that has moved the rows
  CsrMatrix<T> block_;
};

/// A preconditioner of the whole matrix, where one that is set up from the own block alone would be block Jacobi with a block per
/// rank. Its set_up, update_values and apply are collective.
template <class V, class Exec = Kokkos::DefaultHostExecutionSpace>
class PartitionedPreconditioner : public PreconditionerBase<V, Exec> {
 public:
  /// The matrix that the next set_up or update_values is for, of which these see the own block. DistributedSolver calls it.
  virtual void take(const PartitionedMatrix<V>& A) = 0;
  /// After a solve: throws DeviceError where a device of another rank was waited for in vain in its exchanges. Default: it has none.
  virtual void require_all() const {}
};

/// Solves A x = b for a matrix on several ranks: cnc::Solver, with the exchange of x in its products and sums over all ranks.
/// Vectors and the copies of the matrix that are iterated with are in the memory of Exec: of the host, or of a device for each
/// rank. Devices of one machine that reach each other's memory write into it; else NCCL or RCCL sends from one to the other, where
/// CNC was built with it and each rank has a device of its own; else MPI does, where it says that it sees memory of devices; else what
/// goes to other ranks is copied to the host while the own block is multiplied, and any MPI will do. Ranks of a machine share its devices out by Kokkos' settings.
/// Preconditioners are those of the own block: block Jacobi with one block per rank, each with what is asked for; but for a
/// PartitionedPreconditioner: DistributedAmg, and DistributedAutomaticPreconditioner, which chooses.
///
/// All functions are collective but those that only read or set something: options(), set_options(), set_null_space(), advice(), matrix()
/// and link(). All ranks pass the same options: the library compares them. Sums are added in the order of the ranks: for the same
/// number of ranks, partition and link the bits are the same on every run.
/// The form is fused_steps, plain_operations of gmres and fgmres; by RankLink::messages and devices also streamed and graph, and by
/// devices, for methods and parts that allow it, one_meeting, which is automatic once it has paid for its set-up.
/// StoragePrecision::f32 stores the own block in float; entries in columns of other ranks stay in double.
///
/// Rows     prepare moves them between ranks if it is given a partition, and orders them within each rank if SolveOptions::reordering
///          says so. b, x, null vectors and near-null vectors of DistributedAmg stay those of the rows that the caller has. A callback
///          sees own parts of matrix(), and another preconditioner of the caller is set up for its block.
/// Limits   max_seconds is by the clock of the first rank. The callback may be on some ranks only and sees own parts of x and r;
///          a solve stops where one says so, and accepts where all that have one do.
/// Report   the same on all ranks but for seconds, format, backend calls and synchronisations; bytes and flops are of all
///          ranks together. Rows are named by their number in original_rows(). Whether the matrix is symmetric is looked for
///          within the blocks, by multigrid and by the choice of a preconditioner between them, too.
template <class V, class Exec = Kokkos::DefaultHostExecutionSpace>
class DistributedSolver {
 public:
  using Space = typename Exec::memory_space;  ///< of the vectors

  /// Keeps a reference to the context, which must outlive the solver.
  explicit DistributedSolver(Context<Exec>& ctx, SolveOptions options = {});

  /// As Solver::prepare, with the own block.
  /// Errors   InvalidArgument (options that differ between ranks, named), UnsupportedOperation, OutOfMemory, RankError.
  void prepare(const PartitionedMatrix<V>& A);
  /// The same for A.repartitioned(partition). A reordering keeps components together, too, and blocks of the layout if 16 rows are enough.
  /// Errors   those of both; InvalidArgument (more than 16 rows that a reordering has to keep together).
  /// Cost     that of both. Each solve then moves b and x, and x back, outside the time in its report; update_values moves all values.
  ///          The solver keeps A and what became of it.
  void prepare(const PartitionedMatrix<V>& A, const PartitionOptions& partition);
  /// As Solver::update_values: a matrix with the partition and pattern of the one prepared; where rows were moved, on the same ranks.
  void update_values(const PartitionedMatrix<V>& given);
  /// As Solver::set_preconditioner with an object; each rank has its own. Set it before prepare, or between solves.
  void set_preconditioner(std::shared_ptr<PreconditionerBase<V, Exec>> preconditioner);

  /// As Solver::set_null_space: each rank gives its part of each vector. Takes effect at the next prepare.
  /// Shapes   [rows of this rank] each, of the matrix given to prepare
  /// Errors   InvalidArgument, in prepare (as Solver; ranks with different numbers of vectors).
  void set_null_space(std::vector<Vector<const V, Space>> vectors);

  /// As Solver::solve.
  ///
  /// Shapes   b, x: [rows of this rank], of the matrix given to prepare
  /// Errors   InvalidArgument (extents; options that differ; components that the partition tears apart), RankError,
  ///          DeviceError, and what callbacks and preconditioners throw; on devices the solver then has to be prepared again.
  SolveReport solve(const Vector<const V, Space>& b, const Vector<V, Space>& x);

  const SolveOptions& options() const { return options_; }  ///< those of the next solve
  /// As Solver::set_options.
  void set_options(SolveOptions options);
  /// What is iterated with: the matrix given to prepare, or what became of it. Empty where none is prepared.
  PartitionedMatrix<V> matrix() const;
  /// How entries of x go from rank to rank, the same on all.
  /// Errors   InvalidArgument (not prepared).
  RankLink link() const;
  /// As Solver::advice, of the own block.
  const std::vector<std::string>& advice() const { return solver_.advice(); }

 private:
  void agree(const char* call, detail::Channel& channel, PreconditionerBase<V, Exec>* M) const;
  void forget();  ///< not prepared any more
  /// Collective: prepared for A, or not at all where a rank fails. steps: returns what is iterated with.
  void change(const PartitionedMatrix<V>& A, const std::function<PartitionedMatrix<V>()>& steps);
  void prepare_in(PartitionedMatrix<V> A, const PartitionOptions* partition);
  /// A, or its rows moved: by a partition, if there is one, and as options_ say.
  PartitionedMatrix<V> redistributed(const PartitionedMatrix<V>& A,
                                     const PartitionOptions* partition) const;
  void take_ways(const PartitionedMatrix<V>& matrix);
  void take_null_space(const PartitionedMatrix<V>& A);
  SolveReport solve_moved(const Vector<const V, Space>& b, const Vector<V, Space>& x);
  std::shared_ptr<detail::OtherRanks> others() const;
  /// M, if it is one of the whole matrix; or null.
  static PartitionedPreconditioner<V, Exec>* of_partition(PreconditionerBase<V, Exec>* M);

  Context<Exec>& ctx_;
  SolveOptions options_;
  StoragePrecision storage_ = StoragePrecision::as_vectors;  ///< as prepared
  Solver<V, Exec> solver_;  ///< which does not reorder: the matrix that it gets has been
  std::shared_ptr<PreconditionerBase<V, Exec>> preconditioner_;  ///< the object given
  std::vector<Vector<const V, Space>> null_vectors_;             ///< as given
  PartitionedMatrix<V> given_, matrix_;                   ///< the same, unless rows are moved
  std::shared_ptr<detail::MovedVectors<V, Exec>> moved_;  ///< then
  CsrMatrix<V, Space> block_;  ///< matrix_'s block of own rows and columns in Space
  std::shared_ptr<detail::AmongRanks<V, Exec>> ranks_;
};

}  // namespace cnc
