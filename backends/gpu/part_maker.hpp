#pragma once

#include <gpu/partition.hpp>
#include <gpu/parts.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Cuts a matrix into parts.
class PartMaker {
 public:
  PartMaker(const RowPattern& A, const PartShape& shape)
      : A_(A),
        shape_(shape),
        part_(Bisection(A, shape.parts).part()),
        own_number_(part_.size()),
        halo_number_(part_.size()),
        marked_(part_.size(), -1) {
    made_.part.resize(static_cast<std::size_t>(shape.parts));
    order_rows();
    for (index_t p = 0; p < shape.parts; ++p) number(p);
    link();
    held_ = shape.held(made_.rows_per_thread);
    for (index_t p = 0; p < shape.parts && made_.numbered; ++p) lay_out(p);
    share_out_absent();
  }
  HostParts take() { return std::move(made_); }

 private:
  index_t length(index_t row) const {
    return A_.offsets[std::size_t(row) + 1] - A_.offsets[std::size_t(row)] +
           (shape_.with_diagonal ? 1 : 0);
  }
  Part& part(index_t p) { return made_.part[std::size_t(p)]; }

  /// Own rows of each part in the order of the matrix, in which neighbours are near; by length where that saves much padding.
  void order_rows() {
    std::vector<std::vector<index_t>> own(made_.part.size());
    for (index_t i = 0; i < A_.rows; ++i) own[std::size_t(part_[std::size_t(i)])].push_back(i);
    for (auto& rows : own) {
      offset_t entries = 0;
      for (const index_t row : rows) entries += length(row);
      if (4 * groups_of(rows) <= 5 * (entries / (2 * part_lanes))) continue;  // hardly any
      std::vector<index_t> sorted = rows;
      std::stable_sort(sorted.begin(), sorted.end(),
                       [&](index_t i, index_t j) { return length(i) > length(j); });
      if (4 * groups_of(rows) > 5 * groups_of(sorted)) rows = std::move(sorted);
    }
    own_ = std::move(own);
  }
  offset_t groups_of(const std::vector<index_t>& rows) const {
    offset_t groups = 0;
    for (std::size_t k = 0; k < rows.size(); k += part_lanes) groups += slice_groups(rows, k);
    return groups;
  }
  index_t slice_groups(const std::vector<index_t>& rows, std::size_t first) const {
    index_t longest = 0;
    for (std::size_t k = first; k < std::min(rows.size(), first + part_lanes); ++k)
      longest = std::max(longest, length(rows[k]));
    return ceil_div(longest, 2);
  }

  /// Local numbers of own rows and of the halo.
  void number(index_t p) {
    Part& made = part(p);
    const std::vector<index_t>& own = own_[std::size_t(p)];
    made.own = static_cast<index_t>(own.size());
    made_.rows_per_thread =
        std::max(made_.rows_per_thread, int(ceil_div(made.own, shape_.threads)));
    made.first_row = static_cast<index_t>(made_.rows.size());
    made.first_halo = static_cast<index_t>(made_.imports.size());
    std::vector<index_t> halo;
    for (std::size_t k = 0; k < own.size(); ++k) {
      own_number_[std::size_t(own[k])] = static_cast<index_t>(k);
      for_entries(own[k], [&](index_t j, index_t) {
        if (part_[std::size_t(j)] == p || marked_[std::size_t(j)] == p) return;
        marked_[std::size_t(j)] = p;
        halo.push_back(j);
      });
    }
    std::sort(halo.begin(), halo.end());
    made.halo = static_cast<index_t>(halo.size());
    made_.numbered &= made.own + made.halo <= 0x10000;
    made_.rows.insert(made_.rows.end(), own.begin(), own.end());
    made_.rows.insert(made_.rows.end(), halo.begin(), halo.end());
    made_.imports.insert(made_.imports.end(), halo.begin(), halo.end());
  }

  template <class F>
  void for_entries(index_t row, const F& f) const {
    if (shape_.with_diagonal) f(row, A_.diagonal[std::size_t(row)]);
    for (index_t k = A_.offsets[std::size_t(row)]; k < A_.offsets[std::size_t(row) + 1]; ++k)
      f(A_.columns[std::size_t(k)], A_.places[std::size_t(k)]);
  }

  /// A word for each row that is in a halo, those of a part together and in its order.
  void link() {
    std::vector<index_t> word(part_.size(), -1);
    for (const index_t row : made_.imports) word[std::size_t(row)] = 0;
    made_.diagonal.assign(made_.rows.size(), -1);
    made_.exports.assign(made_.rows.size(), -1);
    for (const Part& p : made_.part)
      for (index_t k = p.first_row; k < p.first_row + p.own; ++k) {
        const auto row = static_cast<std::size_t>(made_.rows[std::size_t(k)]);
        made_.diagonal[std::size_t(k)] = A_.diagonal[row];
        if (word[row] < 0) continue;
        made_.exports[std::size_t(k)] = word[row] = made_.words++;
      }
    for (index_t& row : made_.imports) row = word[std::size_t(row)];
  }

  void lay_out(index_t p) {
    Part& made = part(p);
    const std::vector<index_t>& own = own_[std::size_t(p)];
    for (index_t k = 0; k < made.halo; ++k) {
      const index_t number = made.own + k, at = made.first_row + number;
      halo_number_[std::size_t(made_.rows[std::size_t(at)])] = number;
    }
    const auto local = [&](index_t j) {
      return (part_[std::size_t(j)] == p ? own_number_ : halo_number_)[std::size_t(j)];
    };
    made.first_slice = static_cast<index_t>(made_.slices.size());
    made.first_group = static_cast<index_t>(made_.columns.size() / part_lanes);
    made_.slices.push_back({});
    for (std::size_t first = 0; first < own.size(); first += part_lanes) {
      const index_t groups = slice_groups(own, first);
      const std::size_t begin = made_.columns.size();
      made_.columns.resize(begin + std::size_t(groups) * part_lanes, 0);
      made_.places.resize(2 * made_.columns.size(), -1);
      for (std::size_t k = first; k < std::min(own.size(), first + part_lanes); ++k) {
        index_t entry = 0;
        for_entries(own[k], [&](index_t j, index_t place) {
          const std::size_t pair = begin + std::size_t(entry / 2) * part_lanes + (k - first);
          made_.columns[pair] |= std::uint32_t(local(j)) << (entry % 2 * 16);
          made_.places[2 * pair + std::size_t(entry % 2)] = place;
          ++entry;
        });
        // Beyond its end a row gathers what is there for sure, its own entry, and multiplies it by zero.
        for (; entry < 2 * groups; ++entry)
          made_.columns[begin + std::size_t(entry / 2) * part_lanes + (k - first)] |=
              std::uint32_t(k) << (entry % 2 * 16);
      }
      made.groups += groups;
      made.groups_beyond += std::max(0, groups - held_);
      made_.slices.push_back({made.groups, made.groups_beyond});
      ++made.slices;
    }
  }

  void share_out_absent() {
    made_.absent = A_.absent;
    const auto parts = static_cast<index_t>(made_.part.size());
    const auto all = static_cast<offset_t>(made_.absent.size());
    for (index_t p = 0; p < parts; ++p) {
      part(p).first_absent = static_cast<index_t>(all * p / parts);
      part(p).absent = static_cast<index_t>(all * (p + 1) / parts) - part(p).first_absent;
    }
  }

  const RowPattern& A_;
  PartShape shape_;
  index_t held_ = 0;
  std::vector<index_t> part_;
  std::vector<index_t> own_number_;   ///< of a row in its part
  std::vector<index_t> halo_number_;  ///< in the part that is being laid out
  std::vector<index_t> marked_;       ///< the last part whose halo it was seen in
  std::vector<std::vector<index_t>> own_;
  HostParts made_;
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
