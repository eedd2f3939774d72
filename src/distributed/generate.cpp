#include "assemble/problem_rows.hpp"
#include "distributed/agreement.hpp"
#include "distributed/channel.hpp"
#include "distributed/cut.hpp"
#include "distributed/own_memory.hpp"
#include "parallel.hpp"

#include <cnc/convert.hpp>

#include <algorithm>
#include <type_traits>

// A built-in problem of which each rank makes the rows that it gets.

namespace cnc {
namespace detail {
namespace {

/// Entries before any row of a problem: every rank has counted those of a part of the rows, in chunks, and told the others.
class EntriesBefore {
 public:
  /// Collective.
  EntriesBefore(Channel& channel, const ProblemRows& problem) : problem_(problem) {
    constexpr index_t most_chunks = 1 << 16;
    chunk_ = ceil_div(problem.rows, most_chunks);
    const index_t share = ceil_div(ceil_div(problem.rows, chunk_), channel.size());
    std::vector<offset_t> counts(static_cast<std::size_t>(share));
    channel.on_each([&] {
      const offset_t first = offset_t(share) * channel.rank();
      parallel_for(share, [&](index_t k) {
        const auto row = [&](offset_t chunk) {
          return static_cast<index_t>(std::min<offset_t>(chunk * chunk_, problem_.rows));
        };
        counts[static_cast<std::size_t>(k)] = problem_.entries(row(first + k), row(first + k + 1));
      });
    });
    const offset_t* const all = channel.gather_all(counts.data(), share);
    for (std::size_t c = 0; c < std::size_t(share) * std::size_t(channel.size()); ++c)
      before_.push_back(before_.back() + all[c]);
  }

  offset_t operator()(index_t row) const {
    const index_t chunk = row / chunk_;
    return before_[static_cast<std::size_t>(chunk)] + problem_.entries(chunk * chunk_, row);
  }

 private:
  const ProblemRows& problem_;
  index_t chunk_ = 1;                   ///< rows
  std::vector<offset_t> before_ = {0};  ///< each chunk
};

}  // namespace
}  // namespace detail

template <class T>
PartitionedMatrix<T> PartitionedMatrix<T>::generated(const Communicator& ranks,
                                                     const std::string& problem, int block_size) {
  detail::Channel& channel = *ranks.channel();
  PartitionedMatrix result;
  channel.together([&] {
    detail::Agreement same("PartitionedMatrix");
    same.add("the problem", problem);
    same.add("block_size", block_size);
    same.require_of_all(channel);
    require(block_size >= 1, "PartitionedMatrix: block_size must be at least 1");
    const detail::ProblemRows rows = detail::problem_rows(problem);
    const detail::EntriesBefore entries_before(channel, rows);
    CsrMatrix<T> own;
    index_t first = 0, end = 0;
    channel.on_each([&] {
      const auto firsts =
          detail::even_segments(rows.rows, block_size, channel.size(), entries_before);
      const auto here = static_cast<std::size_t>(channel.rank());
      first = firsts[here];
      end = firsts[here + 1];
      detail::require_memory_for_own(channel, problem, entries_before(end) - entries_before(first));
    });
    channel.on_each([&] {  // once no rank looks for memory any more
      const CsrMatrix<double> made = rows.make(first, end);
      if constexpr (std::is_same_v<T, double>)
        own = made;
      else
        own = convert_values<T>(made);
    });
    result = of_segment(ranks, first, own);
  });
  return result;
}

template PartitionedMatrix<float> PartitionedMatrix<float>::generated(const Communicator&,
                                                                      const std::string&, int);
template PartitionedMatrix<double> PartitionedMatrix<double>::generated(const Communicator&,
                                                                        const std::string&, int);

}  // namespace cnc
