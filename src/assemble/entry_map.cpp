#include <assemble/entry_map.hpp>
#include <assemble/share_out.hpp>
#include <assemble/sort_bucket.hpp>

#include <limits>

namespace cnc::detail {
namespace {

/// Entries that a bucket has on the average: their sort fits into a cache of the second level.
constexpr offset_t bucket_entries = offset_t(1) << 14;
/// Buckets at most: as many places are written to side by side.
constexpr offset_t most_buckets = offset_t(1) << 12;

/// Rows of the matrix in buckets of neighbours. Entries of right-hand sides have buckets of their own, after all those of
/// the matrix, where they are in column 0.
struct Buckets {
  Buckets(index_t rows_, offset_t entries) : rows(rows_) {
    const offset_t wanted =
        std::clamp<offset_t>(std::max<offset_t>(entries, rows) / bucket_entries, 1, most_buckets);
    while (static_cast<offset_t>(rows) >> shift >= wanted && shift < 31) ++shift;
    of_matrix = rows == 0 ? 0 : ((rows - 1) >> shift) + 1;
  }

  index_t rows;
  int shift = 0;  ///< 2^shift rows are a bucket
  int of_matrix = 0;

  std::size_t all() const { return 2 * static_cast<std::size_t>(of_matrix); }
  std::size_t of(index_t row, index_t column) const {
    return static_cast<std::size_t>((row >> shift) + (column < 0 ? of_matrix : 0));
  }
  index_t first_row(std::size_t bucket) const {
    return static_cast<index_t>(bucket % static_cast<std::size_t>(of_matrix)) << shift;
  }
  std::size_t rows_in(std::size_t bucket) const {
    const offset_t first = first_row(bucket);
    return static_cast<std::size_t>(std::min<offset_t>(first + (offset_t(1) << shift), rows) -
                                    first);
  }
};

/// What a part of the stream has for a bucket.
struct Share {
  offset_t place = 0;  ///< how many, then where the next item goes
  index_t least = std::numeric_limits<index_t>::max();
  index_t greatest = 0;  ///< columns
};

/// The columns of a bucket, and with them the keys of its items.
struct Columns {
  index_t least = 0;
  int bits = 0;  ///< of a column in a key; the row is above

  std::uint64_t key(index_t row, index_t column) const {
    return static_cast<std::uint64_t>(row) << bits | static_cast<std::uint64_t>(column - least);
  }
  std::uint64_t row(std::uint64_t key) const { return key >> bits; }
  index_t column(std::uint64_t key) const {
    return least + static_cast<index_t>(key & ((std::uint64_t(1) << bits) - 1));
  }
};

/// The entries as rows and columns of the matrix, counted.
class CountedEntries {
 public:
  CountedEntries(const std::vector<EntrySpan>& spans, const Placement& placement, offset_t entries)
      : buckets(placement.rows, entries),
        threads(threads_for(std::max<offset_t>(entries, placement.rows))),
        parts(static_cast<int>(std::min<std::size_t>(
            spans.size(), static_cast<std::size_t>(threads == 1 ? 1 : 2 * threads)))),
        spans_(spans),
        placement_(placement) {
    count();
    place();
  }

  Buckets buckets;
  int threads;
  int parts;                     ///< of the stream
  std::vector<offset_t> starts;  ///< [buckets + 1]: of items
  std::vector<Columns> columns;  ///< [buckets]
  int longest_key = 0;           ///< bits

  Share* shares_of(int part) {
    return shares_.data() + static_cast<std::size_t>(part) * buckets.all();
  }
  int key_bits(std::size_t bucket) const {
    return columns[bucket].bits + static_cast<int>(std::bit_width(buckets.rows_in(bucket) - 1));
  }

  /// visit(row, column, position) for the entries of a part that stay; columns of right-hand sides are negative.
  template <class Visit>
  void for_each(int part, const Visit& visit) const {
    const index_t* const unknown = placement_.unknown;
    const std::size_t end = range_begin(spans_.size(), part + 1, parts);
    for (std::size_t s = range_begin(spans_.size(), part, parts); s < end; ++s) {
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

 private:
  static constexpr std::size_t none = ~std::size_t(0);

  // Neighbours in the stream are often of one bucket: what belongs to it is kept in registers until another comes.
  void count() {
    shares_.resize(static_cast<std::size_t>(parts) * buckets.all());
    share_out<NoScratch>(parts, threads, [&](int part, NoScratch&) {
      Share* const shares = shares_of(part);
      std::size_t current = none;
      Share share;
      for_each(part, [&](index_t row, index_t column, offset_t) {
        const std::size_t bucket = buckets.of(row, column);
        if (bucket != current) {
          if (current != none) shares[current] = share;
          current = bucket;
          share = shares[current];
        }
        const index_t at = std::max(column, 0);
        ++share.place;
        share.least = std::min(share.least, at);
        share.greatest = std::max(share.greatest, at);
      });
      if (current != none) shares[current] = share;
    });
  }

  /// From counts to places.
  void place() {
    starts.resize(buckets.all() + 1);
    columns.resize(buckets.all());
    offset_t next = 0;
    for (std::size_t b = 0; b < buckets.all(); ++b) {
      starts[b] = next;
      Share all;
      for (int part = 0; part < parts; ++part) {
        Share& share = shares_of(part)[b];
        all.least = std::min(all.least, share.least);
        all.greatest = std::max(all.greatest, share.greatest);
        const offset_t length = share.place;
        share.place = next;
        next += length;
      }
      if (next == starts[b]) continue;
      columns[b] = {
          all.least,
          static_cast<int>(std::bit_width(static_cast<std::uint32_t>(all.greatest - all.least)))};
      longest_key = std::max(longest_key, key_bits(b));
    }
    starts.back() = next;
  }

  const std::vector<EntrySpan>& spans_;
  Placement placement_;
  std::vector<Share> shares_;  ///< [parts][buckets]
};

/// Sorts in two steps, both of which keep the order of calls: into buckets of neighbouring rows, whose entries are then
/// sorted where they fit a cache.
template <class Item, class Position>
class EntrySort {
 public:
  explicit EntrySort(CountedEntries& counted)
      : counted_(counted), buckets_(counted.buckets), kept_(counted.starts.back()) {}

  SortedEntries run() {
    const auto n = static_cast<std::size_t>(kept_), rows = static_cast<std::size_t>(buckets_.rows);
    require_memory(
        "SystemBuilder: finish",
        double(n) * (sizeof(Item) + sizeof(Position)) + double(rows) * 2 * sizeof(index_t),
        MemorySpace::host);
    items_ = bare_array<Item>(n);
    distribute();
    map_.sources = bare_array<Position>(n);
    lengths_ = uninitialized<index_t>("cnc::row_offsets", rows + 1);
    rhs_lengths_ = uninitialized<index_t>("cnc::rhs_lengths", rows);
    found_.assign(buckets_.all(), 0);
    share_out<Scratch>(static_cast<int>(buckets_.all()), counted_.threads,
                       [&](int bucket, Scratch& scratch) {
                         sort_bucket(static_cast<std::size_t>(bucket), scratch);
                       });
    return collect();
  }

 private:
  struct Scratch {
    BucketSort<Item> sort;
    std::vector<std::size_t> row_ends;
  };

  void distribute() {
    share_out<NoScratch>(counted_.parts, counted_.threads, [&](int part, NoScratch&) {
      Share* const shares = counted_.shares_of(part);
      std::size_t current = ~std::size_t(0);
      Item* to = nullptr;
      index_t first_row = 0;
      Columns columns;
      counted_.for_each(part, [&](index_t row, index_t column, offset_t position) {
        const std::size_t bucket = buckets_.of(row, column);
        if (bucket != current) {
          if (to != nullptr) shares[current].place = to - items_.get();
          current = bucket;
          to = items_.get() + shares[bucket].place;
          first_row = buckets_.first_row(bucket);
          columns = counted_.columns[bucket];
        }
        *to++ = Item::of(columns.key(row - first_row, std::max(column, 0)),
                         static_cast<std::uint64_t>(position));
      });
    });
  }

  /// Leaves sources in their places, lengths of rows, and columns as keys of the items that are done with.
  void sort_bucket(std::size_t bucket, Scratch& scratch) {
    Item* const items = items_.get() + counted_.starts[bucket];
    const auto n = static_cast<std::size_t>(counted_.starts[bucket + 1] - counted_.starts[bucket]);
    const std::size_t rows = buckets_.rows_in(bucket);
    const Item* const sorted = scratch.sort(items, n, counted_.key_bits(bucket));

    scratch.row_ends.assign(rows, 0);
    std::size_t* const row_ends = scratch.row_ends.data();
    Position* const sources = map_.sources.get() + counted_.starts[bucket];
    const Columns columns = counted_.columns[bucket];
    std::uint64_t last = ~std::uint64_t(0);
    std::size_t found = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const Item item = sorted[k];
      const std::uint64_t key = item.key();
      const bool first = key != last;
      last = key;
      found += first;
      sources[k] = static_cast<Position>(item.position()) |
                   static_cast<Position>(first ? SumMap<Position>::first : 0);
      row_ends[columns.row(key)] = found;
      items[found - 1] = Item::of(static_cast<std::uint64_t>(columns.column(key)), 0);
    }
    found_[bucket] = static_cast<offset_t>(found);

    const bool of_matrix = bucket < static_cast<std::size_t>(buckets_.of_matrix);
    index_t* const lengths =
        (of_matrix ? lengths_.data() + 1 : rhs_lengths_.data()) + buckets_.first_row(bucket);
    std::size_t begin = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      const std::size_t end = std::max(begin, row_ends[r]);
      lengths[r] = static_cast<index_t>(end - begin);
      begin = end;
    }
  }

  using Bucket = typename SumMap<Position>::Bucket;

  /// Where the values of buckets [begin, end) begin.
  SumMap<Position> map_of(std::size_t begin, std::size_t end) const {
    SumMap<Position> map;
    map.sources = map_.sources.get();
    map.buckets.reserve(end - begin + 1);
    offset_t values = 0;
    for (std::size_t b = begin; b <= end; ++b) {
      map.buckets.push_back({counted_.starts[b], values});
      if (b < end) values += found_[b];
    }
    return map;
  }

  SortedEntries collect() {
    const auto of_matrix = static_cast<std::size_t>(buckets_.of_matrix);
    map_.matrix = map_of(0, of_matrix);
    map_.right_hand_side = map_of(of_matrix, buckets_.all());
    const offset_t entries = map_.matrix.buckets.back().value;
    require(entries <= std::numeric_limits<index_t>::max(),
            "SystemBuilder: finish: more than 2^31 - 1 entries");
    SortedEntries result;
    result.columns = uninitialized<index_t>("cnc::columns", static_cast<std::size_t>(entries));
    use_huge_pages(result.columns.data(), result.columns.extent(0) * sizeof(index_t));
    result.rhs_rows = uninitialized<index_t>(
        "cnc::rhs_rows", static_cast<std::size_t>(map_.right_hand_side.buckets.back().value));
    lengths_(0) = 0;
    share_out<NoScratch>(buckets_.of_matrix, counted_.threads, [&](int bucket, NoScratch&) {
      collect_bucket(static_cast<std::size_t>(bucket), result);
    });
    result.row_offsets = lengths_;
    result.map = std::move(map_);
    return result;
  }
  void collect_bucket(std::size_t bucket, SortedEntries& result) {
    const Item* const items = items_.get() + counted_.starts[bucket];
    auto offset = static_cast<index_t>(map_.matrix.buckets[bucket].value);
    index_t* const columns = result.columns.data() + offset;
    for (offset_t i = 0; i < found_[bucket]; ++i) columns[i] = static_cast<index_t>(items[i].key());
    index_t* rhs_row = result.rhs_rows.data() + map_.right_hand_side.buckets[bucket].value;
    const auto first = static_cast<std::size_t>(buckets_.first_row(bucket));
    for (std::size_t row = first; row < first + buckets_.rows_in(bucket); ++row) {
      offset += lengths_(row + 1);
      lengths_(row + 1) = offset;
      if (rhs_lengths_(row) != 0) *rhs_row++ = static_cast<index_t>(row);
    }
  }

  CountedEntries& counted_;
  const Buckets buckets_;
  const offset_t kept_;  ///< entries that are not in rows of locked variables
  BareArray<Item> items_;
  std::vector<offset_t> found_;  ///< [buckets]: values
  Vector<index_t> lengths_;      ///< length of row i at i + 1, then row offsets
  Vector<index_t> rhs_lengths_;  ///< 1 where a row has entries of right-hand sides
  EntryMap<Position> map_;
};

}  // namespace

SortedEntries sort_entries(const std::vector<EntrySpan>& spans, const Placement& placement,
                           offset_t positions) {
  offset_t entries = 0;
  for (const EntrySpan& span : spans) entries += span.count;
  CountedEntries counted(spans, placement, entries);
  if (positions > static_cast<offset_t>(SumMap<std::uint32_t>::first))
    return EntrySort<WideItem, std::uint64_t>(counted).run();
  if (counted.longest_key > PackedItem::key_bits)
    return EntrySort<WideItem, std::uint32_t>(counted).run();
  return EntrySort<PackedItem, std::uint32_t>(counted).run();
}

}  // namespace cnc::detail
