#pragma once

#include "distributed/exchange.hpp"
#include "solve/other_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace cnc::detail {

/// The entries of a rank's rows in columns of other ranks: rows with some, in CSR, columns by their place in the halo.
template <class T>
struct HaloRows {
  std::vector<index_t> rows;     ///< own numbers
  std::vector<index_t> offsets;  ///< [rows + 1]
  std::vector<index_t> columns;
  std::vector<T> values;
};

/// The other ranks of a matrix, over MPI.
template <class T>
class Halo final : public OtherRanks {
 public:
  Halo(std::shared_ptr<Channel> channel, offset_t first_row, offset_t all_rows, HaloRows<T> rows,
       HaloPlan plan, const PartitionFacts& facts)
      : channel_(std::move(channel)),
        first_row_(first_row),
        all_rows_(all_rows),
        rows_(std::move(rows)),
        plan_(std::move(plan)),
        facts_(facts),
        terms_(rows_.rows.size()),
        in_double_(channel_, plan_) {
    if constexpr (std::is_same_v<T, float>) in_float_.emplace(channel_, plan_);
  }

  Channel& channel() const { return *channel_; }
  const PartitionFacts& facts() const { return facts_; }
  bool has_pattern_of(const Halo& other) const {
    return rows_.rows == other.rows_.rows && rows_.offsets == other.rows_.offsets &&
           rows_.columns == other.rows_.columns && plan_.sent_rows == other.plan_.sent_rows;
  }
  /// Of the context that works on the rows.
  void use_threads(int threads) { threads_ = threads; }

  void add_up(double* values, int count) override {
    const double* const all = channel_->gather_all(values, count);
    for (int k = 0; k < count; ++k) {
      double sum = all[k];
      for (int r = 1; r < channel_->size(); ++r) sum += all[r * count + k];
      values[k] = sum;
    }
  }
  void take_largest(double* values, int count) override {
    const double* const all = channel_->gather_all(values, count);
    for (int k = 0; k < count; ++k) {
      double largest = all[k];
      for (int r = 1; r < channel_->size(); ++r)
        if (!std::isnan(largest) && !(all[r * count + k] <= largest)) largest = all[r * count + k];
      values[k] = largest;
    }
  }
  double of_first(double value) override { return channel_->gather_all(&value, 1)[0]; }
  std::string first_text(const std::string& mine) override {
    const Text text(mine);
    const Text* const all = channel_->gather_all(&text, 1);
    const Text* const first = std::find_if(all, all + channel_->size(),
                                           [](const Text& t) { return t.characters[0] != 0; });
    return first == all + channel_->size() ? "" : first->characters;
  }

  void begin(const float* x, bool transposed) override { begin_in(x, transposed); }
  void begin(const double* x, bool transposed) override { begin_in(x, transposed); }
  double end(float* y, bool transposed, const float* with) override {
    return end_in(y, transposed, with);
  }
  double end(double* y, bool transposed, const double* with) override {
    return end_in(y, transposed, with);
  }

  offset_t first_row() const override { return first_row_; }
  offset_t all_rows() const override { return all_rows_; }
  /// Sums of these rows, read again and written, with their entries; and what is packed, sent, received and read.
  Cost halo_cost(int vector_bytes) const override {
    const double entries = double(rows_.values.size());
    const double vectors = 2.0 * double(rows_.rows.size()) + 2.0 * double(plan_.sent_rows.size()) +
                           2.0 * double(plan_.halo);
    return {entries * (sizeof(T) + sizeof(index_t)) +
                2.0 * double(rows_.rows.size()) * sizeof(index_t) + vectors * vector_bytes,
            2 * entries};
  }

 private:
  template <class W>
  Exchange<W>& exchange() {
    if constexpr (std::is_same_v<W, double>)
      return in_double_;
    else
      return *in_float_;
  }

  template <class W>
  void begin_in(const W* x, bool transposed) {
    Exchange<W>& with_others = exchange<W>();
    if (!transposed) return with_others.begin(x, threads_);
    with_others.begin_back();
    std::vector<W>& to = with_others.halo();
    std::fill(to.begin(), to.end(), W(0));
    for (std::size_t i = 0; i < rows_.rows.size(); ++i)
      for (index_t k = rows_.offsets[i]; k < rows_.offsets[i + 1]; ++k)
        to[static_cast<std::size_t>(rows_.columns[static_cast<std::size_t>(k)])] +=
            static_cast<W>(rows_.values[static_cast<std::size_t>(k)]) * x[rows_.rows[i]];
    with_others.send_back();
  }
  template <class W>
  double end_in(W* y, bool transposed, const W* with) {
    Exchange<W>& with_others = exchange<W>();
    if (transposed) {
      with_others.end_back(y);
      return 0;
    }
    with_others.end();
    double* const terms = terms_.data();
    const W* const x = with_others.halo().data();
    const index_t* const columns = rows_.columns.data();
    const T* const values = rows_.values.data();
    const index_t* const offsets = rows_.offsets.data();
    const index_t* const rows = rows_.rows.data();
    const auto n = static_cast<offset_t>(rows_.rows.size());
    parallel_ranges(n, threads_for(n, threads_), [=](offset_t begin, offset_t end, int) {
      for (offset_t i = begin; i < end; ++i) {
        W sum = 0;
        for (index_t k = offsets[i]; k < offsets[i + 1]; ++k)
          sum += static_cast<W>(values[k]) * x[columns[k]];
        y[rows[i]] += sum;
        if (with != nullptr) terms[i] = double(sum) * double(with[rows[i]]);
      }
    });
    // In their order, whatever the number of threads.
    return with != nullptr ? std::accumulate(terms_.begin(), terms_.end(), 0.0) : 0.0;
  }

  std::shared_ptr<Channel> channel_;
  offset_t first_row_, all_rows_;
  HaloRows<T> rows_;
  HaloPlan plan_;
  PartitionFacts facts_;
  std::vector<double> terms_;  ///< of a dot, by the rows of the halo
  int threads_ = 1;
  Exchange<double> in_double_;
  std::optional<Exchange<float>> in_float_;
};

}  // namespace cnc::detail
