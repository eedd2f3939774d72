#pragma once

#include <iosfwd>
#include <vector>

namespace cnc::cli {

/// Draws residual over iteration, residual on a logarithmic axis, with the target as a dashed line.
/// Draws nothing when fewer than two residuals are positive and finite.
void plot_residuals(std::ostream& out, const std::vector<double>& history, double target);

}  // namespace cnc::cli
