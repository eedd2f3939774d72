#pragma once

#include "kokkos/kernels.hpp"
#include "kokkos/launch.hpp"
#include "kokkos/preconditioners.hpp"

#include <cnc/contract/ops.hpp>

#include <type_traits>

// A pass of any method: one kernel over the rows, and where the pass leaves scalars a second one of one team. Every
// team of the first works out the scalar step for itself, from scalars that nobody writes meanwhile; the second works
// it out once more and stores it.

namespace cnc::kokkos {

/// Entry i of the vectors of `set` into a row.
template <VectorSet set, int k = 0, class V>
KOKKOS_INLINE_FUNCTION void load(const MethodVectors<V>& vectors, offset_t i, Row<V>& row) {
  if constexpr (set >> k != 0) {
    if constexpr (contains(set, k)) row[k] = vectors[k][i];
    load<set, k + 1>(vectors, i, row);
  }
}

/// And out of it.
template <VectorSet set, int k = 0, class V>
KOKKOS_INLINE_FUNCTION void store(const MethodVectors<V>& vectors, offset_t i, const Row<V>& row) {
  if constexpr (set >> k != 0) {
    if constexpr (contains(set, k)) vectors[k][i] = row[k];
    store<set, k + 1>(vectors, i, row);
  }
}

/// The sums of a pass, which name themselves by their place.
template <int N>
struct AddTo {
  Sum<double, N>& sum;
  template <class V>
  KOKKOS_INLINE_FUNCTION void operator()(int k, V a, V b) const {
    sum.value[k] += static_cast<double>(a) * static_cast<double>(b);
  }
};

/// The part [begin, end) of a pass over units. Vectors go through memory between statements, preconditioner and sums:
/// a unit may be many rows, and the next step finds them in the cache.
template <class V, class Pass, class Units>
struct PassOverUnits {
  index_t n;
  Units units;
  MethodVectors<V> v;
  const MethodScalars* scalars;
  PassPart part;

  KOKKOS_FUNCTION void move(const Pass& pass, index_t i) const {
    const index_t first = units.first(i);
    const index_t end = first + units.height(i, n);
    if (part != PassPart::after)
      for (index_t k = first; k < end; ++k) {
        Row<V> row;
        load<Pass::reads>(v, k, row);
        pass(row);
        store<Pass::writes>(v, k, row);
      }
    if constexpr (Pass::M.active())
      if (part == PassPart::whole) units.apply(i, n, v[Pass::M.from], v[Pass::M.to]);
  }

  template <int N>
  KOKKOS_FUNCTION void add(const Pass& pass, index_t i, Sum<double, N>& sum) const {
    const index_t first = units.first(i);
    const index_t end = first + units.height(i, n);
    for (index_t k = first; k < end; ++k) {
      Row<V> row;
      load<Pass::summed>(v, k, row);
      AddTo<N> to{sum};
      pass.sums_of(row, to);
    }
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t begin, index_t end) const {
    const MethodScalars s = begin_pass<Pass>(*scalars);
    if (s.breakdown != Breakdown::none) return;
    const Pass pass(s);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, begin, end),
                         [&](const index_t i) { move(pass, i); });
  }

  template <class Team, int N>
  KOKKOS_FUNCTION void operator()(const Team& team, index_t begin, index_t end,
                                  Sum<double, N>& sum) const {
    const MethodScalars s = begin_pass<Pass>(*scalars);
    if (s.breakdown != Breakdown::none) return;
    const Pass pass(s);
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, begin, end),
        [&](const index_t i, Sum<double, N>& partial) {
          move(pass, i);
          add(pass, i, partial);
        },
        sum);
  }
};

/// Moves the scalars on, or records why the pass did nothing.
template <class Pass>
struct StoreScalars {
  MethodScalars* scalars;
  KOKKOS_FUNCTION void store(const double* sums) const {
    MethodScalars s = begin_pass<Pass>(*scalars);
    if (s.breakdown != Breakdown::none) {
      scalars->breakdown = s.breakdown;
      return;
    }
    if constexpr (stores_scalars<Pass>) {
      end_pass<Pass>(s, sums);
      *scalars = s;
    }
  }
  template <int N>
  KOKKOS_FUNCTION void operator()(const Sum<double, N>& total) const {
    store(total.value);
  }
};

/// The same for a pass without sums.
template <class Exec, class Pass>
struct StoreScalarsKernel {
  StoreScalars<Pass> scalars;
  KOKKOS_FUNCTION void operator()(const Team<Exec>& team) const {
    Kokkos::single(Kokkos::PerTeam(team), [&]() { scalars.store(nullptr); });
  }
};

template <Breakdown (*step)(MethodScalars&)>
struct StepIs {};

/// Whether a pass without sums has anything to store: scalars, or the breakdown that its own step may find. As types,
/// because a sanitized build takes no comparison of two functions for a constant.
template <class Pass>
inline constexpr bool stores_without_sums =
    Pass::stores || !std::is_same_v<StepIs<Pass::step>, StepIs<PassDefaults::step>>;

template <class Exec, class V, class Pass, class Units>
void run_over_units(const Queue& queue, index_t n, const Units& units,
                    const MethodVectors<V>& vectors, MethodScalars* scalars, PassPart part) {
  constexpr int N = Pass::sums.count;
  const PassOverUnits<V, Pass, Units> body{n, units, vectors, scalars, part};
  const index_t count = ceil_div(n, units.scalars());
  const index_t per_part = units_per_part(units.scalars());
  if constexpr (N > 0) {
    if (part != PassPart::before)
      return sum_parts<Exec, N>("cnc::pass_sums", queue, entry_team<Exec>, count, per_part, body,
                                StoreScalars<Pass>{scalars});
  }
  if (part != PassPart::after)
    for_each_part<Exec>("cnc::pass", queue, entry_team<Exec>, count, per_part, body);
  if constexpr (N == 0 && stores_without_sums<Pass>) {
    // A breakdown belongs to the statements; scalars are stored at the end.
    if (part != (Pass::stores ? PassPart::before : PassPart::after))
      for_one_team<Exec>("cnc::scalars", queue, StoreScalarsKernel<Exec, Pass>{{scalars}});
  }
}

/// One of them. Rows belong together only where this kernel applies the preconditioner.
template <class Exec, class V, class Pass>
void run_pass(const Queue& queue, index_t n, const PreconditionerOperand<V>& M,
              const MethodVectors<V>& vectors, MethodScalars* scalars, PassPart part) {
  const auto run = [&](const auto& units) {
    run_over_units<Exec, V, Pass>(queue, n, units, vectors, scalars, part);
  };
  if constexpr (Pass::M.active()) {
    if (part == PassPart::whole)
      return with_preconditioner(Pass::M.transposed ? M.transposed() : M, run);
  }
  run(NoPreconditioner<V>());
}

template <class Exec, class V>
void Passes<Exec, V>::run(const Queue& queue, PassName name, index_t n,
                          const PreconditionerOperand<V>& M, const MethodVectors<V>& vectors,
                          MethodScalars* scalars, PassPart part) {
  Methods<V>::for_each([&]<class Method>(int m) {
    if (m != name.method) return;
    for_pass<Method>(
        name, [&]<class Pass>() { run_pass<Exec, V, Pass>(queue, n, M, vectors, scalars, part); });
  });
}

}  // namespace cnc::kokkos
