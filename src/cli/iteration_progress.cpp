#include "iteration_progress.hpp"

#include "text.hpp"

#include <cmath>

namespace cnc::cli {

std::string progress_text(const Progress& progress, double rtol) {
  const double goal = rtol > 0 ? std::log10(rtol) : -16;
  const double share = std::log10(std::max(progress.relative_residual, 1e-300)) / goal;
  return print("  iteration %d  residual %.2e  %s  %s", progress.iteration,
               progress.relative_residual, bar(share, 30).c_str(),
               seconds_text(progress.seconds).c_str());
}

}  // namespace cnc::cli
