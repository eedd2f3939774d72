#pragma once

#include "solve/diagnosis.hpp"

#include <algorithm>
#include <span>
#include <string>

namespace cnc::detail {

/// What Method::automatic chooses from. Those from bicgstab2 on take every matrix; each gmres has four times as long a cycle as
/// the one before; bicg and cgnr need the transpose, which is laid out when it is reached. cgnr comes before the long cycles of
/// gmres if it is on the way to the tolerance, and after them in any case.
inline constexpr Method candidates[] = {Method::pcg_smoothed, Method::pcg,      Method::minres,
                                        Method::bicgstab2,    Method::bicgstab, Method::bicg,
                                        Method::gmres,        Method::cgnr,     Method::gmres,
                                        Method::gmres,        Method::cgnr};
inline constexpr std::size_t first_for_indefinite = 2, first_for_any = 3;
static_assert(candidates[first_for_indefinite] == Method::minres &&
              candidates[first_for_any] == Method::bicgstab2);

/// The same with a preconditioner that varies: from flexible_for_any on they take every matrix.
inline constexpr Method flexible_candidates[] = {Method::pcg_flexible, Method::fgmres,
                                                 Method::fgmres, Method::fgmres};
inline constexpr std::size_t flexible_for_any = 1;

/// Whether a method is made for a preconditioner that varies.
constexpr bool allows_varying(Method method) {
  return method_facts(method).stationary ||
         std::find(std::begin(flexible_candidates), std::end(flexible_candidates), method) !=
             std::end(flexible_candidates);
}

/// Whether a method fails where `before` has failed. It is for where that one is not offered: in plain operations, or for
/// several columns.
constexpr bool fails_with(Method method, Method before) {
  return (method == Method::pcg && before == Method::pcg_smoothed) ||
         (method == Method::bicgstab && before == Method::bicgstab2);
}

/// The facts by which the workspace of a method is allocated: of Method::automatic so many vectors that each of the
/// candidates has its own, none of them x, and one that is free besides.
constexpr MethodFacts workspace_facts(Method method) {
  if (method != Method::automatic) return method_facts(method);
  MethodFacts all;
  for (const Method candidate : candidates)
    all.vectors = std::max(all.vectors, method_facts(candidate).vectors);
  all.x = all.scratch = -1;
  return all;
}
static_assert(std::all_of(std::begin(candidates), std::end(candidates),
                          [](Method method) { return method_facts(method).r == 0; }));

/// The methods of a solve in the order in which they are tried, each where the one before fails.
struct MethodChoice {
  std::span<const Method> methods;
  std::string reason;  ///< of the first; empty where the caller has named it

  /// What Jacobi does about a diagonal that is not positive.
  DiagonalRule diagonal_rule() const {
    const bool named = reason.empty();
    if (method_facts(methods.front()).indefinite)
      return named ? DiagonalRule::magnitude : DiagonalRule::row_norm;
    return named ? DiagonalRule::as_it_is : DiagonalRule::one_for_zero;
  }
};

/// What takes the place of methods that Method::automatic has chosen where the preconditioner is not symmetric.
inline std::span<const Method> for_any_matrix(std::span<const Method> methods) {
  const std::span<const Method> any = std::span<const Method>(candidates).subspan(first_for_any);
  return methods.size() > any.size() ? any : methods;
}

/// What takes the place of methods that Method::automatic has chosen where the preconditioner varies.
inline std::span<const Method> flexible(std::span<const Method> methods) {
  const MethodFacts first = method_facts(methods.front());
  const std::span<const Method> all(flexible_candidates);
  return first.symmetric && !first.indefinite ? all : all.subspan(flexible_for_any);
}

/// `asked` is what the choice points to, unless it is Method::automatic.
///
/// Cost   of Method::automatic: the search for asymmetry, O(nonzeros), once for the values of a matrix; a layout other
///        than CSR is converted for it.
template <class V, class Exec>
MethodChoice choose_methods(const Method* asked, Diagnosis<V, Exec>& diagnosis) {
  const std::span<const Method> all(candidates);
  if (*asked != Method::automatic) return {{asked, 1}, {}};
  const auto from_any = all.subspan(first_for_any);
  if (!diagnosis.look()) return {from_any, "nothing is known of the matrix"};
  if (diagnosis.nonsymmetric())
    return {from_any, "not symmetric: " + diagnosis.asymmetric_entries_text()};
  const std::string row = diagnosis.nonpositive_diagonal_text();
  if (!row.empty()) return {all.subspan(first_for_indefinite), "symmetric, but " + row};
  return {all, "symmetric with a positive diagonal"};
}

}  // namespace cnc::detail
