#pragma once

#include <gpu/entries.hpp>

// Runs whose phases are kernels of their own, while all scalars and the stop test stay on the device: enqueued one
// after the other (streamed) or replayed (graph). Once the run is over, what is still enqueued does nothing.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// One matrix, one set of vectors, one method: the launches of its phases.
template <int wave, class Operand, class V, class Method>
struct StreamedRun {
  const Operand& A;
  const PreconditionerOperand<V>& M;
  const MethodVectors<V>& v;
  MethodScalars* scalars;
  RunState* state;
  RunOutcome* outcome;

  using Passes = PassEntries<wave, V>;
  static constexpr int method = method_index<V, Method>();

  /// Begins a recurrence from r; belongs to no run yet.
  void start(const Queue& queue) const {
    Method::Start::for_each([&]<class Phase>(int k) {
      launch<Phase>(queue, {method, PhaseGroup::start, k}, {});
    });
  }

  void begin(const Queue& queue, const RunState& initial) const {
    Passes::begin_run(queue, in(RunPlace::iteration), initial, scalars);
  }

  void iterate(const Queue& queue, index_t iterations) const {
    for (index_t i = 0; i < iterations; ++i)
      Method::Iteration::for_each([&]<class Phase>(int k) {
        const bool last = k == Method::Iteration::size - 1;
        launch<Phase>(queue, {method, PhaseGroup::iteration, k},
                      in(last ? RunPlace::last : RunPlace::iteration));
      });
  }

  /// What is left to do after the last iteration; then the host learns how it went.
  void finish(const Queue& queue) const {
    if constexpr (std::is_void_v<typename Method::Finish>)
      Passes::end_run(queue, in(RunPlace::finish), scalars);
    else
      launch<typename Method::Finish>(queue, {method, PhaseGroup::finish, 0}, in(RunPlace::finish));
  }

 private:
  RunLink in(RunPlace place) const { return {place, state, outcome}; }

  template <class Phase>
  void launch(const Queue& queue, const PassName& name, const RunLink& run) const {
    if constexpr (is_product<Phase>) {
      MatrixEntries<wave, Operand, V>::product(queue, A, v[Phase::of], v[Phase::to],
                                               dots_of<Phase>(v, scalars), run.state);
    } else {
      Passes::launch(queue, name, A.rows, M, v, scalars, PassPart::whole, run);
    }
  }
};

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
