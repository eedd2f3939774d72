#pragma once

#include <cnc/contract/methods/bicg.hpp>
#include <cnc/contract/methods/bicgstab.hpp>
#include <cnc/contract/methods/bicgstab2.hpp>
#include <cnc/contract/methods/cg.hpp>
#include <cnc/contract/methods/cg_flexible.hpp>
#include <cnc/contract/methods/cg_pipelined.hpp>
#include <cnc/contract/methods/cg_single_reduction.hpp>
#include <cnc/contract/methods/cg_smoothed.hpp>
#include <cnc/contract/methods/cgnr.hpp>
#include <cnc/contract/methods/chebyshev.hpp>
#include <cnc/contract/methods/lsqr.hpp>
#include <cnc/contract/methods/minres.hpp>
#include <cnc/contract/methods/richardson.hpp>

#include <type_traits>

namespace cnc {

/// The Krylov methods: those that are made of phases, in the order of Methods, then those that work on a growing basis.
enum class Method {
  automatic = -1,        ///< for solvers: one that suits the matrix, and another where it fails
  pcg = 0,               ///< classic preconditioned CG (Hestenes & Stiefel 1952)
  pcg_single_reduction,  ///< Chronopoulos & Gear 1989: one reduction point per iteration
  bicgstab,              ///< van der Vorst 1992: for matrices that are not symmetric
  pcg_pipelined,         ///< Ghysels & Vanroose 2014: the reduction is under way during the product
  minres,                ///< Paige & Saunders 1975: for symmetric matrices, definite or not
  bicg,                  ///< Fletcher 1976: two products, one with the transpose
  cgnr,                  ///< CG of the normal equations, Hestenes & Stiefel 1952: for any matrix
  richardson,            ///< stationary: Jacobi, Gauss-Seidel and SOR by their preconditioner
  lsqr,  ///< Paige & Saunders 1982: least squares, for any matrix, also one that is not square
  pcg_smoothed,  ///< Schoenauer, Weiss 1990: CG that ends where MINRES does
  bicgstab2,     ///< Sleijpen & Fokkema 1993, l = 2: for spectra far from the real axis
  chebyshev,  ///< Golub & Varga 1961: definite, no inner products, with an interval of eigenvalues
  pcg_flexible,  ///< Notay 2000: CG with a preconditioner that may change from step to step
  gmres,         ///< Saad & Schultz 1986, restarted: for matrices that are not symmetric
  fgmres,        ///< Saad 1993: the same with a preconditioner that may change from step to step
};

namespace methods {

template <class... Method>
struct MethodList {
  static constexpr int size = sizeof...(Method);
  /// Calls f.template operator()<Method>(index) for each of them.
  template <class F>
  static constexpr void for_each(F&& f) {
    int k = 0;
    (f.template operator()<Method>(k++), ...);
  }
};

/// The list of methods: the only one.
template <class V>
using Methods = MethodList<Cg<V>, CgSingleReduction<V>, Bicgstab<V>, CgPipelined<V>, Minres<V>,
                           Bicg<V>, Cgnr<V>, Richardson<V>, Lsqr<V>, CgSmoothed<V>, Bicgstab2<V>,
                           Chebyshev<V>, CgFlexible<V>>;

}  // namespace methods

/// How many methods are made of phases.
inline constexpr int method_count = methods::Methods<double>::size;
/// How many there are in all.
inline constexpr int all_method_count = method_count + 2;
static_assert(static_cast<int>(Method::gmres) == method_count);
static_assert(static_cast<int>(Method::fgmres) == all_method_count - 1);

/// Whether a method is made of phases, which backends execute.
constexpr bool is_phased(Method method) { return static_cast<int>(method) < method_count; }

/// A phase as those see it who only order its execution.
struct PhaseFacts {
  bool is_product = false;        ///< else a pass
  int of = 0;                     ///< product: of this vector
  int to = 0;                     ///< product: into this one
  int with = -1;                  ///< product: the vector of its dot, -1: none
  int with_scalar = -1;           ///< product: where this dot goes
  int self_scalar = -1;           ///< product: where its dot with itself goes, -1: none
  bool transposed = false;        ///< product: with A^T
  methods::Precondition M = {};   ///< pass: what it preconditions
  bool stores = false;            ///< pass: whether it stores scalars
  methods::ScalarList sums = {};  ///< where its sums go; of a product its dots
  /// Pass: the scalars after it, from those before it and its sums; null where it leaves none, and of a product.
  void (*take_sums)(MethodScalars&, const double* sums) = nullptr;
};

/// What there is to know of a method without naming it.
struct MethodFacts {
  const char* name = "";   ///< as programs and reports write it
  const char* title = "";  ///< for people
  bool symmetric = false;  ///< whether the matrix must be
  bool indefinite =
      false;        ///< whether a symmetric one may be indefinite; the preconditioner must not
  int vectors = 0;  ///< those of its enumeration, x among them
  int x = 0;        ///< the iterate
  int r = 0;        ///< its residual
  int rz = -1;      ///< the scalar r . M^-1 r, which an indefinite M makes negative; -1: none
  bool transposes = false;        ///< whether it needs A^T, and M^-T unless normal_equations
  bool normal_equations = false;  ///< whether the preconditioner is one of A^T A
  bool least_squares = false;     ///< whether what converges is A^T (b - A x)
  bool stationary = false;        ///< whether only M decides whether it converges
  bool meets_once = false;        ///< whether one_meeting is a form of it
  bool restarts = false;  ///< whether a new start may cure a breakdown, of rounding or by chance
  /// What an iteration has taken off the square of the energy norm of the error; null: the method does not tell.
  double (*energy_gain)(const MethodScalars&) = nullptr;
  methods::ScalarList parameters = {};  ///< scalars that are given to a start
  int scratch = 0;                      ///< a vector that is free between iterations
  int products = 0;                     ///< with the matrix, in an iteration
  double passes = 0;  ///< vectors read or written in an iteration besides products, with Jacobi
  /// The same in a run whose preconditioner is none or uniform: what only passes read of it is not stored.
  double fewest_passes = 0;
  double flops_per_row = 0;               ///< of an iteration besides products
  PhaseFacts start[max_phases] = {};      ///< the phases before the first iteration
  PhaseFacts iteration[max_phases] = {};  ///< those of an iteration
  int start_phases = 0;                   ///< how many there are
  int iteration_phases = 0;               ///< how many there are
};

namespace methods {
template <class Pass>
constexpr void take_sums_of(MethodScalars& s, const double* sums) {
  s = begin_pass<Pass>(s);
  if (s.breakdown == Breakdown::none) end_pass<Pass>(s, sums);
}

template <class Phase>
constexpr PhaseFacts facts_of_phase() {
  PhaseFacts facts;
  facts.is_product = is_product<Phase>;
  if constexpr (is_product<Phase>) {
    facts.of = Phase::of;
    facts.to = Phase::to;
    if (Phase::dots > 0) facts.with = Phase::with[0], facts.with_scalar = Phase::scalar[0];
    if (Phase::dots > 1) facts.self_scalar = Phase::scalar[1];
    if constexpr (Phase::dots > 0) facts.sums = {Phase::dots, {Phase::scalar[0], Phase::scalar[1]}};
    facts.transposed = Phase::transposed;
  } else {
    static_assert(!Phase::M.active() || contains(Phase::reads | Phase::writes, Phase::M.from));
    facts.M = Phase::M;
    facts.stores = stores_scalars<Phase>;
    facts.sums = Phase::sums;
    if constexpr (Phase::sums.count > 0) facts.take_sums = take_sums_of<Phase>;
  }
  return facts;
}

template <class Method>
constexpr MethodFacts facts_of() {
  MethodFacts facts = {.name = Method::name,
                       .title = Method::title,
                       .symmetric = Method::symmetric,
                       .vectors = Method::vectors,
                       .x = Method::x,
                       .r = Method::r,
                       .rz = Method::definite,
                       .transposes = transposes<Method>,
                       .restarts = Method::restarts,
                       .scratch = Method::scratch,
                       .flops_per_row = Method::flops_per_row};
  if constexpr (requires { Method::indefinite; }) facts.indefinite = Method::indefinite;
  if constexpr (requires { Method::normal_equations; })
    facts.normal_equations = Method::normal_equations;
  if constexpr (requires { Method::least_squares; }) facts.least_squares = Method::least_squares;
  if constexpr (requires { Method::stationary; }) facts.stationary = Method::stationary;
  facts.meets_once = meets_once<Method>;
  facts.start_phases = Method::Start::size;
  facts.iteration_phases = Method::Iteration::size;
  Method::Start::for_each([&]<class Phase>(int k) {
    facts.start[k] = facts_of_phase<Phase>();
    if constexpr (!is_product<Phase>)
      if (Phase::parameters.count > 0) facts.parameters = Phase::parameters;
  });
  Method::Iteration::for_each([&]<class Phase>(int k) {
    facts.iteration[k] = facts_of_phase<Phase>();
    if constexpr (is_product<Phase>) {
      ++facts.products;
      // A dot with a vector that the product itself does not touch.
      facts.passes += Phase::dots > 0 && Phase::with[0] != Phase::of && Phase::with[0] != Phase::to;
    } else
      facts.passes += count(Phase::reads) + count(Phase::writes) + (Phase::M.active() ? 2 : 0);
  });
  facts.fewest_passes = facts.passes;
  Method::Iteration::for_each([&]<class Phase>(int) {
    if constexpr (!is_product<Phase>)
      if (Phase::M.active()) facts.fewest_passes -= Phase::M.passes_only ? 2 : 1;
  });
  using Last = typename Method::Iteration::Last;
  static_assert(!is_product<Last> && stores_scalars<Last>,
                "an iteration ends with a pass that leaves sums");
  if constexpr (requires(const MethodScalars& s) { Last::energy_gain(s); })
    facts.energy_gain = Last::energy_gain;
  if constexpr (!std::is_void_v<typename Method::Finish>)
    static_assert(Method::Finish::sums.count == 0);
  return facts;
}
/// Of GMRES: vectors read and written, and flops, are means over a cycle of 30 steps.
constexpr MethodFacts facts_of_gmres(const char* name, const char* title) {
  enum Vector { r, x, scratch, vectors };
  return {.name = name,
          .title = title,
          .vectors = vectors,
          .x = x,
          .r = r,
          .restarts = true,
          .scratch = scratch,
          .products = 1,
          .passes = 38,
          .fewest_passes = 38,
          .flops_per_row = 66};
}
constexpr auto all_facts() {
  struct All {
    MethodFacts of[all_method_count];
  } all;
  all.of[static_cast<int>(Method::gmres)] =
      facts_of_gmres("gmres", "generalised minimal residuals, restarted");
  all.of[static_cast<int>(Method::fgmres)] =
      facts_of_gmres("fgmres", "flexible generalised minimal residuals, restarted");
  Methods<double>::for_each([&]<class Method>(int k) { all.of[k] = facts_of<Method>(); });
  return all;
}
inline constexpr auto facts_of_methods = all_facts();
}  // namespace methods

/// The facts of one of them, Method::automatic excepted.
constexpr const MethodFacts& method_facts(Method method) {
  return methods::facts_of_methods.of[static_cast<int>(method)];
}

}  // namespace cnc
