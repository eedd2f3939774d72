#pragma once

#include <cnc/contract/types.hpp>

#include <cstdint>
#include <iterator>
#include <tuple>
#include <type_traits>

// The words in which a Krylov method is written (methods/): vectors, scalars, and the phases of an iteration. A phase
// is a pass over the rows or a product with the matrix. Backends execute phases; they know no method by name.
//
// A pass is a struct of the method, made from the scalars before any row is touched:
//
//   static constexpr VectorSet reads, writes     vectors of a row that its statements use and change
//   static constexpr Precondition M              after the statements, M.to := M^-1 M.from; nothing by default
//   static constexpr VectorSet summed            what sums_of() uses: read or written by the pass, or M.to
//   static constexpr ScalarList sums             where the sums go
//   static constexpr Breakdown step(MethodScalars&)    the scalar step: coefficients from the sums of earlier phases
//   static constexpr void after(MethodScalars&)        once the sums are there; see stores below
//   explicit constexpr Pass(const MethodScalars&)      takes what the statements need, as V
//   bool is_first                                if the statements ask whether it is the first iteration, by this name:
//                                                backends may then have a loop for it and one for all others
//   constexpr void operator()(Row& v) const      the statements of one row: v[p] = v[z] + beta * v[p]
//   constexpr void sums_of(const Row& v, Add& add) const   add(0, v[r], v[z]): the first sum takes r z of this row
//
// Every thread works out the scalar step for itself, from the same memory. Only a pass that leaves sums stores what
// its step computed, together with them; what a pass without sums computes is forgotten, a breakdown excepted. So between the sums of one
// phase and the scalar step of the next an all-reduce over processes has its place. Once a breakdown is set, no pass
// but those of a start does anything.
//
// V is the type of the vectors; the values of a row may be packs of V: the same entry of several neighbouring rows.

namespace cnc {

/// Why an iteration cannot go on. Set in the backend's memory space.
enum class Breakdown : std::int32_t {
  none = 0,
  not_positive_definite = 1,  ///< p.Ap < 0 or r.z < 0
  not_finite = 2,             ///< a NaN or an Inf in a divisor or dividend
  zero_divisor = 3,           ///< an inner product to divide by is 0 while r is not
};

/// Vectors of a method at most.
inline constexpr int max_method_vectors = 12;
/// Scalars of a method at most.
inline constexpr int max_method_scalars = 12;
/// Phases of a start or of an iteration at most.
inline constexpr int max_phases = 10;

/// Scalars of a solve, kept in the backend's memory space so that no phase waits for the host; indexed by the method's
/// enumeration Scalar, whose first is rr = r . r and whose last, scalars, is their number. Always double: every
/// reduction accumulates in double.
struct MethodScalars {
  double value[max_method_scalars] = {};  ///< by the method's enumeration
  Breakdown breakdown = Breakdown::none;  ///< why the iteration ended early
  /// Whether no iteration has been done since the start: directions that do not exist yet are not read.
  std::int32_t first = 1;

  constexpr double& operator[](int k) { return value[k]; }       ///< by its name
  constexpr double operator[](int k) const { return value[k]; }  ///< the same
  constexpr double rr() const { return value[0]; }               ///< r . r
};

/// The vectors of a solve by the method's enumeration Vector, all [n] in the backend's memory space, none overlapping.
template <class V>
struct MethodVectors {
  V* at[max_method_vectors] = {};                         ///< by the method's enumeration
  constexpr V* operator[](int k) const { return at[k]; }  ///< the same
  bool operator==(const MethodVectors&) const = default;
};

/// Methods, and the words in which they are written.
namespace methods {

/// A set of vectors of a method, one bit each.
using VectorSet = std::uint32_t;
template <class... Vectors>
constexpr VectorSet set_of(Vectors... vectors) {
  return (VectorSet(0) | ... | (VectorSet(1) << static_cast<int>(vectors)));
}
constexpr bool contains(VectorSet set, int vector) { return (set >> vector & 1u) != 0; }
constexpr int count(VectorSet set) {
  int n = 0;
  for (; set != 0; set &= set - 1) ++n;
  return n;
}

/// Names of scalars, in order.
struct ScalarList {
  int count = 0;
  int at[3] = {};
};
template <class... Scalars>
constexpr ScalarList list_of(Scalars... scalars) {
  return {static_cast<int>(sizeof...(scalars)), {static_cast<int>(scalars)...}};
}

/// to := M^-1 from, or M^-T from, row by row or block by block.
struct Precondition {
  int from = -1;  ///< none: no preconditioning
  int to = -1;
  /// Whether `to` is read by passes only, which may work it out again from `from` where that is as cheap as reading.
  bool passes_only = false;
  bool transposed = false;
  constexpr bool active() const { return from >= 0; }
};

/// What a pass is unless it says otherwise.
struct PassDefaults {
  static constexpr VectorSet reads = 0, writes = 0, summed = 0;
  static constexpr Precondition M = {};
  /// A preconditioned vector that this pass reads and that passes_only allows to be worked out again.
  static constexpr Precondition again = {};
  static constexpr ScalarList sums = {};
  /// Whether it belongs to a start, which takes no notice of the scalars that are there.
  static constexpr bool starts = false;
  /// Scalars that a start is given: it takes notice of these.
  static constexpr ScalarList parameters = {};
  /// Whether it stores scalars although it leaves no sums.
  static constexpr bool stores = false;
  /// Vectors of other rows from which the operand of the product that follows can be formed while it is gathered,
  /// instead of by this pass; 0: it cannot.
  static constexpr VectorSet operand_reads = 0;
  static constexpr Breakdown step(MethodScalars&) { return Breakdown::none; }
  static constexpr void after(MethodScalars&) {}
  template <class Row, class Add>
  constexpr void sums_of(const Row&, Add&) const {}
};

template <class Pass>
inline constexpr bool stores_scalars = Pass::stores || Pass::sums.count > 0;

/// The scalars after the step of a pass; with a breakdown set, the pass moves nothing.
template <class Pass>
constexpr MethodScalars begin_pass(const MethodScalars& stored) {
  static_assert((Pass::summed &
                 ~(Pass::reads | Pass::writes | (Pass::M.active() ? set_of(Pass::M.to) : 0))) == 0);
  MethodScalars s;
  if constexpr (!Pass::starts) {
    s = stored;
  } else {
    if constexpr (Pass::parameters.count > 0)
      s[Pass::parameters.at[0]] = stored[Pass::parameters.at[0]];
    if constexpr (Pass::parameters.count > 1)
      s[Pass::parameters.at[1]] = stored[Pass::parameters.at[1]];
    static_assert(Pass::parameters.count <= 2);
  }
  if (s.breakdown == Breakdown::none) s.breakdown = Pass::step(s);
  return s;
}

/// The scalars to store at the end of a pass, from what begin_pass gave: without a breakdown only.
template <class Pass>
constexpr void end_pass(MethodScalars& s, const double* sums) {
  // Places as constants: scalars then stay in registers.
  if constexpr (Pass::sums.count > 0) s[Pass::sums.at[0]] = sums[0];
  if constexpr (Pass::sums.count > 1) s[Pass::sums.at[1]] = sums[1];
  if constexpr (Pass::sums.count > 2) s[Pass::sums.at[2]] = sums[2];
  Pass::after(s);
}

/// Writes down what there is to say of iteration k, which has ended with a pass and left s: r . r, and where the pass has
/// `energy_gain`, by how much the square of the energy norm of the error is less than before.
template <class Last>
constexpr void log_iteration(const MethodScalars& s, index_t k, double* history,
                             double* energy_gains) {
  if (history != nullptr) history[k] = s.rr();
  if constexpr (requires { Last::energy_gain(s); })
    if (energy_gains != nullptr) energy_gains[k] = Last::energy_gain(s);
}

/// A dot with the result of a product, left in a scalar.
template <int with_, int scalar_>
struct Dot {
  static constexpr int with = with_, scalar = scalar_;
};

/// to := A of, with up to two dots: to . with of the first, and the second, if there is one, is to . to.
template <int of_, int to_, class... Dots>
struct Product {
  static constexpr bool transposed = false;
  static constexpr int of = of_, to = to_;
  static constexpr int dots = sizeof...(Dots);
  static constexpr int with[dots + 1] = {Dots::with..., -1};
  static constexpr int scalar[dots + 1] = {Dots::scalar..., -1};
  static_assert(dots <= 2);
  static_assert(dots < 2 || with[dots - 1] == to, "the second dot of a product is with itself");
};

/// to := A^T of, with the same.
template <int of, int to, class... Dots>
struct TransposedProduct : Product<of, to, Dots...> {
  static constexpr bool transposed = true;
};

template <class Phase>
inline constexpr bool is_product = false;
template <int of, int to, class... Dots>
inline constexpr bool is_product<Product<of, to, Dots...>> = true;
template <int of, int to, class... Dots>
inline constexpr bool is_product<TransposedProduct<of, to, Dots...>> = true;

/// Phases in the order of their execution.
template <class... Phase>
struct Phases {
  static constexpr int size = sizeof...(Phase);
  static_assert(size <= max_phases);
  using Last = std::tuple_element_t<size - 1, std::tuple<Phase...>>;
  /// Calls f.template operator()<Phase, index>() for each of them.
  template <class F>
  static constexpr void for_each(F&& f) {
    int k = 0;
    (f.template operator()<Phase>(k++), ...);
  }
};

template <class Phases>
constexpr bool has_transposed_product() {
  bool has = false;
  Phases::for_each([&]<class Phase>(int) {
    if constexpr (is_product<Phase>) has = has || Phase::transposed;
  });
  return has;
}
/// Whether a method multiplies with A^T.
template <class Method>
inline constexpr bool transposes = has_transposed_product<typename Method::Iteration>();

/// By which recurrence a method meets once per product, or is resident. One that says with `halo` what it takes does so by its own; another names
/// in `OneMeeting` the `Recurrence` of such a method, whose scalars begin with its own, in which of its `vectors` those of the
/// recurrence are, and the product by which a run that goes on begins (`GoOn`).
template <class Method>
struct OwnRecurrence {
  using Recurrence = Method;
  using GoOn = void;
};
template <class Method>
constexpr auto one_meeting_of() {
  if constexpr (requires { Method::halo; })
    return OwnRecurrence<Method>();
  else if constexpr (requires { typename Method::OneMeeting; })
    return typename Method::OneMeeting();
}
template <class Method>
using OneMeetingOf = decltype(one_meeting_of<Method>());
/// Whether a method has one.
template <class Method>
inline constexpr bool meets_once = !std::is_void_v<OneMeetingOf<Method>>;
/// The vectors of the recurrence among those of a method.
template <class Method, class V>
constexpr MethodVectors<V> vectors_of_recurrence(const MethodVectors<V>& v) {
  using Meeting = OneMeetingOf<Method>;
  if constexpr (requires { Meeting::vectors; }) {
    static_assert(std::size(Meeting::vectors) == Meeting::Recurrence::vectors);
    MethodVectors<V> of;
    for (int k = 0; k < Meeting::Recurrence::vectors; ++k) of.at[k] = v[Meeting::vectors[k]];
    return of;
  } else {
    return v;
  }
}

/// The values of one row, or of a pack of rows, by the method's enumeration Vector.
template <class T>
struct Row {
  T value[max_method_vectors];
  constexpr T& operator[](int k) { return value[k]; }
  constexpr const T& operator[](int k) const { return value[k]; }
};

constexpr bool is_finite(double a) {
  constexpr double limit = 1.7976931348623157e308;
  return a >= -limit && a <= limit;
}

/// Whether dividend / divisor is a step that a method for definite matrices can take: both must be positive. Shared so
/// that all backends break down on the same iteration for the same reason.
constexpr Breakdown check_positive(double dividend, double divisor) {
  if (!is_finite(dividend) || !is_finite(divisor)) return Breakdown::not_finite;
  if (dividend < 0 || divisor < 0) return Breakdown::not_positive_definite;
  if (dividend == 0 || divisor == 0) return Breakdown::zero_divisor;
  return Breakdown::none;
}

/// The same where signs mean nothing.
constexpr Breakdown check_divisor(double dividend, double divisor) {
  if (!is_finite(dividend) || !is_finite(divisor)) return Breakdown::not_finite;
  return divisor == 0 ? Breakdown::zero_divisor : Breakdown::none;
}

}  // namespace methods
}  // namespace cnc
