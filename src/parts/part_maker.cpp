#include "parts/part_maker.hpp"

#include "parallel.hpp"
#include "parts/partition.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <span>
#include <utility>
#include <vector>

namespace cnc::detail {
namespace {

constexpr index_t most_local_numbers = 0x10000;

/// A set of rows that is emptied in the order of their numbers.
class RowSet {
 public:
  explicit RowSet(index_t rows) : words_(static_cast<std::size_t>(ceil_div(rows, 64)), 0) {}
  void add(index_t row) {
    const auto word = static_cast<std::size_t>(row) / 64;
    words_[word] |= std::uint64_t(1) << (row % 64);
    first_ = std::min(first_, word);
    end_ = std::max(end_, word + 1);
  }
  void move_to(std::vector<index_t>& rows) {
    for (std::size_t k = first_; k < end_; ++k)
      for (std::uint64_t& word = words_[k]; word != 0; word &= word - 1)
        rows.push_back(static_cast<index_t>(64 * k) + std::countr_zero(word));
    first_ = words_.size();
    end_ = 0;
  }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t first_ = words_.size(), end_ = 0;  ///< of words that are not zero
};

/// A with the entries beyond, in columns that follow its own.
RowPattern widened(const RowPattern& A, const PatternBeyond& beyond) {
  RowPattern wide;
  wide.rows = A.rows;
  wide.diagonal.allocate(A.diagonal.size());
  std::copy(A.diagonal.begin(), A.diagonal.end(), wide.diagonal.begin());
  wide.absent = A.absent;
  wide.offsets.allocate(A.offsets.size());
  for (auto* entries : {&wide.columns, &wide.places})
    entries->allocate(A.columns.size() + beyond.column.size());
  std::size_t next = 0, k = 0;
  for (index_t i = 0; i < A.rows; ++i) {
    wide.offsets[std::size_t(i)] = static_cast<index_t>(next);
    for (auto j = std::size_t(A.offsets[std::size_t(i)]);
         j < std::size_t(A.offsets[std::size_t(i) + 1]); ++j) {
      wide.columns[next] = A.columns[j];
      wide.places[next++] = A.places[j];
    }
    if (k == beyond.rows.size() || beyond.rows[k] != i) continue;
    for (index_t j = beyond.offsets[k]; j < beyond.offsets[k + 1]; ++j) {
      wide.columns[next] = A.rows + beyond.column[std::size_t(j)];
      wide.places[next++] = place_beyond(j);
    }
    ++k;
  }
  wide.offsets[std::size_t(A.rows)] = static_cast<index_t>(next);
  return wide;
}

class PartMaker {
 public:
  /// A: with the entries beyond, if there are any; part: of each of its rows.
  PartMaker(const RowPattern& A, const PartShape& shape, const HostArray<index_t>& part,
            const PatternBeyond* beyond)
      : A_(A),
        shape_(shape),
        beyond_(beyond),
        columns_(A.rows + (beyond != nullptr ? beyond->columns : 0)),
        part_of_(part),
        own_(static_cast<std::size_t>(A.rows)),
        word_(static_cast<std::size_t>(A.rows)),
        parts_(static_cast<std::size_t>(shape.parts)),
        halo_(parts_.size()),
        first_word_(parts_.size(), 0) {
    deal_out_rows();
    if (beyond_ != nullptr) list_sent();
    held_ = shape.held(made_.rows_per_thread);
    for_parts([&] { return RowSet(columns_); },
              [&](index_t p, RowSet& found) { look_at(p, found); });
    for_parts([] { return 0; }, [&](index_t p, int) { count_words(p); });
    place();
    for_parts([] { return 0; }, [&](index_t p, int) { number_words(p); });
    if (!made_.numbered) return;
    const auto no_numbers = [&] { return HostNumbers(static_cast<std::size_t>(columns_)); };
    for_parts(no_numbers, [&](index_t p, HostNumbers& local) { lay_out(p, local.all.data()); });
  }
  HostParts take() { return std::move(made_); }

 private:
  static constexpr index_t no_word = -1, some_word = 0;

  /// Local numbers of the part that a thread lays out, by row.
  struct HostNumbers {
    HostArray<index_t> all;
    explicit HostNumbers(std::size_t rows) { all.allocate(rows); }
  };

  Part& part(index_t p) { return parts_[std::size_t(p)]; }
  std::span<index_t> own(index_t p) {
    return std::span(own_.data(), own_.size())
        .subspan(first_own_[std::size_t(p)], std::size_t(part(p).own));
  }

  /// Calls f(p, scratch), with one make_scratch() for all parts of a thread.
  template <class MakeScratch, class F>
  void for_parts(const MakeScratch& make_scratch, const F& f) {
    parallel_ranges(shape_.parts, threads_for(A_.rows), [&](index_t begin, index_t end, int) {
      auto scratch = make_scratch();
      for (index_t p = begin; p < end; ++p) f(p, scratch);
    });
  }

  index_t length(index_t row) const {
    return A_.offsets[std::size_t(row) + 1] - A_.offsets[std::size_t(row)] +
           (shape_.with_diagonal ? 1 : 0);
  }
  /// f(column, place), beside the diagonal.
  template <class F>
  void for_neighbours(index_t row, const F& f) const {
    for (index_t k = A_.offsets[std::size_t(row)]; k < A_.offsets[std::size_t(row) + 1]; ++k)
      f(A_.columns[std::size_t(k)], A_.places[std::size_t(k)]);
  }

  /// Own rows of each part in the order of the matrix, in which neighbours are near. Each thread has a range of the rows; those of
  /// a part come from one range after the other.
  void deal_out_rows() {
    const std::size_t parts = parts_.size();
    const int threads = threads_for(A_.rows);
    std::vector<std::size_t> next(static_cast<std::size_t>(threads) * parts, 0);
    const auto of_thread = [&](int thread) { return next.data() + std::size_t(thread) * parts; };
    parallel_ranges(A_.rows, threads, [&](index_t begin, index_t end, int thread) {
      std::size_t* const count = of_thread(thread);
      for (index_t i = begin; i < end; ++i) {
        ++count[part_of_[std::size_t(i)]];
        word_[std::size_t(i)] = no_word;
      }
    });
    std::size_t first = 0;
    for (std::size_t p = 0; p < parts; ++p) {
      first_own_.push_back(first);
      for (int thread = 0; thread < threads; ++thread)
        first += std::exchange(of_thread(thread)[p], first);
      parts_[p].own = static_cast<index_t>(first - first_own_[p]);
      made_.rows_per_thread =
          std::max(made_.rows_per_thread, int(ceil_div(parts_[p].own, shape_.threads)));
    }
    parallel_ranges(A_.rows, threads, [&](index_t begin, index_t end, int thread) {
      std::size_t* const at = of_thread(thread);
      for (index_t i = begin; i < end; ++i) own_[at[part_of_[std::size_t(i)]]++] = i;
    });
  }

  /// What is sent of each row.
  void list_sent() {
    const HostArray<index_t>& rows = beyond_->sent_rows;
    first_sent_.assign(std::size_t(A_.rows) + 1, 0);
    for (const index_t row : rows)
      if (row >= 0) ++first_sent_[std::size_t(row) + 1];
    for (std::size_t i = 0; i < std::size_t(A_.rows); ++i) first_sent_[i + 1] += first_sent_[i];
    sent_.resize(std::size_t(first_sent_.back()));
    std::vector<index_t> next(first_sent_.begin(), first_sent_.end() - 1);
    for (std::size_t k = 0; k < rows.size(); ++k)
      if (rows[k] >= 0) sent_[std::size_t(next[std::size_t(rows[k])]++)] = static_cast<index_t>(k);
  }

  /// Its halo and groups; rows by length where that saves much padding.
  void look_at(index_t p, RowSet& found) {
    const std::span<index_t> rows = own(p);
    offset_t entries = 0;
    for (const index_t row : rows) {
      entries += length(row);
      for_neighbours(row, [&](index_t j, index_t) {
        if (j >= A_.rows || part_of_[std::size_t(j)] != p) found.add(j);
      });
    }
    found.move_to(halo_[std::size_t(p)]);
    for (const index_t row : halo_[std::size_t(p)])
      if (row < A_.rows)
        std::atomic_ref(word_[std::size_t(row)]).store(some_word, std::memory_order_relaxed);
    if (4 * groups_of(rows) > 5 * (entries / (2 * part_lanes))) {
      std::vector<index_t> sorted(rows.begin(), rows.end());
      std::stable_sort(sorted.begin(), sorted.end(),
                       [&](index_t i, index_t j) { return length(i) > length(j); });
      if (4 * groups_of(rows) > 5 * groups_of(sorted))
        std::copy(sorted.begin(), sorted.end(), rows.begin());
    }
    Part& made = part(p);
    made.halo = static_cast<index_t>(halo_[std::size_t(p)].size());
    if (beyond_ != nullptr)
      for (const index_t row : rows)
        made.sent += first_sent_[std::size_t(row) + 1] - first_sent_[std::size_t(row)];
    for_slices(rows, [&](std::size_t, index_t groups) {
      ++made.slices;
      made.groups += groups;
      made.groups_beyond += std::max(0, groups - held_);
    });
  }
  /// f(first of its rows, groups)
  template <class F>
  void for_slices(std::span<const index_t> rows, const F& f) const {
    for (std::size_t first = 0; first < rows.size(); first += part_lanes) {
      index_t longest = 0;
      for (std::size_t k = first; k < std::min(rows.size(), first + part_lanes); ++k)
        longest = std::max(longest, length(rows[k]));
      f(first, ceil_div(longest, 2));
    }
  }
  offset_t groups_of(std::span<const index_t> rows) const {
    offset_t all = 0;
    for_slices(rows, [&](std::size_t, index_t groups) { all += groups; });
    return all;
  }

  /// Own rows that are in a halo.
  void count_words(index_t p) {
    const std::span<index_t> rows = own(p);
    first_word_[std::size_t(p)] = static_cast<index_t>(std::count_if(
        rows.begin(), rows.end(), [&](index_t row) { return word_[std::size_t(row)] != no_word; }));
  }

  /// Where the share of each part begins, and the words of its rows, which are together.
  void place() {
    for (index_t& words : first_word_) made_.words += std::exchange(words, made_.words);
    const auto all = static_cast<offset_t>(A_.absent.size());
    Part end;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      Part& made = parts_[k];
      made.first_row = end.first_row;
      made.first_halo = end.first_halo;
      made.first_slice = end.first_slice;
      made.first_group = end.first_group;
      made.first_absent = end.first_absent;
      made.first_sent = end.first_sent;
      end.first_sent += made.sent;
      end.first_row += made.own + made.halo;
      end.first_halo += made.halo;
      end.first_slice += made.slices + 1;
      end.first_group += made.groups;
      end.first_absent = static_cast<index_t>(all * (offset_t(k) + 1) / shape_.parts);
      made.absent = end.first_absent - made.first_absent;
      made_.numbered &= made.own + made.halo <= most_local_numbers;
    }
    made_.part.resize(parts_.size());
    for (auto* by_row : {&made_.rows, &made_.diagonal, &made_.exports})
      by_row->resize(static_cast<std::size_t>(end.first_row));
    made_.sent.resize(static_cast<std::size_t>(end.first_sent));
    made_.sent_end.resize(beyond_ != nullptr ? static_cast<std::size_t>(end.first_row) : 0);
    made_.imports.resize(static_cast<std::size_t>(end.first_halo));
    made_.slices.resize(static_cast<std::size_t>(end.first_slice));
    const auto pairs = static_cast<std::size_t>(end.first_group) * part_lanes;
    made_.columns.resize(made_.numbered ? pairs : 0);
    made_.places.resize(made_.numbered ? 2 * pairs : 0);
    made_.absent.resize(A_.absent.size());
    made_.allocate();
    std::copy(parts_.begin(), parts_.end(), made_.part.begin());
    std::copy(A_.absent.begin(), A_.absent.end(), made_.absent.begin());
  }

  /// Words of own rows, and what there is to say of each row.
  void number_words(index_t p) {
    const Part& made = part(p);
    index_t word = first_word_[std::size_t(p)], sent = 0;
    auto at = static_cast<std::size_t>(made.first_row);
    for (const index_t row : own(p)) {
      const auto i = static_cast<std::size_t>(row);
      if (word_[i] != no_word) word_[i] = word++;
      made_.rows[at] = row;
      made_.diagonal[at] = A_.diagonal[i];
      if (beyond_ != nullptr) {
        for (index_t k = first_sent_[i]; k < first_sent_[i + 1]; ++k)
          made_.sent[std::size_t(made.first_sent + sent++)] = sent_[std::size_t(k)];
        made_.sent_end[at] = sent;
      }
      made_.exports[at++] = word_[i];
    }
    for (const index_t row : halo_[std::size_t(p)]) {
      made_.rows[at] = row;
      made_.diagonal[at] = made_.exports[at] = -1;
      ++at;
    }
  }

  /// The entries of its rows by their local numbers, of which there is room for those of all rows.
  void lay_out(index_t p, index_t* local) {
    const Part& made = part(p);
    const std::span<index_t> rows = own(p);
    const index_t* const by_number = made_.rows.data() + made.first_row;
    for (index_t k = 0; k < made.own + made.halo; ++k) local[by_number[k]] = k;
    for (index_t k = 0; k < made.halo; ++k) {
      const index_t row = by_number[made.own + k];
      made_.imports[std::size_t(made.first_halo + k)] =
          row < A_.rows ? word_[std::size_t(row)] : made_.words + (row - A_.rows);
    }
    Slice* slice = made_.slices.data() + made.first_slice;
    *slice = {};
    for_slices(rows, [&](std::size_t first, index_t groups) {
      const auto begin = static_cast<std::size_t>(made.first_group + slice->first) * part_lanes;
      for (std::size_t lane = 0; lane < part_lanes; ++lane) {
        const std::size_t k = first + lane;
        std::uint32_t* columns = made_.columns.data() + begin + lane;
        index_t* places = made_.places.data() + 2 * (begin + lane);
        index_t entries = 0;
        const auto add = [&](index_t column, index_t place) {
          const auto half = static_cast<std::uint32_t>(column);
          if (entries % 2 == 0) {
            columns[0] = half;
            places[0] = place;
          } else {
            columns[0] |= half << 16;
            places[1] = place;
            columns += part_lanes;
            places += 2 * part_lanes;
          }
          ++entries;
        };
        if (k < rows.size()) {
          const index_t row = rows[k];
          if (shape_.with_diagonal) add(static_cast<index_t>(k), A_.diagonal[std::size_t(row)]);
          for_neighbours(row, [&](index_t j, index_t place) { add(local[j], place); });
        }
        // Beyond its end a row gathers what is there for sure, its own entry, and multiplies it by zero.
        const index_t sure = k < rows.size() ? static_cast<index_t>(k) : 0;
        while (entries < 2 * groups) add(sure, -1);
      }
      slice[1] = {slice->first + groups, slice->first_beyond + std::max(0, groups - held_)};
      ++slice;
    });
  }

  const RowPattern& A_;
  PartShape shape_;
  const PatternBeyond* beyond_;
  index_t columns_, held_ = 0;          ///< with those beyond
  const HostArray<index_t>& part_of_;   ///< each row
  HostArray<index_t> own_;              ///< rows of part 0, 1, ...
  std::vector<std::size_t> first_own_;  ///< of each part in there
  /// That a row goes to, some_word before they are numbered; no_word: nobody gathers it.
  HostArray<index_t> word_;
  std::vector<Part> parts_;
  std::vector<std::vector<index_t>> halo_;
  std::vector<index_t> first_word_;  ///< of each part; before they are numbered how many
  std::vector<index_t> sent_,
      first_sent_;  ///< of each row what is sent, and where its share begins
  HostParts made_;
};

}  // namespace

HostParts make_parts(const RowPattern& A, const PartShape& shape, const PatternBeyond* beyond) {
  const HostArray<index_t> part = partition(A, shape.parts);
  if (beyond == nullptr) return PartMaker(A, shape, part, nullptr).take();
  return PartMaker(widened(A, *beyond), shape, part, beyond).take();
}

}  // namespace cnc::detail
