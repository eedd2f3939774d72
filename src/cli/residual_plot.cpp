#include "residual_plot.hpp"

#include "canvas.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>

namespace cnc::cli {
namespace {

constexpr int plot_lines = 12;
constexpr int margin = 10;  // "  1e-08 | "

bool drawable(double residual) { return residual > 0 && std::isfinite(residual); }

/// Decades shown: whole powers of ten around everything that is drawn.
struct Decades {
  double low = 0;
  double high = 0;
};

Decades decades_of(const std::vector<double>& history, double target) {
  double low = 1e300;
  double high = -1e300;
  const auto include = [&](double value) {
    if (!drawable(value)) return;
    low = std::min(low, std::floor(std::log10(value)));
    high = std::max(high, std::ceil(std::log10(value)));
  };
  for (const double residual : history) include(residual);
  include(target);
  return {low, std::max(high, low + 1)};
}

/// Height of a value in dots from the top.
int dot_of(double value, const Decades& decades, int height) {
  const double share = (decades.high - std::log10(value)) / (decades.high - decades.low);
  return static_cast<int>(std::lround(share * (height - 1)));
}

void draw_curve(Canvas& canvas, const std::vector<double>& history, const Decades& decades) {
  const auto points = static_cast<double>(history.size() - 1);
  int last_x = -1;
  int last_y = 0;
  for (std::size_t k = 0; k < history.size(); ++k) {
    if (!drawable(history[k])) continue;
    const int x =
        static_cast<int>(std::lround(static_cast<double>(k) / points * (canvas.width() - 1)));
    const int y = dot_of(history[k], decades, canvas.height());
    // Straight lines between neighbouring points, column by column.
    for (int column = last_x < 0 ? x : last_x + 1; column < x; ++column) {
      const double share = static_cast<double>(column - last_x) / (x - last_x);
      canvas.set(column, static_cast<int>(std::lround(last_y + share * (y - last_y))));
    }
    canvas.stroke(x, x == last_x ? last_y : y, y);
    last_x = x;
    last_y = y;
  }
}

/// Labels at every line whose top dot starts a decade, thinned so that they never touch.
std::string axis_label(int line, const Decades& decades, int lines) {
  const double per_line = (decades.high - decades.low) / (lines - 1);
  const double at = decades.high - line * per_line;
  const double step = std::max(1.0, std::ceil(2 * per_line));
  const double nearest = decades.high - step * std::round((decades.high - at) / step);
  const bool closest = std::abs(at - nearest) <= 0.5 * per_line - 1e-9 || line == 0;
  return closest ? print("1e%+03d", static_cast<int>(nearest)) : "";
}

}  // namespace

void plot_residuals(std::ostream& out, const std::vector<double>& history, double target) {
  if (std::count_if(history.begin(), history.end(), drawable) < 2) return;
  const int columns = terminal().width - margin - 2;
  Canvas canvas(columns, plot_lines, terminal().utf8);
  const Decades decades = decades_of(history, target);
  draw_curve(canvas, history, decades);
  if (drawable(target)) {
    const int y = dot_of(target, decades, canvas.height());
    for (int x = 0; x < canvas.width(); ++x)
      if (x % 6 < 2) canvas.set(x, y);
  }
  for (int line = 0; line < plot_lines; ++line)
    out << styled(Style::dim, pad_left(axis_label(line, decades, plot_lines), margin - 3) + " " +
                                  std::string(glyph("│", "|")) + " ")
        << canvas.line(line) << '\n';
  const std::string first = "0  relative residual";
  const std::string last = count_text(static_cast<long long>(history.size()) - 1) + " iterations";
  out << styled(Style::dim, std::string(margin, ' ') + first +
                                pad_left(last, static_cast<std::size_t>(columns) - first.size()))
      << '\n';
}

}  // namespace cnc::cli
