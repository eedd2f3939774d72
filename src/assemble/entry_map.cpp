#include <assemble/entry_map.hpp>
#include <assemble/share_out.hpp>
#include <assemble/sort_bucket.hpp>

#include <limits>

namespace cnc::detail {
namespace {

/// Entries that a bucket has on the average: their sort fits into a cache of the second level.
constexpr offset_t bucket_entries = offset_t(1) << 13;
constexpr std::uint32_t no_column = 0xffffffff;  ///< no index is as great
/// Buckets at most: as many places are written to side by side.
constexpr offset_t most_buckets = offset_t(1) << 12;

/// Sorts in two steps, both of which keep the order of calls: into buckets of neighbouring rows, whose entries are then
/// sorted where they fit a cache. Entries of right-hand sides have buckets of their own, after those of the matrix.
template <class Position>
class EntrySort {
 public:
  EntrySort(const std::vector<EntrySpan>& spans, const Placement& placement)
      : spans_(spans), placement_(placement), threads_(set_up_threads()) {
    offset_t entries = 0;
    for (const EntrySpan& span : spans) entries += span.count;
    threads_ = threads_for(std::max<offset_t>(entries, placement.rows));
    const offset_t wanted = std::clamp<offset_t>(
        std::max<offset_t>(entries, placement.rows) / bucket_entries, 1, most_buckets);
    while ((static_cast<offset_t>(placement.rows) >> shift_) >= wanted && shift_ < 31) ++shift_;
    buckets_ = static_cast<int>(((static_cast<offset_t>(placement.rows) - 1) >> shift_) + 1);
    if (placement.rows == 0) buckets_ = 0;
  }

  SortedEntries run() {
    count();
    require_memory("SystemBuilder: finish",
                   static_cast<double>(kept_) * (sizeof(Item<Position>) + sizeof(Position)) +
                       double(placement_.rows) * 2 * sizeof(index_t),
                   MemorySpace::host);
    distribute();
    map_.sources = bare_array<Position>(static_cast<std::size_t>(kept_));
    lengths_ =
        uninitialized<index_t>("cnc::row_offsets", static_cast<std::size_t>(placement_.rows) + 1);
    rhs_lengths_ =
        uninitialized<index_t>("cnc::rhs_lengths", static_cast<std::size_t>(placement_.rows));
    found_.assign(static_cast<std::size_t>(2 * buckets_), 0);
    share_out<BucketSort<Position>>(2 * buckets_, threads_,
                                    [&](int b, auto& sort) { sort_bucket(b, sort); });
    return collect();
  }

 private:
  int bucket_of(index_t row, index_t column) const {
    return (row >> shift_) + (column < 0 ? buckets_ : 0);
  }
  index_t first_row(int bucket) const {
    const offset_t row = static_cast<offset_t>(bucket % buckets_) << shift_;
    return static_cast<index_t>(std::min<offset_t>(row, placement_.rows));
  }
  index_t last_row(int bucket) const {
    const offset_t row = static_cast<offset_t>(bucket % buckets_ + 1) << shift_;
    return static_cast<index_t>(std::min<offset_t>(row, placement_.rows));
  }

  /// Spans of one share of the stream.
  std::size_t span_begin(int part) const { return range_begin(spans_.size(), part, parts_); }
  offset_t* places_of(int part) {
    return places_.data() + static_cast<std::size_t>(part) * static_cast<std::size_t>(2 * buckets_);
  }

  /// visit(row, column, position) for the entries of a part that stay.
  template <class Visit>
  void for_each_entry(int part, const Visit& visit) const {
    const index_t* const unknown = placement_.unknown;
    for (std::size_t s = span_begin(part); s < span_begin(part + 1); ++s) {
      const EntrySpan span = spans_[s];
      const auto row_of = [&](index_t row) { return row < 0 ? span.appended + (-1 - row) : row; };
      if (unknown == nullptr) {
        for (offset_t i = 0; i < span.count; ++i)
          visit(row_of(span.rows[i]), span.columns[i], span.position + i);
        continue;
      }
      for (offset_t i = 0; i < span.count; ++i) {
        const index_t given = span.rows[i], column = span.columns[i];
        const index_t row = placement_.rows_are_variables ? unknown[given] : row_of(given);
        if (row >= 0) visit(row, column < 0 ? column : unknown[column], span.position + i);
      }
    }
  }

  /// Where each part of the stream writes in each bucket.
  void count() {
    parts_ = static_cast<int>(std::min<std::size_t>(
        spans_.size(), static_cast<std::size_t>(threads_ == 1 ? 1 : 4 * threads_)));
    const auto buckets = static_cast<std::size_t>(2 * buckets_);
    places_.assign(static_cast<std::size_t>(parts_) * buckets, 0);
    share_out<NoScratch>(parts_, threads_, [&](int part, NoScratch&) {
      offset_t* const counts = places_of(part);
      for_each_entry(
          part, [&](index_t row, index_t column, offset_t) { ++counts[bucket_of(row, column)]; });
    });
    starts_.assign(buckets + 1, 0);
    for (std::size_t b = 0; b < buckets; ++b) {
      starts_[b] = kept_;
      for (int part = 0; part < parts_; ++part) {
        offset_t& place = places_of(part)[b];
        const offset_t length = place;
        place = kept_;
        kept_ += length;
      }
    }
    starts_[buckets] = kept_;
  }

  void distribute() {
    items_ = bare_array<Item<Position>>(static_cast<std::size_t>(kept_));
    share_out<NoScratch>(parts_, threads_, [&](int part, NoScratch&) {
      offset_t* const places = places_of(part);
      for_each_entry(part, [&](index_t row, index_t column, offset_t position) {
        items_[static_cast<std::size_t>(places[bucket_of(row, column)]++)] = {
            static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(std::max(column, 0)),
            static_cast<Position>(position)};
      });
    });
  }
  /// Leaves sources in their places, lengths of rows, and columns in the items that are done with.
  void sort_bucket(int bucket, BucketSort<Position>& sort) {
    const auto b = static_cast<std::size_t>(bucket);
    Item<Position>* const items = items_.get() + starts_[b];
    const index_t first = first_row(bucket);
    const auto rows = static_cast<std::size_t>(last_row(bucket) - first);
    sort(items, static_cast<std::size_t>(starts_[b + 1] - starts_[b]),
         static_cast<std::uint32_t>(first), rows);

    Position* const sources = map_.sources.get() + starts_[b];
    index_t* const lengths =
        (bucket < buckets_ ? lengths_.data() + 1 : rhs_lengths_.data()) + first;
    const Item<Position>* const sorted = sort.sorted();
    std::size_t found = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      const std::size_t found_before = found;
      std::uint32_t last = no_column;
      for (std::size_t k = sort.starts()[r]; k < sort.starts()[r + 1]; ++k) {
        const bool begins = sorted[k].column != last;
        last = sorted[k].column;
        sources[k] = sorted[k].position | (begins ? SumMap<Position>::first : Position(0));
        found += begins;
        items[found - 1].column = last;
      }
      lengths[r] = static_cast<index_t>(found - found_before);
    }
    found_[b] = static_cast<offset_t>(found);
  }

  using Bucket = typename SumMap<Position>::Bucket;

  /// Where the values of buckets [begin, end) begin.
  std::vector<Bucket> value_starts(int begin, int end) const {
    std::vector<Bucket> result;
    result.reserve(static_cast<std::size_t>(end - begin) + 1);
    offset_t values = 0;
    for (int b = begin; b <= end; ++b) {
      result.push_back({starts_[static_cast<std::size_t>(b)], values});
      if (b < end) values += found_[static_cast<std::size_t>(b)];
    }
    return result;
  }

  SortedEntries collect() {
    map_.matrix.buckets = value_starts(0, buckets_);
    map_.right_hand_side.buckets = value_starts(buckets_, 2 * buckets_);
    map_.matrix.sources = map_.right_hand_side.sources = map_.sources.get();
    const offset_t entries = map_.matrix.buckets.back().value;
    require(entries <= std::numeric_limits<index_t>::max(),
            "SystemBuilder: finish: more than 2^31 - 1 entries");
    SortedEntries result;
    result.columns = uninitialized<index_t>("cnc::columns", static_cast<std::size_t>(entries));
    use_huge_pages(result.columns.data(), result.columns.extent(0) * sizeof(index_t));
    result.rhs_rows = uninitialized<index_t>(
        "cnc::rhs_rows", static_cast<std::size_t>(map_.right_hand_side.buckets.back().value));
    lengths_(0) = 0;
    share_out<NoScratch>(buckets_, threads_, [&](int b, NoScratch&) { collect_bucket(b, result); });
    result.row_offsets = lengths_;
    result.map = std::move(map_);
    return result;
  }
  void collect_bucket(int bucket, SortedEntries& result) {
    const auto b = static_cast<std::size_t>(bucket);
    const Item<Position>* const items = items_.get() + starts_[b];
    auto offset = static_cast<index_t>(map_.matrix.buckets[b].value);
    index_t* const columns = result.columns.data() + offset;
    for (offset_t i = 0; i < found_[b]; ++i) columns[i] = static_cast<index_t>(items[i].column);
    index_t* rhs_row = result.rhs_rows.data() + map_.right_hand_side.buckets[b].value;
    for (index_t row = first_row(bucket); row < last_row(bucket); ++row) {
      const auto r = static_cast<std::size_t>(row);
      offset += lengths_(r + 1);
      lengths_(r + 1) = offset;
      if (rhs_lengths_(r) != 0) *rhs_row++ = row;
    }
  }

  const std::vector<EntrySpan>& spans_;
  Placement placement_;
  int threads_;
  int shift_ = 0;                 ///< 2^shift rows are a bucket
  int buckets_ = 0;               ///< of the matrix, and of right-hand sides
  int parts_ = 0;                 ///< shares of the stream
  std::vector<offset_t> places_;  ///< [parts][2 buckets]: where the next item goes
  std::vector<offset_t> starts_;  ///< [2 buckets + 1]: of items
  std::vector<offset_t> found_;   ///< [2 buckets]: columns
  offset_t kept_ = 0;             ///< entries that are not in rows of locked variables
  BareArray<Item<Position>> items_;
  Vector<index_t> lengths_;      ///< length of row i at i + 1, then row offsets
  Vector<index_t> rhs_lengths_;  ///< 1 where a row has entries of right-hand sides
  EntryMap<Position> map_;
};

}  // namespace

SortedEntries sort_entries(const std::vector<EntrySpan>& spans, const Placement& placement,
                           offset_t positions) {
  if (positions <= static_cast<offset_t>(SumMap<std::uint32_t>::first))
    return EntrySort<std::uint32_t>(spans, placement).run();
  return EntrySort<std::uint64_t>(spans, placement).run();
}

}  // namespace cnc::detail
