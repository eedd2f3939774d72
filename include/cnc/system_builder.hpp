#pragma once

#include <cnc/formats.hpp>
#include <cnc/multivector.hpp>

#include <functional>
#include <memory>
#include <span>

namespace cnc {

/// What a row of an assembled system is.
enum class RowKind {
  variables,  ///< row i is the equation of variable i, and is left out where that variable is locked
  equations,  ///< an equation of its own, always kept: least squares, or rows that are appended one by one
};

/// What a SystemBuilder assembles.
struct SystemOptions {
  RowKind rows = RowKind::variables;  ///< what rows are
  /// Of RowKind::equations: rows 0 to equations - 1 are there from the beginning, for entries that name their row; those
  /// that begin_row() appends follow them.
  index_t equations = 0;
  int right_hand_sides = 1;  ///< columns of b, and values of a locked variable: 1 to 64
  /// Each row made by begin_row is divided by the 2-norm of its coefficients of free variables, before its scale.
  bool normalize_rows = false;
};

namespace detail {
/// Where the next entry of a chunk goes, and at which place it was in the last assembly.
template <class T>
struct EntryCursor {
  index_t* rows = nullptr;
  index_t* columns = nullptr;
  T* values = nullptr;
  offset_t at = 0;
  offset_t add_end = 0;  ///< where places to compare entries with end; 0 inside of a row
  offset_t row_end = 0;  ///< the same for coefficients; 0 outside of a row
  index_t row = 0;       ///< that has begun

  /// Takes the value of an entry that comes at the same place as last time.
  bool repeats(offset_t end, index_t at_row, index_t at_column, T value) {
    if (at >= end || rows[at] != at_row || columns[at] != at_column) return false;
    values[at++] = value;
    return true;
  }
};
}  // namespace detail

/// Where one thread leaves its part of a system. Entries of a chunk come in the order of its calls, chunks in the order of their
/// numbers. Entries at the same place are summed in this order, and appended rows numbered in it, so that the system has the
/// same bits whichever thread fills which chunk.
///
/// Threads  a chunk belongs to one thread at a time; different chunks are filled side by side.
/// Errors   InvalidArgument (an index out of range, a row within a row, what belongs in a row outside of one, or the other way
///          round); the chunk is then as before the call.
template <class T>
class SystemChunk {
 public:
  /// a(row, column) += value. A locked column goes to the right-hand sides.
  void add(index_t row, index_t column, T value) {
    // Numbers below zero are in use for rows and columns of other kinds.
    if ((row | column) < 0 || !cursor_->repeats(cursor_->add_end, row, column, value))
      add_other(row, column, value);
  }
  /// Adds a dense block, row by row, whose first entry is at (block_row, block_column) times block_size.
  ///
  /// Shapes   values: [block_size * block_size]
  void add_block(index_t block_row, index_t block_column, int block_size, const T* values);
  /// b(row, k) += value.
  void add_right_hand_side(index_t row, T value, int k = 0);

  /// @{
  /// An equation, from its begin to its end: sum of coefficients times variables = right-hand side, all of it times scale.
  /// Without a number the row is appended after all others (RowKind::equations only); with one it is added to that row.
  void begin_row();
  void begin_row(index_t row);
  void coefficient(index_t variable, T value) {    ///< several of one variable are summed
    if (variable < 0 || !cursor_->repeats(cursor_->row_end, cursor_->row, variable, value))
      coefficient_other(variable, value);
  }
  void right_hand_side(T value, int k = 0);        ///< the last value given counts; 0 where none is
  void scale(T factor);                            ///< the last one given counts; 1 where none is
  void end_row();
  /// @}

  ~SystemChunk();
  SystemChunk(SystemChunk&&) noexcept;

 private:
  template <class>
  friend class SystemBuilder;
  struct State;
  explicit SystemChunk(std::unique_ptr<State> state);
  void add_other(index_t row, index_t column, T value);
  void coefficient_other(index_t variable, T value);
  std::unique_ptr<State> state_;
  detail::EntryCursor<T>* cursor_;  ///< in the state
};

/// Assembles A x = b, or the rows of a least-squares problem, from entries, blocks and rows, and again and again with
/// other values: an assembly with the same calls as the one before keeps the pattern and refreshes the values.
///
///   SystemBuilder<double> builder(variables);
///   builder.lock(0, 1.0);
///   builder.assemble(elements, [&](SystemChunk<double>& chunk, offset_t e) { chunk.add(i, j, value); ... });
///   solver.prepare(builder.matrix());
///
/// Locked variables are no unknowns: their columns, times their values, are taken from the right-hand sides. The matrix has a
/// column for each free variable, in ascending order.
///
/// Cost     a first assembly sorts: 16 to 24 bytes per entry added; a refresh reads each value once and compares indices.
template <class T>
class SystemBuilder {
 public:
  /// Errors   InvalidArgument (variables or equations negative, right_hand_sides out of range, equations with rows of variables).
  explicit SystemBuilder(index_t variables, SystemOptions options = {});
  ~SystemBuilder();
  SystemBuilder(SystemBuilder&&) noexcept;
  SystemBuilder& operator=(SystemBuilder&&) noexcept;

  const SystemOptions& options() const;
  index_t variables() const;

  /// @{
  /// Locks a variable at a value for all right-hand sides, or at one for each, or changes the value. Takes effect in the
  /// next finish; which variables are locked is part of the pattern, their values are not.
  ///
  /// Shapes   values: [right_hand_sides]
  void lock(index_t variable, T value);
  void lock(index_t variable, std::span<const T> values);
  void unlock(index_t variable);
  bool is_locked(index_t variable) const;
  /// @}

  /// Begins an assembly whose parts are left in this many chunks. Threads do not matter for their number, sums do: other
  /// chunks are another order.
  void begin(int chunks = 1);
  /// Chunk k of the assembly that has begun.
  SystemChunk<T>& chunk(int k = 0);
  /// Ends it: builds the matrix and the right-hand sides, or refreshes them.
  /// Errors   InvalidArgument (a row that was not ended; more than 2^31 - 1 entries), OutOfMemory.
  void finish();

  /// All three: body(chunk, i) for i in [0, count), on the library's threads, in chunks whose number depends on count alone.
  /// What a body throws is rethrown; the assembly is then to begin again.
  template <class Body>
  void assemble(offset_t count, const Body& body) {
    assemble_ranges(count, [&body](SystemChunk<T>& chunk, offset_t begin, offset_t end) {
      for (offset_t i = begin; i < end; ++i) body(chunk, i);
    });
  }

  /// Whether the last finish found the calls of the one before, and refreshed values alone.
  bool was_refreshed() const;

  /// @{
  /// The system as the last finish left it. Views stay the same in a refresh, whose values then show in them.
  ///
  /// Shapes   matrix: rows x free variables; right_hand_sides: [rows][right_hand_sides], one after the other
  const CsrMatrix<T>& matrix() const;
  Vector<T> right_hand_side(int k = 0) const;
  Kokkos::View<T**, Kokkos::LayoutLeft, HostSpace> right_hand_sides() const;
  /// @}

  /// The matrix in a layout, in the memory of the host or of the device ("auto" chooses).
  template <class Space = HostSpace>
  Matrix<T, Space> layout(const FormatSpec& format) const;
  /// Its new values after a refresh.
  /// Errors   InvalidArgument (the layout is of another pattern).
  template <class Space>
  void refresh(Matrix<T, Space>& layout) const;

  index_t free_variables() const;
  /// The unknown of a variable: its column, or -1 of a locked one.
  index_t column_of(index_t variable) const;
  /// @{
  /// From values of all variables those of the free ones, and back, where locked ones get their values.
  ///
  /// Shapes   all: [variables], free: [free_variables]
  void gather(std::span<const T> all, std::span<T> free) const;
  void scatter(std::span<const T> free, std::span<T> all, int k = 0) const;
  /// @}

 private:
  void assemble_ranges(
      offset_t count,
      const std::function<void(SystemChunk<T>&, offset_t begin, offset_t end)>& fill);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cnc
