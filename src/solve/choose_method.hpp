#pragma once

#include "solve/diagnosis.hpp"

#include <algorithm>
#include <span>
#include <string>

namespace cnc::detail {

/// What Method::automatic chooses from. Those from bicgstab on take every matrix; each gmres has four times as long a cycle
/// as the one before; cgnr needs the transpose, which is laid out when it is reached.
inline constexpr Method candidates[] = {Method::pcg,   Method::minres, Method::bicgstab,
                                        Method::gmres, Method::gmres,  Method::gmres,
                                        Method::cgnr};

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
    if (method_facts(methods.front()).indefinite) return DiagonalRule::magnitude;
    return reason.empty() ? DiagonalRule::as_it_is : DiagonalRule::one_for_zero;
  }
};

/// `asked` is what the choice points to, unless it is Method::automatic.
///
/// Cost   of Method::automatic: the search for asymmetry, O(nonzeros), once for the values of a matrix; a layout other
///        than CSR is converted for it.
template <class V, class Exec>
MethodChoice choose_methods(const Method* asked, Diagnosis<V, Exec>& diagnosis) {
  const std::span<const Method> all(candidates);
  if (*asked != Method::automatic) return {{asked, 1}, {}};
  if (!diagnosis.look()) return {all.subspan(2), "nothing is known of the matrix"};
  if (diagnosis.nonsymmetric())
    return {all.subspan(2), "not symmetric: " + diagnosis.asymmetric_entries_text()};
  const std::string row = diagnosis.nonpositive_diagonal_text();
  if (!row.empty()) return {all.subspan(1), "symmetric, but " + row};
  return {all, "symmetric with a positive diagonal"};
}

}  // namespace cnc::detail
