#pragma once

#include "peers/assembly.hpp"

#include <string>
#include <vector>

namespace cnc::perf {

/// Pieces of a problem: "hexahedra:N" (8 x 8 per element of N^3), "shuffled:N" (the same in random order with random
/// numbers of nodes), "elasticity:N" (8 x 8 blocks of 3), "triangles:N" (3 x 3 per triangle, two to each of N^2 squares) or
/// "conformal:N" (two equations of six coefficients per triangle, as in least-squares conformal maps).
Pieces assembly_problem(const std::string& text);

/// Other weights for another assembly.
void change_weights(Pieces& pieces);

}  // namespace cnc::perf
