#pragma once

#include "mixed.hpp"
#include "precondition/amg/strength.hpp"

#include <cstdint>
#include <limits>

// Aggregates: each a node and its neighbours in the strong graph, the nodes being far from each other; what is left between them joins one.
//
// On a host nodes are taken in their order, which packs aggregates densely where the order follows a grid. On a device a
// maximal set of nodes is found of which no two are within distance 2: every node has a number, a hash of itself and of the round; in a
// round those whose number is the least within distance 2 come in, and all within distance 2 of one go out. Both depend on the graph
// alone: every run on any number of threads finds the same.
//
// Method   in order: Vanek, Mandel & Brezina 1996, section 5.1. Rounds: Bell, Dalton & Olson, Exposing fine-grained parallelism in algebraic
//          multigrid methods, 2012, section 3.2.1; Kelley & Rajamanickam, Parallel, portable algorithms for distance-2 maximal independent
//          set and graph coarsening, 2022, algorithms 1 and 3.

namespace cnc::detail {

namespace aggregation {

inline constexpr index_t not_yet = -1;  ///< a node without an aggregate
inline constexpr index_t alone = -2;    ///< one without a strong neighbour, which needs none

/// What became of a node in the rounds; closed: it has an aggregate and is no way between others.
enum class State : std::uint8_t { undecided, in, out, closed };

/// Beside the numbers of nodes: of one that is in; of one beside it, or with nobody left about; of one that is closed.
inline constexpr std::uint64_t in = 0, beside = std::numeric_limits<std::uint64_t>::max(),
                               no_way = beside - 1;

/// The number of a node in a round. It ends with the node, so that no two are equal.
KOKKOS_INLINE_FUNCTION std::uint64_t number_of(std::uint32_t round, index_t i) {
  const std::uint64_t word = mixed_word(round * 0x9e3779b9u ^ static_cast<std::uint32_t>(i));
  return ((word >> 1) + 1) << 31 | static_cast<std::uint64_t>(i);
}

struct BeginRounds {
  const index_t* aggregate;
  State* state;
  std::uint64_t* least;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    const bool is_free = aggregate[i] == not_yet;
    state[i] = is_free ? State::undecided : State::closed;
    least[i] = is_free ? in : no_way;
  }
};

// Both loops below look at all neighbours, so that their loads overlap.

/// least := the least number of a node and of its neighbours that are undecided
struct FindLeast {
  GraphOperand graph;
  std::uint32_t round;
  const State* state;
  std::uint64_t* least;
  KOKKOS_INLINE_FUNCTION std::uint64_t of(index_t j) const {
    const State there = state[j];
    return there == State::undecided ? number_of(round, j) : there == State::in ? in : beside;
  }
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    if (least[i] >= no_way) return;
    std::uint64_t found = of(static_cast<index_t>(i));
    const index_t end = graph.ends[i];
    for (index_t k = graph.offsets[i]; k < end; ++k) {
      const std::uint64_t other = of(graph.neighbours[k]);
      found = other < found ? other : found;
    }
    least[i] = found == in ? beside : found;
  }
};

/// Nodes with the least number within distance 2 come in, those with one that is in go out. Adds those that are neither.
struct Decide {
  GraphOperand graph;
  std::uint32_t round;
  State* state;
  const std::uint64_t* least;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, offset_t& undecided) const {
    if (state[i] != State::undecided) return;
    const std::uint64_t own = number_of(round, static_cast<index_t>(i));
    bool leads = least[i] == own, leaves = least[i] == beside;
    const index_t end = graph.ends[i];
    for (index_t k = graph.offsets[i]; k < end; ++k) {
      const std::uint64_t other = least[graph.neighbours[k]];
      leaves = leaves || other == beside;
      leads = leads && (other == own || other == no_way);
    }
    if (leaves)
      state[i] = State::out;
    else if (leads)
      state[i] = State::in;
    else
      ++undecided;
  }
};

/// The same without the sum.
template <class Body>
struct Uncounted {
  Body body;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    offset_t count = 0;
    body(i, count);
  }
};

struct MarkAlone {
  GraphOperand graph;
  index_t* aggregate;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    aggregate[i] = graph.degree(i) == 0 ? alone : not_yet;
  }
};

/// Whether node i begins an aggregate: it is in, and of its neighbours so many thirds have none.
struct Begins {
  GraphOperand graph;
  const index_t* aggregate;
  const State* state;
  index_t thirds;
  KOKKOS_INLINE_FUNCTION bool operator()(offset_t i) const {
    if (aggregate[i] != not_yet || state[i] != State::in) return false;
    if (thirds == 0) return true;
    offset_t free = 0;
    for (index_t k = graph.offsets[i]; k < graph.ends[i]; ++k)
      free += aggregate[graph.neighbours[k]] == not_yet;
    return 3 * free >= offset_t(thirds) * graph.degree(i);
  }
};

struct MarkRoots {
  Begins begins;
  index_t* id;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const { id[i] = begins(i) ? 1 : 0; }
};
/// id[i] := how many begin an aggregate before i, from `first` on, where i is marked
struct NumberRoots {
  index_t first;
  index_t* id;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i, offset_t& sum, bool last) const {
    const bool is_root = id[i] > 0;
    if (last) id[i] = is_root ? first + static_cast<index_t>(sum) : not_yet;
    sum += is_root;
  }
};

/// joined[i] := the aggregate that node i begins or is next to, else what it had
struct Join {
  GraphOperand graph;
  const index_t* aggregate;
  const index_t* id;
  index_t* joined;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    index_t found = aggregate[i];
    if (found == not_yet) {
      found = id[i];
      for (index_t k = graph.offsets[i]; k < graph.ends[i] && found == not_yet; ++k)
        found = id[graph.neighbours[k]];
    }
    joined[i] = found;
  }
};

/// The rest joins the aggregate with which it has most neighbours in common, of two equal ones the first.
struct JoinRest {
  GraphOperand graph;
  const index_t* aggregate;
  index_t* joined;
  KOKKOS_INLINE_FUNCTION void operator()(offset_t i) const {
    index_t found = aggregate[i];
    if (found == not_yet) {
      index_t most = 0;
      for (index_t k = graph.offsets[i]; k < graph.ends[i]; ++k) {
        const index_t candidate = aggregate[graph.neighbours[k]];
        if (candidate < 0 || candidate == found) continue;
        index_t count = 0;
        for (index_t l = graph.offsets[i]; l < graph.ends[i]; ++l)
          count += aggregate[graph.neighbours[l]] == candidate;
        if (count > most || (count == most && candidate < found)) {
          most = count;
          found = candidate;
        }
      }
    }
    joined[i] = found;
  }
};

}  // namespace aggregation

template <class Space>
struct Aggregates {
  Vector<index_t, Space> of;  ///< [nodes]; negative: in none
  index_t count = 0;
};

/// Aggregates of free nodes that have free neighbours only, in their order. How many.
inline index_t aggregate_in_order(const StrengthGraph<HostSpace>& graph, index_t* of) {
  index_t count = 0;
  for (index_t i = 0; i < graph.nodes; ++i) {
    if (of[i] != aggregation::not_yet) continue;
    const index_t begin = graph.offsets(i), end = graph.ends(i);
    index_t k = begin;
    while (k < end && of[graph.neighbours(k)] < 0) ++k;
    if (k < end) continue;
    of[i] = count;
    for (k = begin; k < end; ++k) of[graph.neighbours(k)] = count;
    ++count;
  }
  return count;
}

/// Aggregates by rounds. How many.
template <class Exec, class Space>
index_t aggregate_by_rounds(const Exec& exec, const StrengthGraph<Space>& graph,
                            Vector<index_t, Space>& of) {
  using namespace aggregation;
  const auto n = static_cast<std::size_t>(graph.nodes);
  const GraphOperand edges = operand_of(graph);
  auto joined = uninitialized<index_t, Space>("cnc::aggregates", n);
  const auto id = uninitialized<index_t, Space>("cnc::aggregates", n);
  const auto state = uninitialized<std::uint8_t, Space>("cnc::aggregates", n);
  const auto least = uninitialized<std::uint64_t, Space>("cnc::aggregates", n);
  auto* const states = reinterpret_cast<State*>(state.data());
  index_t count = 0;
  // First all that are free; then what is left between them, where most neighbours come with it. More of those would make the
  // coarse matrix denser, and save no iteration.
  for (const index_t thirds : {0, 2}) {
    offset_t undecided = graph.nodes;
    on_each(exec, graph.nodes, BeginRounds{of.data(), states, least.data()});
    // A graph that is symmetric is done in a dozen rounds; one that is not, by rounding, might never be. The host looks after
    // every fourth: rounds that find all decided change nothing, and cost less than waiting.
    for (std::uint32_t round = 0; undecided > 0 && round < 64; ++round) {
      on_each(exec, graph.nodes, FindLeast{edges, round, states, least.data()});
      const Decide decide{edges, round, states, least.data()};
      if (round % 4 == 3)
        undecided = sum_over(exec, graph.nodes, decide);
      else
        on_each(exec, graph.nodes, Uncounted<Decide>{decide});
    }
    on_each(exec, graph.nodes, MarkRoots{{edges, of.data(), states, thirds}, id.data()});
    count += static_cast<index_t>(scan(exec, 0, graph.nodes, NumberRoots{count, id.data()}));
    on_each(exec, graph.nodes, Join{edges, of.data(), id.data(), joined.data()});
    std::swap(of, joined);
  }
  return count;
}

/// Aggregates of the nodes of a symmetric graph. Waits.
template <class Exec, class Space>
Aggregates<Space> aggregate(const Exec& exec, const StrengthGraph<Space>& graph) {
  const auto n = static_cast<std::size_t>(graph.nodes);
  const GraphOperand edges = operand_of(graph);
  auto of = uninitialized<index_t, Space>("cnc::aggregates", n);
  on_each(exec, graph.nodes, aggregation::MarkAlone{edges, of.data()});
  index_t count = 0;
  if constexpr (on_threads<Exec>)
    count = aggregate_in_order(graph, of.data());
  else
    count = aggregate_by_rounds(exec, graph, of);
  const auto joined = uninitialized<index_t, Space>("cnc::aggregates", n);
  on_each(exec, graph.nodes, aggregation::JoinRest{edges, of.data(), joined.data()});
  exec.fence();
  return {joined, count};
}

}  // namespace cnc::detail
