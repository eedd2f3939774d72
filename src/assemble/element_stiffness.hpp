#pragma once

#include <array>

namespace cnc::detail {

/// Sizes of the Q1 element (square or cube) in `Dim` dimensions. Local node k sits at the corner whose
/// coordinate along axis d is bit d of k.
template <int Dim>
struct Q1 {
  static constexpr int nodes = 1 << Dim;
  static constexpr int unknowns = Dim * nodes;  ///< node by node
  using Stiffness = std::array<std::array<double, unknowns>, unknowns>;
};

/// Stiffness matrix of an isotropic elastic Q1 element with edges of length 1, Young's modulus 1 and
/// Poisson's ratio `poisson_ratio`, by 2-point Gauss quadrature per axis; plane strain in 2-D. Exactly
/// symmetric.
///
/// Source   Hughes, "The Finite Element Method", 1987, chapters 2.7 and 3.
template <int Dim>
typename Q1<Dim>::Stiffness element_stiffness(double poisson_ratio);

}  // namespace cnc::detail
