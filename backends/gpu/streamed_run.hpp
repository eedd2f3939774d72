#pragma once

#include <gpu/entries.hpp>
#include <gpu/peer_words.hpp>
#include <gpu/unit_diagonal.hpp>

// Runs whose phases are kernels of their own, while all scalars and the stop test stay on the device: enqueued one
// after the other (streamed) or replayed (graph). Once the run is over, what is still enqueued does nothing.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Whether a preconditioner that is applied once more after the last iteration leaves everything as the next iteration
/// and Finish need it: it works out the same again, because no later pass of the iteration writes what it is applied
/// to; or what it writes is written anew before it is read.
template <class Method>
constexpr bool applies_harmlessly_again() {
  bool harmless = true;
  Method::Iteration::for_each([&]<class Pass>(int pass) {
    if constexpr (!is_product<Pass>) {
      if constexpr (Pass::M.active()) {
        bool changed = false, stale = true;
        Method::Iteration::for_each([&]<class Phase>(int k) {
          // Whoever writes one of the two after the pass; and whoever reads the result before the pass renews it.
          if constexpr (is_product<Phase>) {
            changed |= k > pass && (Phase::to == Pass::M.from || Phase::to == Pass::M.to);
            if (k <= pass && (Phase::of == Pass::M.to || Phase::with[0] == Pass::M.to))
              stale = false;
          } else {
            changed |= k > pass && contains(Phase::writes, Pass::M.from);
            changed |= k > pass && contains(Phase::writes, Pass::M.to);
            if (k <= pass && contains(Phase::reads, Pass::M.to)) stale = false;
          }
        });
        if constexpr (!std::is_void_v<typename Method::Finish>)
          stale = stale && !contains(Method::Finish::reads, Pass::M.to);
        harmless = harmless && (!changed || stale);
      }
    }
  });
  return harmless;
}

/// Whether all passes that read what passes_only says of a preconditioner can work it out again.
template <class Method>
constexpr bool works_out_again() {
  VectorSet preconditioned = 0, read_as_it_is = 0;
  const auto look_at = [&]<class Phase>(int) {
    if constexpr (!is_product<Phase>) {
      if (Phase::M.active() && Phase::M.passes_only) preconditioned |= set_of(Phase::M.to);
      read_as_it_is |= Phase::reads & ~(Phase::again.active() ? set_of(Phase::again.to) : 0);
    } else {
      read_as_it_is |= set_of(Phase::of) | set_of_one(Phase::with[0]);
    }
  };
  Method::Iteration::for_each(look_at);
  if constexpr (!std::is_void_v<typename Method::Finish>)
    look_at.template operator()<typename Method::Finish>(0);
  return (preconditioned & read_as_it_is) == 0;
}

/// One matrix, one set of vectors, one method: the launches of its phases.
template <int wave, class Operand, class V, class Method>
struct StreamedRun {
  static_assert(applies_harmlessly_again<Method>());
  static_assert(works_out_again<Method>());

  const Operand& A;
  const PreconditionerOperand<V>& M;
  const EnqueuedPreconditioner& between;
  const PeerOperand<V>* peers;               ///< other ranks; null: there are none
  const PeerOperand<V>* peers_of_transpose;  ///< for products with A^T
  const MethodVectors<V>& v;
  MethodScalars* scalars;
  RunState* state;
  RunOutcome* outcome;
  /// A is scaled to a unit diagonal, which is M and not stored (UnitDiagonal); vectors of iterations are those of that system.
  bool is_scaled = false;

  using Passes = PassEntries<wave, V>;
  static constexpr int method = method_index<V, Method>();

  /// Begins a recurrence from r; belongs to no run yet.
  void start(const Queue& queue) const {
    Method::Start::for_each([&]<class Phase>(int k) {
      launch<Phase>(queue, {method, PhaseGroup::start, k}, {.meeting = meeting()}, v);
    });
  }

  /// Vector `to` := A vector `of`, over all ranks; belongs to no run.
  void multiply(const Queue& queue, int of, int to) const {
    multiply(queue, A, peers, v[of], v[to], {}, nullptr);
  }
  int launches_of_multiply() const { return 1 + launches_beside(peers); }

  /// Whether other ranks are reached by messages, which do not skip themselves once the run is over.
  bool by_messages() const { return peers != nullptr && peers->messages != nullptr; }

  void begin(const Queue& queue, const RunState& initial) const {
    Passes::begin_run(queue, in(RunPlace::iteration), initial, scalars);
  }

  void iterate(const Queue& queue, index_t iterations) const {
    MethodVectors<V> of_passes = v;
    if constexpr (scales<Method>)
      if (is_scaled) of_passes.at[Method::Scaled::preconditioned] = v[Method::Scaled::residual];
    if (implies()) for_implied([&](int to, int from) { of_passes.at[to] = v[from]; });
    for (index_t i = 0; i < iterations; ++i)
      Method::Iteration::for_each([&]<class Phase>(int k) {
        const bool last = k == Method::Iteration::size - 1;
        launch<Phase>(queue, {method, PhaseGroup::iteration, k},
                      in(last ? RunPlace::last : RunPlace::iteration), of_passes);
      });
  }

  /// Launches of an iteration. A preconditioner that is enqueued counts as one.
  int launches_per_iteration() const { return launches_of<typename Method::Iteration>(); }
  int launches_of_start() const { return launches_of<typename Method::Start>(); }
  int launches_of_finish() const {
    int launches = 1;
    if (implies()) for_implied([&](int, int) { ++launches; });
    return launches;
  }

  /// What is left to do after the last iteration; then the host learns how it went.
  void finish(const Queue& queue) const {
    if constexpr (std::is_void_v<typename Method::Finish>)
      Passes::end_run(queue, in(RunPlace::finish), scalars);
    else
      launch<typename Method::Finish>(queue, {method, PhaseGroup::finish, 0}, in(RunPlace::finish),
                                      v);
    if (implies())
      for_implied([&](int to, int from) {
        VectorEntries<wave, V>::precondition(queue, A.rows, M, v[from], v[to]);
      });
  }

 private:
  const PeerMeeting* meeting() const { return peers != nullptr ? peers->meeting : nullptr; }
  RunLink in(RunPlace place) const { return {place, state, outcome, meeting(), false, is_scaled}; }

  /// Whether preconditioned vectors that only passes read are no more than a multiple of others. In iterations they are then
  /// those others, multiplied where they are read; before and after they are there, since another form may go on.
  bool implies() const { return between.enqueue == nullptr && M.is_scalar(); }
  /// f(to, from) for each of them.
  template <class F>
  static void for_implied(const F& f) {
    Method::Iteration::for_each([&]<class Phase>(int) {
      if constexpr (!is_product<Phase>)
        if (Phase::M.active() && Phase::M.passes_only) f(Phase::M.to, Phase::M.from);
    });
  }

  /// Whether a dot of a product is that of the own block and that of what is added to it; one of the result with itself would
  /// lose digits so.
  static bool dots_add_up(const ProductDots<V>& dots, const V* y) {
    return dots.with != nullptr && dots.self_result == nullptr && dots.with != y;
  }

  /// y := the rows of this rank times x: by one kernel, or what others need is on its way during the product with the own block.
  void multiply(const Queue& queue, const Operand& own, const PeerOperand<V>* others, const V* x,
                V* y, const ProductDots<V>& dots, const RunState* run) const {
    using Peers = PeerEntries<wave, V>;
    using Matrix = MatrixEntries<wave, Operand, V>;
    if (others == nullptr) return Matrix::product(queue, own, x, y, dots, run);
    if (goes_in_one(*others))
      return Matrix::product_among_peers(queue, own, x, y, dots, *others, run);
    const bool add_up = dots_add_up(dots, y);
    const ProductDots<V> of_parts = add_up ? dots : ProductDots<V>();
    Peers::send(queue, *others, x, run);
    Matrix::product(queue, own, x, y, of_parts, run);
    Peers::receive(queue, *others, y, {}, of_parts.with, of_parts.with_result, true, run);
    if (dots.with != nullptr && !add_up) Peers::dots(queue, A.rows, *others, y, dots, run);
  }
  /// What others take besides the product.
  static int launches_beside(const PeerOperand<V>* others) {
    if (others == nullptr || goes_in_one(*others)) return 0;
    return 2 + (others->messages != nullptr);
  }
  template <class Product>
  const PeerOperand<V>* peers_of() const {
    return Product::transposed ? peers_of_transpose : peers;
  }
  template <class Product>
  const Operand& of_own() const {
    return Product::transposed ? *A.transpose : A;
  }

  template <class Phases>
  int launches_of() const {
    int launches = Phases::size;
    Phases::for_each([&]<class Phase>(int) {
      if constexpr (is_product<Phase>) {
        const PeerOperand<V>* const others = peers_of<Phase>();
        launches += launches_beside(others);
        if (launches_beside(others) > 0 && Phase::dots > 0)
          launches += !dots_add_up(dots_of<Phase>(v, scalars), v[Phase::to]) + 2 * by_messages();
      } else {
        if (between.enqueue != nullptr && Phase::M.active())
          launches += (Phase::writes != 0) + stores_scalars<Phase>;
        if (by_messages()) launches += 2 * (Phase::sums.count > 0);
      }
    });
    return launches;
  }

  template <class Phase>
  void launch(const Queue& queue, const PassName& name, const RunLink& run,
              const MethodVectors<V>& of_passes) const {
    if constexpr (is_product<Phase>) {
      const ProductDots<V> dots = dots_of<Phase>(v, scalars);
      if constexpr (scales<Method>) {
        static_assert(Phase::dots == 1 && Phase::with[0] == Phase::of && !Phase::transposed);
        if (is_scaled)
          return MatrixEntries<wave, Operand, V>::product_of_scaled(queue, A, v[Phase::of],
                                                                    v[Phase::to], dots, run.state);
      }
      multiply(queue, of_own<Phase>(), peers_of<Phase>(), v[Phase::of], v[Phase::to], dots,
               run.state);
    } else {
      const auto pass = [&](PassPart part) {
        Passes::launch(queue, name, A.rows, M, of_passes, scalars, part, run);
        if (!by_messages() || Phase::sums.count == 0 || part == PassPart::before) return;
        PeerEntries<wave, V>::gather(queue, *peers);
        RunLink with_sums = run;
        with_sums.takes_sums = true;
        Passes::launch(queue, name, 0, M, of_passes, scalars, PassPart::after, with_sums);
      };
      if (between.enqueue == nullptr || !Phase::M.active()) return pass(PassPart::whole);
      pass(PassPart::before);
      between.enqueue(between.context, Phase::M.from, Phase::M.to, Phase::M.transposed);
      if (stores_scalars<Phase>) pass(PassPart::after);
    }
  }
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
