#pragma once

namespace cnc::openmp {

/// Whether this processor's instructions that gather are faster than a load for each value: Intel's are, unless its microcode slows them
/// down (against gather data sampling, 2023); AMD's are not. Found out before main. Kernels ask once for many rows: asked at
/// every gather, it costs more than it gains.
extern bool gathers_are_fast;

}  // namespace cnc::openmp
