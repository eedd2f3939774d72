#pragma once

#include <cnc/relaxation.hpp>
#include <cnc/solver.hpp>

#include <optional>
#include <string>
#include <string_view>

// The texts of options, for programs, files and other languages: each is written and read here, so that all of them
// have the same names. Formats have theirs in <cnc/formats.hpp> (parse_format).

namespace cnc {

/// Reads the name of a method, "auto", "pcg" or "bicgstab"; '_' is as good as '-'.
/// Errors   InvalidArgument, with the names that are known.
Method parse_method(std::string_view text);
/// "auto, pcg, pcg-single-reduction, ..."
std::string known_methods();

/// Reads "automatic", "plain", "fused", "run", "streamed", "graph" or "resident", and what to_string writes.
/// Errors   InvalidArgument, with the names that are known.
SolveForm parse_solve_form(std::string_view text);

/// Reads what to_string writes: "fast", "separate", "fused", "compensated-separate" or "compensated-fused".
/// Errors   InvalidArgument, with the names that are known.
Arithmetic parse_arithmetic(std::string_view text);

/// A preconditioner of the library; block_size 0: that of the matrix layout.
struct PreconditionerSpec {
  PreconditionerKind kind = PreconditionerKind::none;  ///< which of those that are built in
  int block_size = 0;                                  ///< of block_jacobi
  std::optional<RelaxationOptions> relaxation = {};    ///< a Relaxation in its place
};
/// Reads "none", "jacobi", "block-jacobi", "block-jacobi:3", "gauss-seidel", and with a relaxation factor "jacobi:0.8",
/// "sor:1.5" and "ssor:1.2"; "gauss-seidel-colours", "sor-colours:1.5" and "ssor-colours" sweep by colours.
/// Errors   InvalidArgument, with the names that are known or the block sizes or factors that there are.
PreconditionerSpec parse_preconditioner(std::string_view text);

}  // namespace cnc
