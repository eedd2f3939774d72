#pragma once

#include <cnc/formats.hpp>
#include <cnc/multivector.hpp>

#include <cstdint>
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
  /// Each row made by begin_row is divided by the 2-norm of its coefficients of free variables, before its scale: of those
  /// given, several of one variable counting each, and of variables that are free when the row ends. A row without
  /// any, or with zeros alone, is not divided.
  bool normalize_rows = false;
};

namespace detail {
/// Where the next entry of a chunk goes, and at which place it was in the last assembly. Ends are 0 where what they are for
/// does not belong: in a row, or outside of one; in an assembly that repeats another, or one that does not.
template <class T>
struct EntryCursor {
  index_t* rows = nullptr;
  index_t* columns = nullptr;
  T* values = nullptr;
  offset_t at = 0;
  offset_t add_end = 0;                         ///< where places to compare entries with end
  offset_t row_end = 0;                         ///< the same for coefficients
  offset_t new_add_end = 0;                     ///< where room for entries ends
  offset_t new_row_end = 0;                     ///< the same for coefficients
  std::uint32_t rows_named = 0, variables = 0;  ///< limits of what a call may name
  index_t row = 0;                              ///< that has begun

  /// Takes the value of an entry that comes at the same place as last time.
  bool repeats(offset_t end, index_t at_row, index_t at_column, T value) {
    if (at >= end || rows[at] != at_row || columns[at] != at_column) return false;
    values[at++] = value;
    return true;
  }
  /// Takes an entry whose place has been checked, where there is room.
  bool records(offset_t end, index_t at_row, index_t at_column, T value) {
    if (at >= end) return false;
    rows[at] = at_row;
    columns[at] = at_column;
    values[at++] = value;
    return true;
  }
  bool is_row(index_t i) const { return static_cast<std::uint32_t>(i) < rows_named; }
  bool is_variable(index_t i) const { return static_cast<std::uint32_t>(i) < variables; }
};
}  // namespace detail

/// Where one thread leaves its part of a system. Entries of a chunk come in the order of its calls, chunks in the order of their
/// numbers. Entries at the same place are summed in this order, and appended rows numbered in it, so that the system has the
/// same bits whichever thread fills which chunk. Entries that are zero, or cancel, stay stored; NaN and infinities pass through.
///
/// Threads  a chunk belongs to one thread at a time; different chunks are filled side by side.
/// Errors   InvalidArgument (an index out of range, a row within a row, what belongs in a row outside of one, or the other way
///          round, a call outside of an assembly), OutOfMemory; the chunk is then as before the call.
/// Cost     of a call that repeats one of the last assembly: two comparisons; of any other: 16 bytes per entry (float: 12).
template <class T>
class SystemChunk {
 public:
  /// a(row, column) += value. A locked column goes to the right-hand sides.
  void add(index_t row, index_t column, T value) {
    detail::EntryCursor<T>& c = *cursor_;
    if (!c.is_row(row) || !c.is_variable(column) ||
        (!c.repeats(c.add_end, row, column, value) &&
         !c.records(c.new_add_end, row, column, value)))
      add_other(row, column, value);
  }
  /// Adds a dense block, row by row, whose first entry is at (block_row, block_column) times block_size. All of it must be
  /// within the rows and variables; variables in it may be locked.
  ///
  /// Shapes   values: [block_size * block_size]
  void add_block(index_t block_row, index_t block_column, int block_size, const T* values);
  /// Adds a dense block of any rows and columns, row by row, as an element has it. The fastest call for all that is larger
  /// than an entry.
  ///
  /// Shapes   values: [rows][columns]; 32768 of each at most
  void add_block(std::span<const index_t> rows, std::span<const index_t> columns, const T* values);
  /// b(row, k) += value.
  void add_right_hand_side(index_t row, T value, int k = 0);

  /// @{
  /// An equation, from its begin to its end: sum of coefficients times variables = right-hand side, all of it times scale
  /// (and over its norm: SystemOptions::normalize_rows).
  /// Without a number the row is appended after all others (RowKind::equations only); with one it is added to that row.
  void begin_row();
  void begin_row(index_t row);
  void coefficient(index_t variable, T value) {  ///< several of one variable are summed
    detail::EntryCursor<T>& c = *cursor_;
    if (!c.is_variable(variable) || (!c.repeats(c.row_end, c.row, variable, value) &&
                                     !c.records(c.new_row_end, c.row, variable, value)))
      coefficient_other(variable, value);
  }
  void right_hand_side(T value, int k = 0);  ///< the last value given counts; 0 where none is
  void scale(T factor);                      ///< the last one given counts; 1 where none is
  void end_row();
  /// @}

  ~SystemChunk();
  SystemChunk(SystemChunk&&) noexcept;  ///< what was moved from is only destroyed

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
/// Locked variables are no unknowns: their columns, times their values, are taken from the right-hand sides, in the order of
/// calls like all that is summed. The matrix has a column for each free variable, in ascending order.
///
/// Threads  a builder belongs to one thread at a time, but for chunks that are being filled.
/// Cost     16 bytes per entry added (float: 12) and 4 for the map to the values stay with the builder, besides the system. A
///          first finish takes 12 more for its time, and reads and writes entries some ten times; a refresh reads indices and
///          values twice.
template <class T>
class SystemBuilder {
 public:
  /// Errors   InvalidArgument (variables or equations negative, right_hand_sides out of range, equations with rows of
  ///          variables, Kokkos is not initialised), OutOfMemory.
  explicit SystemBuilder(index_t variables, SystemOptions options = {});
  ~SystemBuilder();
  /// @{
  /// What was moved from is only destroyed or assigned to.
  SystemBuilder(SystemBuilder&&) noexcept;
  SystemBuilder& operator=(SystemBuilder&&) noexcept;
  /// @}

  const SystemOptions& options() const;  ///< as given
  index_t variables() const;             ///< free and locked

  /// @{
  /// Locks a variable at a value for all right-hand sides, or at one for each, or changes the value. Takes effect in the
  /// next finish; which variables are locked is part of the pattern, their values are not. Not while chunks are being filled.
  ///
  /// Shapes   values: [right_hand_sides]
  /// Errors   InvalidArgument (variable out of range, another number of values).
  void lock(index_t variable, T value);
  void lock(index_t variable, std::span<const T> values);
  void unlock(index_t variable);
  bool is_locked(index_t variable) const;
  /// @}

  /// Begins an assembly whose parts are left in this many chunks. Threads do not matter for their number, sums do: other
  /// chunks are another order. One that has begun already is dropped; the system stays that of the last finish.
  void begin(int chunks = 1);
  /// Chunk k of the assembly that has begun, until it ends.
  SystemChunk<T>& chunk(int k = 0);
  /// Ends it: builds the matrix and the right-hand sides, or refreshes them.
  /// Errors   InvalidArgument (a row that was not ended; more than 2^31 - 1 entries or rows), OutOfMemory. The assembly then
  ///          goes on, and the system is that of the last finish.
  void finish();

  /// All three: body(chunk, i) for i in [0, count), on the library's threads, in chunks whose number depends on count alone.
  /// What a body throws is rethrown, from the first chunk if several do; the assembly is then to begin again.
  template <class Body>
  void assemble(offset_t count, const Body& body) {
    assemble_ranges(count, [&body](SystemChunk<T>& chunk, offset_t begin, offset_t end) {
      for (offset_t i = begin; i < end; ++i) body(chunk, i);
    });
  }

  /// Whether the last finish found the calls of the one before, and refreshed values alone.
  bool was_refreshed() const;

  /// @{
  /// The system as the last finish left it. Views stay the same in a refresh, whose values then show in them; after other
  /// calls the system has views of its own, and older ones keep their values.
  ///
  /// Shapes   matrix: rows x free variables; right_hand_sides: [rows][right_hand_sides], one after the other
  /// Errors   InvalidArgument (nothing has been finished).
  const CsrMatrix<T>& matrix() const;
  Vector<T> right_hand_side(int k = 0) const;
  Kokkos::View<T**, Kokkos::LayoutLeft, HostSpace> right_hand_sides() const;
  /// @}

  /// The matrix in a layout, in the memory of the host or of the device ("auto" chooses). The layout csr shares the views of
  /// the matrix, on a device those of all layouts csr there, and has new values with them.
  /// Errors   InvalidArgument (nothing has been finished; format), OutOfMemory.
  template <class Space = HostSpace>
  Matrix<T, Space> layout(const FormatSpec& format) const;
  /// Its new values after a refresh. To a device go the values alone.
  /// Errors   InvalidArgument (the layout is of another pattern).
  template <class Space>
  void refresh(Matrix<T, Space>& layout) const;

  /// Variables that are not locked, in the system of the last finish; before the first, at present. The same holds below.
  index_t free_variables() const;
  /// The unknown of a variable: its column, or -1 of a locked one.
  /// Errors   InvalidArgument (out of range).
  index_t column_of(index_t variable) const;
  /// @{
  /// From values of all variables those of the free ones, and back, where locked ones get their values.
  ///
  /// Shapes   all: [variables], free: [free_variables]
  /// Errors   InvalidArgument (other lengths; k out of range).
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
