#pragma once

#include <cnc/amg.hpp>
#include <cnc/automatic_preconditioner.hpp>
#include <cnc/block_jacobi.hpp>
#include <cnc/incomplete.hpp>
#include <cnc/polynomial.hpp>
#include <cnc/relaxation.hpp>
#include <cnc/solver.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <variant>

// The texts of options, for programs, files and other languages: each is written and read here, so that all of them
// have the same names. Formats have theirs in <cnc/formats.hpp> (parse_format).

namespace cnc {

/// Reads the name of a method, "auto", "pcg" or "bicgstab"; '_' is as good as '-'.
/// Errors   InvalidArgument, with the names that are known.
Method parse_method(std::string_view text);
/// "auto, pcg, pcg-single-reduction, ..."
std::string known_methods();

/// Reads "automatic", "plain", "fused", "run", "streamed", "graph", "resident" or "one-meeting", and what to_string writes.
/// Errors   InvalidArgument, with the names that are known.
SolveForm parse_solve_form(std::string_view text);

/// Reads what to_string writes: "fast", "separate", "fused", "compensated-separate" or "compensated-fused".
/// Errors   InvalidArgument, with the names that are known.
Arithmetic parse_arithmetic(std::string_view text);

/// A preconditioner of the library.
struct PreconditionerSpec {
  PreconditionerKind kind = PreconditionerKind::none;  ///< which of those that are built in
  int block_size = 0;  ///< of block_jacobi; 0: as SolveOptions says
  /// An object in their place, by its options.
  std::variant<std::monostate, RelaxationOptions, IncompleteOptions, PolynomialOptions, AmgOptions,
               AutomaticOptions, BlockJacobiOptions>
      object = {};

  bool is_object() const { return object.index() != 0; }  ///< whether make_preconditioner makes one
};

/// Reads "none", "jacobi", "block-jacobi", "block-jacobi:3" (from 17 to 32 an object); "gauss-seidel", and with a relaxation factor "jacobi:0.8",
/// "sor:1.5" and "ssor:1.2"; "gauss-seidel-colours", "sor-colours:1.5" and "ssor-colours", which sweep by colours; "ic0",
/// "ilu0", "ict", "ict:DROP", "ilut" and "ilut:DROP", each with block=ROWS, colours, sweeps=K; "chebyshev:DEGREE"; "amg" and "amg:OPTION,...", each of smoother=NAME, degree=K, strength=S, block=B,
/// coarsest=ROWS, levels=N, cycle=v, w or k, plain, double; "auto" and "auto:SOLVES".
/// Errors   InvalidArgument, with what is known.
PreconditionerSpec parse_preconditioner(std::string_view text);

/// The object that a spec asks for; null for those that are built in.
template <class V, class Exec>
std::shared_ptr<PreconditionerBase<V, Exec>> make_preconditioner(const PreconditionerSpec& spec) {
  using Base = std::shared_ptr<PreconditionerBase<V, Exec>>;
  if (const auto* o = std::get_if<RelaxationOptions>(&spec.object))
    return Base(std::make_shared<Relaxation<V, Exec>>(*o));
  if (const auto* o = std::get_if<IncompleteOptions>(&spec.object))
    return Base(std::make_shared<IncompleteFactorization<V, Exec>>(*o));
  if (const auto* o = std::get_if<BlockJacobiOptions>(&spec.object))
    return Base(std::make_shared<BlockJacobi<V, Exec>>(*o));
  if (const auto* o = std::get_if<PolynomialOptions>(&spec.object))
    return Base(std::make_shared<ChebyshevPolynomial<V, Exec>>(*o));
  if (const auto* o = std::get_if<AmgOptions>(&spec.object))
    return Base(std::make_shared<Amg<V, Exec>>(*o));
  if (const auto* o = std::get_if<AutomaticOptions>(&spec.object))
    return Base(std::make_shared<AutomaticPreconditioner<V, Exec>>(*o));
  return {};
}

}  // namespace cnc
