#pragma once

#include <cnc/system_builder.hpp>

#include <assemble/entry_stream.hpp>
#include <assemble/locks.hpp>

#include <cstdint>
#include <string>

namespace cnc {

namespace detail {
/// What the chunks of a builder have in common.
template <class T>
struct ChunkRules {
  index_t variables;
  SystemOptions options;
  Locks<T> locks;
  StreamMemory memory{segment_bytes<T>};

  /// Rows that have a number.
  index_t rows() const {
    return options.rows == RowKind::variables ? variables : options.equations;
  }
};
}  // namespace detail

template <class T>
struct SystemChunk<T>::State {
  State(detail::ChunkRules<T>& rules_, int number_)
      : rules(rules_), number(number_), stream(rules_.memory) {
    stream.cursor.rows_named = static_cast<std::uint32_t>(rules.rows());
    stream.cursor.variables = static_cast<std::uint32_t>(rules.variables);
  }

  detail::ChunkRules<T>& rules;
  int number;  ///< of the chunk
  detail::EntryStream<T> stream;

  bool open = false;  ///< an assembly is under way
  bool in_row = false;

  index_t appended = 0;         ///< rows in this assembly
  index_t appended_before = 0;  ///< in the one that may be repeated
  offset_t row_begin = 0;       ///< its first entry
  T row_scale = 1;
  std::uint64_t given = 0;  ///< a bit per right-hand side of the row
  std::vector<T> given_values;

  void begin(bool again);
  void close();
  /// The assembly is there, and may be repeated.
  void keep() {
    stream.end();
    appended_before = appended;
  }
  bool repeats() const { return stream.repeats() && appended == appended_before; }

  /// The row that has begun: as in the stream, -1 - i for the i-th that is appended.
  index_t row() const { return stream.cursor.row; }
  void enter_row(index_t encoded);
  void leave_row();
  T row_factor() const;

  /// @{
  /// What is wrong with a call, once it is known that something is.
  [[noreturn]] void fail(const char* call, const std::string& reason) const;
  void require_outside_row(const char* call) const;
  void require_in_row(const char* call) const;
  void require_row(const char* call, index_t row) const;
  void require_variable(const char* call, index_t variable) const;
  void require_right_hand_side(const char* call, int k) const;
  /// @}
};

}  // namespace cnc
