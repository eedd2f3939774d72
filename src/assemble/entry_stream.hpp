#pragma once

#include <cnc/system_builder.hpp>

#include <assemble/stream_memory.hpp>

#include <vector>

namespace cnc::detail {

/// Entries of a segment: streams grow by segments, and what is in one stays where it is.
inline constexpr int segment_bits = 13;
inline constexpr offset_t segment_size = offset_t(1) << segment_bits;
template <class T>
inline constexpr std::size_t segment_bytes = static_cast<std::size_t>(segment_size) *
                                             (sizeof(T) + 2 * sizeof(index_t));

/// Which calls a chunk takes at present.
enum class Takes { nothing, entries, coefficients };

/// The entries of one chunk in the order of its calls. While they come at the places of the last assembly, only
/// their values are written; from the first that does not on, their places are too.
template <class T>
class EntryStream {
 public:
  explicit EntryStream(StreamMemory& memory) : memory_(memory) {}
  EntryStream(const EntryStream&) = delete;
  EntryStream& operator=(const EntryStream&) = delete;
  ~EntryStream() {
    try {
      for (const Segment& segment : segments_) memory_.give_back(segment.values);
    } catch (const std::bad_alloc&) {  // the memory keeps it, for nobody
    }
  }

  EntryCursor<T> cursor;  ///< for calls that repeat those of the last assembly

  /// Begins again. `again`: the places in the stream are those of an assembly that may be repeated.
  void begin(bool again) {
    recorded_ = again ? size_ : 0;
    matches_ = again;
    enter(0);
    take(Takes::entries);
  }
  /// The assembly is there: what is in the stream is what may be repeated.
  void end() { size_ = position(); }

  void take(Takes what) {
    takes_ = what;
    cursor.add_end = what == Takes::entries ? match_end_ : 0;
    cursor.row_end = what == Takes::coefficients ? match_end_ : 0;
    const offset_t new_end = matches_ ? 0 : end_;
    cursor.new_add_end = what == Takes::entries ? new_end : 0;
    cursor.new_row_end = what == Takes::coefficients ? new_end : 0;
  }

  offset_t position() const {
    return (static_cast<offset_t>(current_) << segment_bits) + cursor.at;
  }
  /// Whether all entries so far came at the places of the last assembly.
  bool matches() const { return matches_; }
  /// Whether they are all of them.
  bool repeats() const { return matches_ && position() == recorded_; }

  /// Makes room for n entries. Throws before anything is changed.
  void reserve(offset_t n) {
    if (n > end_ - cursor.at) [[unlikely]]
      reserve_segments(n);
  }
  /// Room has been made.
  void push(index_t row, index_t column, T value) {
    if (cursor.at == end_) [[unlikely]]
      enter(current_ + 1);
    const offset_t at = cursor.at++;
    if (at >= match_end_ || cursor.rows[at] != row || cursor.columns[at] != column) {
      if (matches_) stop_matching();
      cursor.rows[at] = row;
      cursor.columns[at] = column;
    }
    cursor.values[at] = value;
  }

  /// A dense block, row by row: entry (i, j) is in row row_of(i) and column column_of(j). False, with nothing done, where
  /// it does not lie in one segment, or is not at the places of the last assembly. `valid`: whether its places have been
  /// checked; they are taken unchecked where they are those of the last assembly.
  template <class RowOf, class ColumnOf>
  bool put_block(index_t height, index_t width, const RowOf& row_of, const ColumnOf& column_of,
                 const T* values, bool valid) {
    const offset_t n = static_cast<offset_t>(height) * width;
    if (cursor.at + n > (matches_ ? match_end_ : end_)) return false;
    index_t* rows = cursor.rows + cursor.at;
    index_t* columns = cursor.columns + cursor.at;
    if (matches_) {
      // Numbers below zero are in use for rows and columns of other kinds.
      index_t differ = 0, below_zero = 0;
      for (index_t i = 0; i < height; ++i, rows += width, columns += width) {
        const index_t row = row_of(i);
        for (index_t j = 0; j < width; ++j) {
          const index_t column = column_of(j);
          differ |= (rows[j] ^ row) | (columns[j] ^ column);
          below_zero |= row | column;
        }
      }
      if (differ != 0 || below_zero < 0) return false;
    } else {
      if (!valid) return false;
      for (index_t i = 0; i < height; ++i, rows += width, columns += width) {
        const index_t row = row_of(i);
        for (index_t j = 0; j < width; ++j) {
          rows[j] = row;
          columns[j] = column_of(j);
        }
      }
    }
    std::copy_n(values, n, cursor.values + cursor.at);
    cursor.at += n;
    return true;
  }

  /// visit(rows, columns, values, n) for the pieces of [begin, end), which are those of segments.
  template <class Visit>
  void for_each_piece(offset_t begin, offset_t end, const Visit& visit) const {
    while (begin < end) {
      const Segment& segment = segments_[static_cast<std::size_t>(begin >> segment_bits)];
      const offset_t at = begin & (segment_size - 1);
      const offset_t n = std::min(segment_size - at, end - begin);
      visit(segment.rows() + at, segment.columns() + at, segment.values + at, n);
      begin += n;
    }
  }

 private:
  struct Segment {
    T* values;  ///< of a block of memory; the rows follow, then the columns
    index_t* rows() const { return reinterpret_cast<index_t*>(values + segment_size); }
    index_t* columns() const { return rows() + segment_size; }
  };

  void stop_matching() {
    matches_ = false;
    match_end_ = 0;
    take(takes_);
  }
  void enter(std::size_t segment) {
    current_ = segment;
    cursor.at = end_ = match_end_ = 0;
    if (segment < segments_.size()) {
      end_ = segment_size;
      cursor.values = segments_[segment].values;
      cursor.rows = segments_[segment].rows();
      cursor.columns = segments_[segment].columns();
      if (matches_) match_end_ = std::clamp<offset_t>(recorded_ - position(), 0, segment_size);
    }
    take(takes_);
  }
  void reserve_segments(offset_t n) {
    const auto needed = static_cast<std::size_t>((position() + n - 1) >> segment_bits) + 1;
    segments_.reserve(std::max(needed, 2 * segments_.size() * (segments_.size() < needed)));
    while (segments_.size() < needed) segments_.push_back({static_cast<T*>(memory_.take())});
    if (end_ == 0) enter(0);
  }

  StreamMemory& memory_;
  std::vector<Segment> segments_;
  std::size_t current_ = 0;  ///< the segment that is being filled
  offset_t end_ = 0;         ///< of it
  offset_t match_end_ = 0;   ///< where places to compare with end in it
  bool matches_ = false;
  Takes takes_ = Takes::nothing;
  offset_t recorded_ = 0;  ///< entries of the assembly to compare with
  offset_t size_ = 0;      ///< of the one that ended last
};

}  // namespace cnc::detail
