#pragma once

#include <cnc/contract/pcg.hpp>

namespace cnc::detail {

// The two methods as in the textbook, written once over an engine that offers their steps:
//   direction()               p := z + beta p
//   multiply(p)               q := A p, and the curvature p . q
//   update()                  x, r, z, and the sums r . z and r . r
//   single_reduction_update() p, s, x, r, z, and the same sums
// Each runs until the engine says that it is done: target met, limit reached, or breakdown.

/// Preconditioned conjugate gradients. Hestenes & Stiefel 1952; Buatois, Caumon & Levy 2009, listing 1.
template <class Engine>
void pcg(Engine& engine) {
  while (!engine.done()) {
    engine.direction();
    engine.multiply(engine.vectors().p);
    engine.update();
  }
}

/// The variant with one reduction point per iteration. Chronopoulos & Gear 1989, algorithm 2.2;
/// Dehnavi, Fernandez & Giannacopoulos 2011, section III.
template <class Engine>
void pcg_single_reduction(Engine& engine) {
  while (!engine.done()) {
    engine.multiply(engine.vectors().z);
    engine.single_reduction_update();
  }
}

}  // namespace cnc::detail
