#pragma once

#include <gpu/halo_plan.hpp>
#include <gpu/peer_words.hpp>
#include <gpu/row_values.hpp>
#include <gpu/run_state.hpp>

#include <cnc/contract/preconditioner_operand.hpp>

#include <cmath>
#include <limits>
#include <tuple>

// What runs with one meeting of the grid per product have in common: the rows of a block and of its halo on chip, the matrix scaled by
// its diagonal, a product of own rows, what others are told of it and what comes from them.
//
// Each block owns a part of the matrix (src/parts/), keeps the method's `halo` vectors of the rows around it too and does to them what
// their owner does. For that it has to be told results of products there: they go across the grid in words that carry their
// epoch, and sums are under way with them (gpu/stamped.hpp).
//
// D^2 is the Jacobi preconditioner, one over the diagonal; without a preconditioner D is the identity. Methods for symmetric matrices
// run on D A D, for which D has to be real: vectors of the kind of the residual, which are those of the halo, are D times those of
// the caller, all others D^-1 times. Other methods run on A D^2, that is preconditioned from the right, where D^2 may have any sign:
// vectors are those of the caller, and M^-1 of one is never formed, because it is in the columns of the matrix. With Jacobi the
// diagonal is ones in both, and not read. What a run adds to x is kept apart from it and is multiplied by D or D^2 in the end.
//
// Among devices that reach each other's memory the halo has rows of theirs too: results there come in words that their owners write
// here. The sums of a device, which its blocks know, become those of all in a second step. Everything else is as on one.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Phase k of some.
template <int k, class>
struct PhaseAt;
template <int k, class... Phase>
struct PhaseAt<k, Phases<Phase...>> {
  using Is = std::tuple_element_t<k, std::tuple<Phase...>>;
};

/// Bytes that a part needs on chip, with so many vectors of its halo besides what is gathered.
template <class V>
constexpr std::size_t halo_bytes(const Part& part, int halo_vectors) {
  return (sizeof(EntryPair<V>) + sizeof(std::uint32_t)) * part_lanes *
             std::size_t(part.groups_beyond) +
         (part.sent > 0 ? sizeof(PeerPlace<V>) * std::size_t(part.sent) +
                              sizeof(index_t) * std::size_t(part.own)
                        : 0) +
         sizeof(V) *
             (2 * std::size_t(part.own) + std::size_t(1 + halo_vectors) * std::size_t(part.halo)) +
         sizeof(Slice) * (std::size_t(part.slices) + 1) +
         sizeof(index_t) * (std::size_t(part.own) + std::size_t(part.halo));
}

/// Own rows of a thread that there are kernels for: so many or more.
constexpr int compiled_halo_rows(int rows) { return rows <= 2 ? rows : rows <= 4 ? 4 : 8; }
inline constexpr int most_halo_rows = 8;

/// Pairs of entries of each of its rows that a thread holds in registers: they need not come from shared memory in every
/// iteration, which is what limits a product.
template <class V>
constexpr index_t halo_held(int rows) {
  constexpr int registers = 20, of_pair = sizeof(EntryPair<V>) / 4 + 1;
  return registers / (of_pair * compiled_halo_rows(rows));
}

struct NoHaloPeers {};

/// What the first wave decides for the block.
struct HaloControl {
  KeptScalars scalars;
  Breakdown breakdown;
  index_t iterations;
  bool begun;  ///< an iteration whose sums are not known yet
  bool over;
  bool unfit;

  CNC_GPU_DEVICE MethodScalars scalars_of(int count) const {
    MethodScalars s = scalars.get();
    // The others would be in registers for nothing.
    for (int k = count; k < max_method_scalars; ++k) s[k] = 0;
    return s;
  }
  CNC_GPU_DEVICE void set(const MethodScalars& s, bool is_over) {
    scalars.set(s);
    breakdown = s.breakdown;
    over = is_over;
  }
};

/// per_thread: own rows that a thread has at most; among: whether other devices have rows too.
template <int wave, int per_thread, class M, class V, class Method, bool among>
struct HaloRows {
  using Recurrence = Method;
  static constexpr bool is_among = among;
  /// Whether the matrix is scaled from both sides.
  static constexpr bool symmetric = Method::symmetric;
  static constexpr int halo_vectors = count(Method::halo);
  static constexpr index_t holds = halo_held<V>(per_thread);

  const M* values;
  /// D^2, one over the diagonal, of which the product then takes no notice: it is ones; null: D is the identity.
  const V* inverse;
  MethodVectors<V> v;
  PartArrays<DevicePointer> parts;
  StampedWord<V>* words;  ///< [2][word_count]
  index_t word_count;
  StampedSums sums;
  HaloNotes* notes;
  std::conditional_t<among, PeerOperand<V>, NoHaloPeers> peers;

  /// A block's part, and a thread's rows of it.
  struct State {
    Part part;
    EntryPair<V>* matrix;
    std::uint32_t* columns;
    V* gathered;               ///< by products, by local number
    V* of_halo[halo_vectors];  ///< by number in the halo
    V* constant;               ///< of own rows: what a run does not change
    const index_t* exports;
    const Slice* slices;
    const index_t* imports;
    V own[Method::vectors][per_thread];
    index_t groups[per_thread];  ///< of the row's slice
    index_t first[per_thread];   ///< place of the row's pair 0, had all of them one
    EntryPair<V> held[per_thread][holds > 0 ? holds : 1];
    std::uint32_t held_columns[per_thread][holds > 0 ? holds : 1];
    // Among devices:
    const PeerPlace<V>* sent_to;
    const index_t* sent_end;  ///< of own rows: where their share of it ends, if there are any
    /// What the numbers of exchanges and meetings are beyond the epoch.
    std::uint32_t exchanges_beyond, meetings_beyond;
  };

  /// Rows or places that a thread loads together; more would take registers from the loop.
  static constexpr int together = per_thread == 2 || per_thread == 4 ? 4 : 2;
  /// Calls step(k, local number) for the thread's own rows; of several steps one for a few rows after the other: what one of them
  /// loads is under way together, and a compiler that must think of overlap loads nothing before what it has stored.
  template <class... Step>
  static CNC_GPU_DEVICE void for_own(const State& t, const Step&... steps) {
    CNC_GPU_UNROLL
    for (int first = 0; first < per_thread; first += together) {
      const auto for_rows = [&](const auto& step) {
        CNC_GPU_UNROLL
        for (int k = first; k < per_thread && k < first + together; ++k) {
          const index_t local = thread_index() + k * block_threads();
          if (local < t.part.own) step(k, local);
        }
      };
      (for_rows(steps), ...);
    }
  }
  /// The same with step(j, i) for the thread's share of n places, j being which of the few it is.
  template <class... Step>
  static CNC_GPU_DEVICE void for_share(index_t n, const Step&... steps) {
    for (index_t first = thread_index(); first < n; first += together * block_threads()) {
      const auto for_places = [&](const auto& step) {
        CNC_GPU_UNROLL
        for (int j = 0; j < together; ++j) {
          const index_t i = first + j * block_threads();
          if (i < n) step(j, i);
        }
      };
      (for_places(steps), ...);
    }
  }
  CNC_GPU_DEVICE index_t row_of(const State& t, index_t local) const {
    return parts.rows[t.part.first_row + local];
  }
  CNC_GPU_DEVICE V square_of_root(index_t row) const {
    return inverse == nullptr ? V(1) : inverse[row];
  }
  /// By which columns are multiplied, and what is added to x.
  static CNC_GPU_DEVICE V scale(V square) {
    return symmetric ? static_cast<V>(std::sqrt(double(square))) : square;
  }

  // --- in and out -------------------------------------------------------------------------------------------

  CNC_GPU_DEVICE void lay_out(State& t) const {
    t.part = parts.part[block_index()];
    const Part& part = t.part;
    const index_t pairs = part.groups_beyond * part_lanes;
    char* free = dynamic_shared<char>();
    t.matrix = take<EntryPair<V>>(free, pairs);
    if constexpr (among) {
      auto* const to = take<PeerPlace<V>>(free, part.sent);
      for (index_t i = thread_index(); i < part.sent; i += block_threads())
        to[i] = peers.sent_to[parts.sent[part.first_sent + i]];
      t.sent_to = to;
    }
    t.gathered = take<V>(free, part.own + part.halo);
    for (V*& of_halo : t.of_halo) of_halo = take<V>(free, part.halo);
    t.constant = take<V>(free, part.own);
    t.columns = take<std::uint32_t>(free, pairs);
    t.slices = take_copy(free, parts.slices + part.first_slice, part.slices + 1);
    t.exports = take_copy(free, parts.exports + part.first_row, part.own);
    t.imports = take_copy(free, parts.imports + part.first_halo, part.halo);
    if constexpr (among)
      t.sent_end = take_copy(free, parts.sent_end + part.first_row, part.sent > 0 ? part.own : 0);
  }
  /// Room for n of them.
  template <class T>
  static CNC_GPU_DEVICE T* take(char*& free, index_t n) {
    T* const taken = reinterpret_cast<T*>(free);
    free += sizeof(T) * std::size_t(n);
    return taken;
  }
  template <class T>
  static CNC_GPU_DEVICE const T* take_copy(char*& free, const T* from, index_t n) {
    T* const to = take<T>(free, n);
    T loaded[together];
    for_share(
        n, [&](int j, index_t i) { loaded[j] = from[i]; },
        [&](int j, index_t i) { to[i] = loaded[j]; });
    return to;
  }

  // --- other devices ----------------------------------------------------------------------------------------

  /// Whether row i of the halo is one of another device.
  CNC_GPU_DEVICE bool is_beyond(const State& t, index_t i) const {
    return among && t.imports[i] >= word_count;
  }
  /// Devices with an own row in their halo get its value.
  CNC_GPU_DEVICE void tell(const State& t, index_t local, V value, std::uint32_t epoch) const {
    if constexpr (among) {
      if (t.part.sent == 0) return;  // registers for each row would be spilled, from all blocks
      const std::uint32_t number = epoch + t.exchanges_beyond;
      for (index_t j = local > 0 ? t.sent_end[local - 1] : 0; j < t.sent_end[local]; ++j)
        send_word(t.sent_to[j].at + number % 2, value, number);
    }
  }
  /// The value of row i of the halo, if it has come.
  CNC_GPU_DEVICE bool find(const State& t, index_t i, V& value, std::uint32_t epoch) const {
    const index_t word = t.imports[i];
    if constexpr (among)
      if (word >= word_count) {
        const std::uint32_t number = epoch + t.exchanges_beyond;
        return find_word(peers.words + 2 * offset_t(word - word_count) + number % 2, value, number);
      }
    return words[offset_t(epoch % 2) * word_count + word].load(value, epoch);
  }
  /// Waits for somebody, who may be on another device.
  template <class Ready>
  CNC_GPU_DEVICE bool wait_for(const Ready& ready) const {
    if constexpr (among) {
      const bool came = wait_for_peer(*peers.meeting, ready);
      if (!came) notes->lost = 1;
      return came;
    } else {
      const bool came = wait_until(ready);
      if (!came) notes->stuck = 1;
      return came;
    }
  }
  /// By the first wave of each block, whose threads have left their share of the sums.
  CNC_GPU_DEVICE void meet(const State& t, double (&share)[StampedSums::sums],
                           std::uint32_t epoch) const {
    if (!sums.combine<wave>(share, epoch)) notes->stuck = 1;
    if constexpr (among)
      if (!meet_peers_from_all_blocks<wave>(*peers.meeting, share, epoch + t.meetings_beyond))
        notes->lost = 1;
  }
  /// Calls take(i, value) for the rows of the halo that are of other devices, whose threads have own(k, local) of them. An epoch.
  template <class Own, class Take>
  CNC_GPU_DEVICE void share_with_peers(const State& t, std::uint32_t& epoch, const Own& own,
                                       const Take& take_value) const {
    ++epoch;
    for_own(t, [&](int k, index_t local) { tell(t, local, own(k, local), epoch); });
    for (index_t i = thread_index(); i < t.part.halo; i += block_threads()) {
      if (!is_beyond(t, i)) continue;
      V value;
      if (!wait_for([&] { return find(t, i, value, epoch); })) value = never_came<V>;
      take_value(i, value);
    }
    double nothing[StampedSums::sums] = {};
    StampedSums::leave<wave>(nothing);
    if (thread_index() < wave) meet(t, nothing, epoch);
    block_barrier();
  }

  /// The matrix of the run, whose D or D^2 is left in `gathered`. False on a thread that found what this form cannot do. Among devices
  /// it takes some epochs.
  CNC_GPU_DEVICE bool load(State& t, std::uint32_t& epoch) const {
    // Of the values as they are stored, which may be those of a matrix rounded to float.
    constexpr double tolerance = 8 * double(std::numeric_limits<M>::epsilon());
    bool fit = true;
    const auto take_scale = [&](index_t local, V scale) {
      t.gathered[local] = scale;
      fit &=
          (symmetric ? scale > 0 : scale != 0) && std::abs(scale) <= std::numeric_limits<V>::max();
    };
    index_t own_row[per_thread], row[together];
    V own_value[per_thread], halo_value[together];
    for_own(
        t, [&](int k, index_t local) { own_row[k] = row_of(t, local); },
        [&](int k, index_t) { own_value[k] = square_of_root(own_row[k]); },
        [&](int k, index_t local) { take_scale(local, scale(own_value[k])); });
    if constexpr (among) block_barrier();  // imports are there
    for_share(
        t.part.halo,
        [&](int j, index_t i) { row[j] = is_beyond(t, i) ? -1 : row_of(t, t.part.own + i); },
        [&](int j, index_t) { halo_value[j] = row[j] < 0 ? V(0) : square_of_root(row[j]); },
        [&](int j, index_t i) {
          if (row[j] >= 0) take_scale(t.part.own + i, scale(halo_value[j]));
        });
    M absent[together];
    for_share(
        t.part.absent,
        [&](int j, index_t i) { absent[j] = values[parts.absent[t.part.first_absent + i]]; },
        [&](int j, index_t) { fit &= absent[j] == M(0); });
    block_barrier();
    if constexpr (among)
      share_with_peers(
          t, epoch, [&](int, index_t local) { return t.gathered[local]; },
          [&](index_t i, V value) { take_scale(t.part.own + i, value); });
    V diagonal[per_thread];
    for_own(
        t,
        [&](int k, index_t local) {
          if (inverse != nullptr) diagonal[k] = value_at(parts.diagonal[t.part.first_row + local]);
        },
        [&](int k, index_t local) {
          if (inverse == nullptr) return;
          // The diagonal is not among the entries.
          const double d = double(t.gathered[local]);
          const double one = double(static_cast<V>(double(diagonal[k]) * (symmetric ? d * d : d)));
          fit &= one >= 1 - tolerance && one <= 1 + tolerance;
        });
    load_matrix(t);
    block_barrier();
    return fit;
  }

  /// A vector of the halo as the run has it, but of rows of other devices; D is in `gathered`.
  CNC_GPU_DEVICE void load_halo(const State& t, int vector, V* to) const {
    index_t row[together];
    V value[together];
    for_share(
        t.part.halo,
        [&](int j, index_t i) { row[j] = is_beyond(t, i) ? -1 : row_of(t, t.part.own + i); },
        [&](int j, index_t) {
          if (row[j] >= 0) value[j] = v[vector][row[j]];
        },
        [&](int j, index_t i) {
          if (row[j] >= 0) to[i] = symmetric ? t.gathered[t.part.own + i] * value[j] : value[j];
        });
  }
  /// A vector of own rows, to take(k, local number, value).
  template <class Take>
  CNC_GPU_DEVICE void load_own(const State& t, int vector, const Take& take_value) const {
    index_t row[per_thread];
    V value[per_thread];
    for_own(
        t, [&](int k, index_t local) { row[k] = row_of(t, local); },
        [&](int k, index_t) { value[k] = v[vector][row[k]]; },
        [&](int k, index_t local) { take_value(k, local, value[k]); });
  }

  /// The entries of own rows, which become those of the run: D or D^2 is in `gathered`.
  CNC_GPU_DEVICE void load_matrix(State& t) const {
    const offset_t begin = offset_t(t.part.first_group) * part_lanes;
    const auto* const places = reinterpret_cast<const EntryPair<index_t>*>(parts.places) + begin;
    const std::uint32_t* const its_columns = parts.columns + begin;
    index_t pair[per_thread];  // the row's first
    index_t most = 0;
    for (index_t& groups : t.groups) groups = 0;
    for_own(t, [&](int k, index_t local) {
      const Slice slice = t.slices[local / part_lanes], next = t.slices[local / part_lanes + 1];
      const index_t lane = local % part_lanes;
      pair[k] = slice.first * part_lanes + lane;
      t.groups[k] = next.first - slice.first;
      t.first[k] = (slice.first_beyond - holds) * part_lanes + lane;
      most = t.groups[k] > most ? t.groups[k] : most;
    });
    // take_pair(k, entries, columns) for pair g of the rows that have so many
    const auto for_pairs = [&](index_t g, const auto& take_pair) {
      EntryPair<index_t> place[per_thread];
      std::uint32_t columns[per_thread];
      EntryPair<V> value[per_thread];
      for_own(
          t,
          [&](int k, index_t) {
            if (g >= t.groups[k]) return;
            place[k] = places[pair[k] + g * part_lanes];
            columns[k] = its_columns[pair[k] + g * part_lanes];
          },
          [&](int k, index_t) {
            if (g >= t.groups[k]) return;
            value[k] = {value_at(place[k].first), value_at(place[k].second)};
          },
          [&](int k, index_t local) {
            if (g >= t.groups[k]) return;
            const double d = symmetric ? double(t.gathered[local]) : 1.0;
            const auto entry = [&](V a, std::uint32_t column) {
              return static_cast<V>(double(a) * (d * double(t.gathered[column])));
            };
            take_pair(k,
                      EntryPair<V>{entry(value[k].first, columns[k] & 0xffff),
                                   entry(value[k].second, columns[k] >> 16)},
                      columns[k]);
          });
    };
    CNC_GPU_UNROLL
    for (int g = 0; g < holds; ++g) {
      for (int k = 0; k < per_thread; ++k) {
        t.held[k][g] = {0, 0};
        t.held_columns[k][g] = 0;
      }
      for_pairs(g, [&](int k, const EntryPair<V>& entries, std::uint32_t columns) {
        t.held[k][g] = entries;
        t.held_columns[k][g] = columns;
      });
    }
    for (index_t g = holds; g < most; ++g)
      for_pairs(g, [&](int k, const EntryPair<V>& entries, std::uint32_t columns) {
        const index_t to = t.first[k] + g * part_lanes;
        t.matrix[to] = entries;
        t.columns[to] = columns;
      });
  }
  /// The value of an entry at a place of the matrix; where there is none, zero.
  CNC_GPU_DEVICE V value_at(index_t place) const {
    if (place == -1) return V(0);
    if constexpr (among)
      if (place < 0) return peers.values[cnc::detail::place_beyond(place)];
    return values[place];
  }

  // --- a product -----------------------------------------------------------------------------------------

  /// The matrix times what is gathered, to take(k, local number, gathered there, result) for own rows; others are told at once.
  template <class Take>
  CNC_GPU_DEVICE void multiply(const State& t, std::uint32_t epoch, const Take& take_result) const {
    // Rows side by side: while one waits for what it gathers, the next ones do.
    V even[per_thread], odd[per_thread];
    index_t most = 0;
    CNC_GPU_UNROLL
    for (int k = 0; k < per_thread; ++k) {
      even[k] = odd[k] = 0;
      most = t.groups[k] > most ? t.groups[k] : most;
    }
    const auto add = [&](int k, const EntryPair<V>& a, std::uint32_t columns) {
      even[k] += a.first * t.gathered[columns & 0xffff];
      odd[k] += a.second * t.gathered[columns >> 16];
    };
    CNC_GPU_UNROLL
    for (int g = 0; g < holds; ++g) {
      CNC_GPU_UNROLL
      for (int k = 0; k < per_thread; ++k)
        if (g < t.groups[k]) add(k, t.held[k][g], t.held_columns[k][g]);
    }
    CNC_GPU_UNROLL_BY(2)
    for (index_t g = holds; g < most; ++g) {
      CNC_GPU_UNROLL
      for (int k = 0; k < per_thread; ++k) {
        const index_t pair = t.first[k] + g * part_lanes;
        if (g < t.groups[k]) add(k, t.matrix[pair], t.columns[pair]);
      }
    }
    StampedWord<V>* const to = words + offset_t(epoch % 2) * word_count;
    for_own(t, [&](int k, index_t local) {
      const V own = t.gathered[local];
      const V sum = (inverse != nullptr ? own + even[k] : even[k]) + odd[k];
      if (t.exports[local] >= 0) to[t.exports[local]].store(sum, epoch);
      tell(t, local, sum, epoch);
      take_result(k, local, own, sum);
    });
  }

  /// Results of the halo, by all waves but the first.
  CNC_GPU_DEVICE void receive(const State& t, V* to, std::uint32_t epoch) const {
    constexpr int at_once = 4;
    const index_t threads = block_threads() - wave;
    for (index_t first = thread_index() - wave; first < t.part.halo; first += at_once * threads) {
      V value[at_once];
      const bool came = wait_for([&] {
        bool here = true;
        CNC_GPU_UNROLL
        for (int j = 0; j < at_once; ++j) {
          const index_t i = first + j * threads;
          if (i < t.part.halo) here &= find(t, i, value[j], epoch);
        }
        return here;
      });
      CNC_GPU_UNROLL
      for (int j = 0; j < at_once; ++j) {
        const index_t i = first + j * threads;
        if (i < t.part.halo) to[i] = came ? value[j] : never_came<V>;
      }
    }
  }
  /// The meeting of a product: decide(sums over the grid), by the first wave, while the others fetch the results of the halo.
  template <class Decide>
  CNC_GPU_DEVICE void meet_over_results(const State& t, double (&share)[StampedSums::sums], V* to,
                                        std::uint32_t epoch, const Decide& decide) const {
    StampedSums::leave<wave>(share);
    if (thread_index() < wave) {
      meet(t, share, epoch);
      decide(share);
    } else {
      receive(t, to, epoch);
    }
    block_barrier();
  }

  /// Ends an iteration by the two sums of its last pass; begin(s) are the scalars after the step that follows, if the run goes on.
  /// By the first wave.
  template <class Last, class Begin>
  CNC_GPU_DEVICE void decide(HaloControl& control, const RunState& limits, double first_sum,
                             double second_sum, bool unfit, const Begin& begin) const {
    MethodScalars s = control.scalars_of(Method::scalars);
    RunState run = limits;
    run.iterations = control.iterations;
    if (control.begun) {
      const double sums_of_pass[2] = {first_sum, second_sum};
      end_pass<Last>(s, sums_of_pass);
      if (block_index() == 0 && thread_index() == 0)
        log_iteration<Last>(s, run.iterations, run.history, run.energy_gains);
      ++run.iterations;
    }
    bool over = unfit || run_is_over(run, s);
    if (!over) {
      const MethodScalars begun = begin(s);
      s.breakdown = begun.breakdown;
      over = s.breakdown != Breakdown::none;
      if (!over) s = begun;
    }
    wave_barrier<wave>();
    if (thread_index() == 0) {
      control.set(s, over);
      control.iterations = run.iterations;
      control.begun = true;
      control.unfit = unfit;
    }
  }
};

/// A run in parts, of either kind.
template <class Run>
CNC_GPU_DEVICE void run_in_parts(const Run& it, MethodScalars* scalars, const RunState& run,
                                 RunOutcome* outcome, std::uint32_t epoch) {
  using Method = typename Run::Recurrence;
  CNC_GPU_SHARED HaloControl control;
  const std::uint32_t first_epoch = epoch;
  MethodScalars s;
  copy_scalars(*scalars, s);
  const bool nothing = run_is_over(run, s);
  if (!nothing) {
    if constexpr (requires { Method::complete(s); })
      if (s.first == 0) Method::complete(s);
    typename Run::State t;
    if constexpr (Run::is_among) {
      t.exchanges_beyond = *it.peers.exchanges - epoch;
      t.meetings_beyond = *it.peers.meeting->meetings - epoch;
    }
    it.lay_out(t);
    if (thread_index() == 0) {
      control.scalars.set(s);
      control.iterations = 0;
      control.begun = false;
    }
    block_barrier();
    const bool fit = it.load(t, epoch);
    it.load_vectors(t, s.first != 0, epoch);
    it.iterate(t, control, run, fit, epoch);
    if (control.iterations > 0) it.store(t);
  }
  if (block_index() != 0 || thread_index() != 0) return;
  it.notes->meetings = epoch - first_epoch;
  it.notes->unfit = !nothing && control.unfit;
  if constexpr (Run::is_among)
    if (!nothing) {
      // All blocks have come to a meeting, before which they read these.
      *it.peers.exchanges += epoch - first_epoch;
      *it.peers.meeting->meetings += epoch - first_epoch;
    }
  if (!nothing && !control.unfit) {
    s = control.scalars.get();
    s.breakdown = control.breakdown;
    if constexpr (requires { Method::close(s); }) Method::close(s);
    copy_scalars(s, *scalars);
  }
  copy_scalars(s, outcome->scalars);
  outcome->iterations = nothing ? 0 : control.iterations;
  outcome->began = !nothing;
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
