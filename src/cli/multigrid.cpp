#include "multigrid.hpp"

#include "terminal.hpp"
#include "text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <ostream>

namespace cnc::cli {

void print_hierarchy(std::ostream& out, const AmgHierarchy& h) {
  const auto dim = [&](const std::string& text) { out << labelled("", styled(Style::dim, text)); };
  out << labelled("Multigrid",
                  print("%zu level%s in %s, %.2f times the nonzeros of the matrix", h.levels.size(),
                        plural(static_cast<long long>(h.levels.size())),
                        h.in_float ? "float" : "double", h.operator_complexity()));
  const bool on_ranks = std::any_of(h.levels.begin(), h.levels.end(),
                                    [](const AmgLevel& level) { return level.ranks != 1; });
  const auto where = [&](int ranks) -> std::string {
    if (!on_ranks) return "";
    return ranks == 0 ? ", on every rank" : print(", on %d rank%s", ranks, plural(ranks));
  };
  for (const AmgLevel& level : h.levels)
    dim(count_text(level.rows) + " rows, " + count_text(level.nonzeros) + " nonzeros, " +
        level.format +
        (level.largest_eigenvalue > 0 ? print(", eigenvalues up to %.3g", level.largest_eigenvalue)
                                      : "") +
        where(level.ranks));
  const int steps = h.smoother_degree;
  if (h.levels.size() > 1)
    dim(h.smoother == AmgSmoother::chebyshev
            ? print("smoothed by Chebyshev's polynomial of degree %d", steps)
            : print("smoothed by %d sweep%s of %s", steps, plural(steps), to_string(h.smoother)));
  if (h.levels_together > 0) dim(print("the last %d levels in one launch", h.levels_together));
  dim("set-up: aggregates " + seconds_text(h.aggregation_seconds) + ", prolongations " +
      seconds_text(h.prolongation_seconds) + ", coarse matrices " +
      seconds_text(h.product_seconds) + ", smoothers " + seconds_text(h.smoother_seconds) +
      ", last level " + seconds_text(h.coarsest_seconds));
}

nlohmann::json hierarchy_json(const AmgHierarchy& h) {
  nlohmann::json levels = nlohmann::json::array();
  for (const AmgLevel& level : h.levels)
    levels.push_back({{"rows", level.rows},
                      {"nonzeros", level.nonzeros},
                      {"block_size", level.block_size},
                      {"format", level.format},
                      {"ranks", level.ranks},
                      {"largest_eigenvalue", level.largest_eigenvalue}});
  return {{"levels", levels},
          {"coarsest_rank", h.coarsest_rank},
          {"in_float", h.in_float},
          {"symmetric", h.symmetric},
          {"levels_together", h.levels_together},
          {"smoother", to_string(h.smoother)},
          {"smoother_degree", h.smoother_degree},
          {"operator_complexity", h.operator_complexity()},
          {"grid_complexity", h.grid_complexity()},
          {"seconds",
           {{"aggregation", h.aggregation_seconds},
            {"prolongation", h.prolongation_seconds},
            {"product", h.product_seconds},
            {"smoother", h.smoother_seconds},
            {"coarsest", h.coarsest_seconds}}}};
}

}  // namespace cnc::cli
