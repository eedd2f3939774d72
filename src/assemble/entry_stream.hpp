#pragma once

#include <cnc/vector.hpp>

#include <atomic>
#include <memory>
#include <new>
#include <vector>

namespace cnc::detail {

/// Entries of a segment: streams grow by segments, and what is in one stays where it is.
inline constexpr int segment_bits = 16;
inline constexpr offset_t segment_size = offset_t(1) << segment_bits;

/// The memory that all streams of a builder take, asked for in strides: a question costs microseconds.
class StreamMemory {
 public:
  void take(std::size_t bytes) {
    const std::size_t before = taken_.fetch_add(bytes, std::memory_order_relaxed);
    if (before / stride == (before + bytes) / stride) return;
    try {
      require_memory("SystemBuilder", static_cast<double>(stride), MemorySpace::host);
    } catch (...) {
      taken_.fetch_sub(bytes, std::memory_order_relaxed);
      throw;
    }
  }

 private:
  static constexpr std::size_t stride = std::size_t(1) << 26;
  std::atomic<std::size_t> taken_{0};
};

/// An array that nobody has written to. Unlike a view it may be allocated by several threads at a time.
template <class X>
std::unique_ptr<X[]> bare_array(std::size_t n) {
  std::unique_ptr<X[]> array(new (std::nothrow) X[n]);
  if (!array)
    throw_out_of_memory("SystemBuilder", static_cast<double>(n * sizeof(X)),
                        free_bytes(MemorySpace::host));
  return array;
}

template <class T>
struct StreamSegment {
  std::unique_ptr<index_t[]> rows = bare_array<index_t>(segment_size);
  std::unique_ptr<index_t[]> columns = bare_array<index_t>(segment_size);
  std::unique_ptr<T[]> values = bare_array<T>(segment_size);
};

/// The entries of one chunk in the order of its calls. While they come at the places of the last assembly, only
/// their values are written; from the first that does not on, their places are too.
template <class T>
class EntryStream {
 public:
  /// Begins again. `again`: the places in the stream are those of an assembly that may be repeated.
  void begin(bool again) {
    recorded_ = again ? size_ : 0;
    matches_ = again;
    enter(0);
  }
  /// The assembly is there: what is in the stream is what may be repeated.
  void end() { size_ = position(); }

  offset_t position() const { return (static_cast<offset_t>(current_) << segment_bits) + at_; }
  /// Whether all entries so far came at the places of the last assembly.
  bool matches() const { return matches_; }
  /// Whether they are all of them.
  bool repeats() const { return matches_ && position() == recorded_; }

  /// Makes room for n entries. Throws before anything is changed.
  void reserve(offset_t n, StreamMemory& memory) {
    if (n > end_ - at_) [[unlikely]]
      reserve_segments(n, memory);
  }
  /// Room has been made.
  void push(index_t row, index_t column, T value) {
    if (at_ == end_) [[unlikely]]
      enter(current_ + 1);
    if (at_ >= match_end_ || rows_[at_] != row || columns_[at_] != column) {
      forget_matching();
      rows_[at_] = row;
      columns_[at_] = column;
    }
    values_[at_++] = value;
  }

  /// visit(rows, columns, values, n) for the pieces of [begin, end).
  template <class Visit>
  void for_each_piece(offset_t begin, offset_t end, const Visit& visit) const {
    while (begin < end) {
      const auto& segment = segments_[static_cast<std::size_t>(begin >> segment_bits)];
      const offset_t at = begin & (segment_size - 1);
      const offset_t n = std::min(segment_size - at, end - begin);
      visit(segment.rows.get() + at, segment.columns.get() + at, segment.values.get() + at, n);
      begin += n;
    }
  }

 private:
  void forget_matching() {
    matches_ = false;
    match_end_ = 0;
  }
  void enter(std::size_t segment) {
    current_ = segment;
    at_ = end_ = match_end_ = 0;
    if (segment >= segments_.size()) return;  // an empty stream
    end_ = segment_size;
    rows_ = segments_[segment].rows.get();
    columns_ = segments_[segment].columns.get();
    values_ = segments_[segment].values.get();
    if (matches_) match_end_ = std::clamp<offset_t>(recorded_ - position(), 0, segment_size);
  }
  void reserve_segments(offset_t n, StreamMemory& memory) {
    const auto needed = static_cast<std::size_t>((position() + n - 1) >> segment_bits) + 1;
    while (segments_.size() < needed) {
      memory.take(segment_size * (sizeof(T) + 2 * sizeof(index_t)));
      segments_.emplace_back();
    }
    if (end_ == 0) enter(0);
  }

  std::vector<StreamSegment<T>> segments_;
  index_t* rows_ = nullptr;  ///< of the segment that is being filled
  index_t* columns_ = nullptr;
  T* values_ = nullptr;
  offset_t at_ = 0, end_ = 0;  ///< in it
  offset_t match_end_ = 0;     ///< where places to compare with end in it
  std::size_t current_ = 0;    ///< its number
  bool matches_ = false;
  offset_t recorded_ = 0;  ///< entries of the assembly to compare with
  offset_t size_ = 0;      ///< of the one that ended last
};

}  // namespace cnc::detail
