#pragma once

#include <gpu/halo_plan.hpp>
#include <gpu/peer_words.hpp>
#include <gpu/row_values.hpp>
#include <gpu/run_state.hpp>

#include <cnc/contract/preconditioner_operand.hpp>

#include <cmath>
#include <limits>
#include <tuple>

// A whole run in one launch with one meeting of the grid per iteration, for methods that have one sum per iteration and say
// which vectors their halo needs.
//
// The run is one of D A D, where D^2 is the Jacobi preconditioner: there z and r are the same, and what a block gathers of other
// rows it can keep up to date by itself, if only it is told q of them. So each block owns a part of the matrix (src/parts/),
// keeps the method's `halo` vectors of the rows around it too and does to them what their owner does. Across the grid go q of
// boundary rows, in words that carry their epoch, and the sums; both are under way together (gpu/stamped.hpp).
//
// Vectors of the kind of the residual, which are those of the halo, are D times those of the caller, all others
// D^-1 times. r . r of the caller's residual is a weighted sum.
//
// Among devices that reach each other's memory the halo has rows of theirs too: q of them comes in words that their owners write
// here. The sums of a device, which its blocks know, become those of all in a second step. Everything else is as on one.
//
// The loop is kept short: waves go through it once per meeting, and code that they have to wait for shows.

namespace cnc::gpu::inline CNC_GPU_TARGET {

template <class>
struct FirstPhase;
template <class First, class... Rest>
struct FirstPhase<Phases<First, Rest...>> {
  using Is = First;
};

/// Bytes that a part needs on chip.
template <class V>
constexpr std::size_t halo_bytes(const Part& part) {
  return (sizeof(EntryPair<V>) + sizeof(std::uint32_t)) * part_lanes *
             std::size_t(part.groups_beyond) +
         (part.sent > 0 ? sizeof(PeerPlace<V>) * std::size_t(part.sent) +
                              sizeof(index_t) * std::size_t(part.own)
                        : 0) +
         sizeof(V) * (2 * std::size_t(part.own) + 3 * std::size_t(part.halo)) +
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

/// per_thread: own rows that a thread has at most; among: whether other devices have rows too.
template <int wave, int per_thread, class M, class V, class Method, bool among>
struct HaloRun {
  static constexpr bool is_among = among;
  using Iteration = typename Method::Iteration;
  using Update = typename Iteration::Last;
  using Product = typename FirstPhase<Iteration>::Is;
  static constexpr int r = Update::M.from, z = Update::M.to, q = Product::to, x = Method::x;
  /// Of own rows in registers.
  static constexpr VectorSet kept = (Update::reads | Update::writes) & ~set_of(r, z, q);
  /// Of the halo besides r.
  static constexpr VectorSet beside = Method::halo & ~set_of(r);
  static constexpr index_t holds = halo_held<V>(per_thread);
  static_assert(Product::of == z && count(beside) == 1 && contains(Method::halo, r));

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

  /// What the first wave decides for the block.
  struct Control {
    KeptScalars scalars;
    Breakdown breakdown;
    index_t iterations;
    bool begun;  ///< an iteration whose sums are not known yet
    bool over;
    bool unfit;
  };

  /// A block's part, and a thread's rows of it.
  struct State {
    Part part;
    EntryPair<V>* matrix;
    std::uint32_t* columns;
    V* r;       ///< by local number
    V* beside;  ///< the other vector of the halo, by number in it
    V* q_halo;
    V* weight;  ///< of r r in the caller's r . r, of own rows
    const index_t* exports;
    const Slice* slices;
    const index_t* imports;
    V own[Method::vectors][per_thread];
    V q[per_thread];
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
  static CNC_GPU_DEVICE V root(V square) { return static_cast<V>(std::sqrt(double(square))); }

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
    t.r = take<V>(free, part.own + part.halo);
    t.beside = take<V>(free, part.halo);
    t.q_halo = take<V>(free, part.halo);
    t.weight = take<V>(free, part.own);
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

  /// False on a thread that found what this form cannot do. Among devices it takes some epochs.
  CNC_GPU_DEVICE bool load(State& t, bool first, std::uint32_t& epoch) const {
    // Of the values as they are stored, which may be those of a matrix rounded to float.
    constexpr double tolerance = 8 * double(std::numeric_limits<M>::epsilon());
    bool fit = true;
    // D stands in r until the matrix is there.
    const auto take_root = [&](index_t local, V square) {
      const V d = root(square);
      t.r[local] = d;
      fit &= d > 0 && d <= std::numeric_limits<V>::max();
    };
    index_t own_row[per_thread], row[together];
    V own_value[per_thread], halo_value[together];
    for_own(
        t, [&](int k, index_t local) { own_row[k] = row_of(t, local); },
        [&](int k, index_t) { own_value[k] = square_of_root(own_row[k]); },
        [&](int k, index_t local) { take_root(local, own_value[k]); });
    if constexpr (among) block_barrier();  // imports are there
    for_share(
        t.part.halo,
        [&](int j, index_t i) { row[j] = is_beyond(t, i) ? -1 : row_of(t, t.part.own + i); },
        [&](int j, index_t) { halo_value[j] = row[j] < 0 ? V(0) : square_of_root(row[j]); },
        [&](int j, index_t i) {
          if (row[j] >= 0) take_root(t.part.own + i, halo_value[j]);
        });
    M absent[together];
    for_share(
        t.part.absent,
        [&](int j, index_t i) { absent[j] = values[parts.absent[t.part.first_absent + i]]; },
        [&](int j, index_t) { fit &= absent[j] == M(0); });
    block_barrier();
    if constexpr (among)
      share_with_peers(
          t, epoch, [&](int, index_t local) { return t.r[local]; },
          [&](index_t i, V d) {
            t.r[t.part.own + i] = d;
            fit &= d > 0 && d <= std::numeric_limits<V>::max();
          });
    V diagonal[per_thread];
    for_own(
        t,
        [&](int k, index_t local) {
          if (inverse != nullptr) diagonal[k] = value_at(parts.diagonal[t.part.first_row + local]);
        },
        [&](int k, index_t local) {
          const double d = double(t.r[local]);
          t.weight[local] = static_cast<V>(1 / (d * d));
          if (inverse == nullptr) return;
          // The diagonal is not among the entries.
          const double one = double(static_cast<V>(double(diagonal[k]) * (d * d)));
          fit &= one >= 1 - tolerance && one <= 1 + tolerance;
        });
    load_matrix(t);
    block_barrier();
    // Vector by vector, since registers are held all the way: r last, in whose place D is.
    const auto load_halo = [&](int vector, V* to) {
      for_share(
          t.part.halo,
          [&](int j, index_t i) { row[j] = is_beyond(t, i) ? -1 : row_of(t, t.part.own + i); },
          [&](int j, index_t) {
            if (row[j] >= 0) halo_value[j] = v[vector][row[j]];
          },
          [&](int j, index_t i) {
            if (row[j] >= 0) to[i] = t.r[t.part.own + i] * halo_value[j];
          });
    };
    for_vectors<beside>([&](auto k) {
      if (first)
        for_share(t.part.halo, [&](int, index_t i) { t.beside[i] = 0; });
      else
        load_halo(k, t.beside);
    });
    load_halo(r, t.r + t.part.own);
    // What is added to x is kept apart from it.
    for_vectors<kept>([&](auto j) {
      for (V& value : t.own[j]) value = 0;
      if (first || j == x) return;
      for_own(
          t, [&](int k, index_t) { own_value[k] = v[j][own_row[k]]; },
          [&](int k, index_t local) {
            const V d = t.r[local];
            t.own[j][k] = contains(Method::halo, j) ? d * own_value[k] : own_value[k] / d;
          });
    });
    for_own(
        t, [&](int k, index_t) { own_value[k] = v[r][own_row[k]]; },
        [&](int k, index_t local) { t.r[local] *= own_value[k]; });
    block_barrier();
    if constexpr (among) {
      share_with_peers(
          t, epoch, [&](int, index_t local) { return t.r[local]; },
          [&](index_t i, V value) { t.r[t.part.own + i] = value; });
      for_vectors<beside>([&](auto j) {
        if (!first)
          share_with_peers(
              t, epoch, [&](int k, index_t) { return t.own[j][k]; },
              [&](index_t i, V value) { t.beside[i] = value; });
      });
    }
    return fit;
  }

  /// The entries of own rows, which become those of D A D: D is in r.
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
            const double d = double(t.r[local]);
            const auto entry = [&](V a, std::uint32_t column) {
              return static_cast<V>(double(a) * (d * double(t.r[column])));
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

  CNC_GPU_DEVICE void store(const State& t) const {
    for_own(t, [&](int k, index_t local) {
      const index_t row = row_of(t, local);
      const V square = square_of_root(row), of_x = v[x][row], d = root(square);
      v[r][row] = t.r[local] / d;
      v[z][row] = t.r[local] * d;
      for_vectors<kept>([&](auto j) {
        const V value = t.own[j][k];
        v[j][row] = j == x ? of_x + d * value : contains(Method::halo, j) ? value / d : value * d;
      });
    });
  }

  // --- an iteration -----------------------------------------------------------------------------------------

  /// q := A r of own rows, which others are told at once, and this thread's share of the sums.
  CNC_GPU_DEVICE void multiply(State& t, std::uint32_t epoch,
                               double (&share)[StampedSums::sums]) const {
    // Rows side by side: while one waits for what it gathers, the next ones do.
    V even[per_thread], odd[per_thread];
    index_t most = 0;
    CNC_GPU_UNROLL
    for (int k = 0; k < per_thread; ++k) {
      even[k] = odd[k] = 0;
      most = t.groups[k] > most ? t.groups[k] : most;
    }
    const auto add = [&](int k, const EntryPair<V>& a, std::uint32_t columns) {
      even[k] += a.first * t.r[columns & 0xffff];
      odd[k] += a.second * t.r[columns >> 16];
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
      const V own = t.r[local];
      const V sum = (inverse != nullptr ? own + even[k] : even[k]) + odd[k];
      t.q[k] = sum;
      if (t.exports[local] >= 0) to[t.exports[local]].store(sum, epoch);
      tell(t, local, sum, epoch);
      const double rr = double(own) * double(own);
      share[0] += rr;
      share[1] += rr * double(t.weight[local]);
      share[2] += double(own) * double(sum);
    });
  }

  /// q of the halo, by all waves but the first.
  CNC_GPU_DEVICE void receive(const State& t, std::uint32_t epoch) const {
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
        if (i < t.part.halo) t.q_halo[i] = came ? value[j] : never_came<V>;
      }
    }
  }

  /// The end of an iteration, whose sums these are, and the scalar step of the next. By the first wave.
  CNC_GPU_DEVICE void decide(Control& control, const RunState& limits,
                             const double (&total)[StampedSums::sums]) const {
    MethodScalars s = control.scalars.get();
    // The others would be in registers for nothing.
    for (int k = Method::scalars; k < max_method_scalars; ++k) s[k] = 0;
    RunState run = limits;
    run.iterations = control.iterations;
    if (control.begun) {
      const double sums_of_pass[2] = {total[0], total[1]};
      end_pass<Update>(s, sums_of_pass);
      if (block_index() == 0 && thread_index() == 0)
        log_iteration<Update>(s, run.iterations, run.history, run.energy_gains);
      ++run.iterations;
    }
    const bool unfit = total[3] != 0;
    bool over = unfit || run_is_over(run, s);
    if (!over) {
      s[Product::scalar[0]] = total[2];
      const MethodScalars begun = begin_pass<Update>(s);
      s.breakdown = begun.breakdown;
      over = s.breakdown != Breakdown::none;
      if (!over) s = begun;
    }
    wave_barrier<wave>();
    if (thread_index() == 0) {
      control.scalars.set(s);
      control.breakdown = s.breakdown;
      control.iterations = run.iterations;
      control.begun = true;
      control.over = over;
      control.unfit = unfit;
    }
  }

  CNC_GPU_DEVICE void update(State& t, const MethodScalars& s) const {
    Update pass(s);
    pass.is_first = false;  // vectors that do not exist yet are zero here
    for_own(t, [&](int k, index_t local) {
      Row<V> row{};
      for_vectors<kept>([&](auto j) { row[j] = t.own[j][k]; });
      row[q] = t.q[k];
      row[r] = row[z] = t.r[local];
      pass(row);
      for_vectors<kept>([&](auto j) { t.own[j][k] = row[j]; });
      t.r[local] = row[r];
    });
    for (index_t i = thread_index(); i < t.part.halo; i += block_threads()) {
      Row<V> row{};
      V& of_r = t.r[t.part.own + i];
      row[q] = t.q_halo[i];
      row[r] = row[z] = of_r;
      for_vectors<beside>([&](auto j) { row[j] = t.beside[i]; });
      pass(row);
      for_vectors<beside>([&](auto j) { t.beside[i] = row[j]; });
      of_r = row[r];
    }
  }

  CNC_GPU_DEVICE void iterate(MethodScalars* scalars, const RunState& run, RunOutcome* outcome,
                              std::uint32_t epoch) const {
    CNC_GPU_SHARED Control control;
    const std::uint32_t first_epoch = epoch;
    MethodScalars s;
    copy_scalars(*scalars, s);
    const bool nothing = run_is_over(run, s);
    if (!nothing) {
      if (s.first == 0) Method::complete(s);
      State t;
      if constexpr (among) {
        t.exchanges_beyond = *peers.exchanges - epoch;
        t.meetings_beyond = *peers.meeting->meetings - epoch;
      }
      lay_out(t);
      if (thread_index() == 0) {
        control.scalars.set(s);
        control.iterations = 0;
        control.begun = false;
      }
      block_barrier();
      const bool fit = load(t, s.first != 0, epoch);
      for (;;) {
        ++epoch;
        double share[StampedSums::sums] = {0, 0, 0, fit ? 0.0 : 1.0};
        multiply(t, epoch, share);
        StampedSums::leave<wave>(share);
        if (thread_index() < wave) {
          meet(t, share, epoch);
          decide(control, run, share);
        } else {
          receive(t, epoch);
        }
        block_barrier();
        if (control.over) break;
        update(t, control.scalars.get());
        block_barrier();
      }
      if (control.iterations > 0) store(t);
    }
    if (block_index() != 0 || thread_index() != 0) return;
    notes->meetings = epoch - first_epoch;
    notes->unfit = !nothing && control.unfit;
    if constexpr (among)
      if (!nothing) {
        // All blocks have come to a meeting, before which they read these.
        *peers.exchanges += epoch - first_epoch;
        *peers.meeting->meetings += epoch - first_epoch;
      }
    if (!nothing && !control.unfit) {
      s = control.scalars.get();
      s.breakdown = control.breakdown;
      Method::close(s);
      copy_scalars(s, *scalars);
    }
    copy_scalars(s, outcome->scalars);
    outcome->iterations = nothing ? 0 : control.iterations;
    outcome->began = !nothing;
  }
};

template <int threads, class Run>
CNC_GPU_DENSE_KERNEL(threads, threads)
halo_kernel(Run it, MethodScalars* scalars, RunState run, RunOutcome* outcome,
            std::uint32_t epoch) {
  it.iterate(scalars, run, outcome, epoch);
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
