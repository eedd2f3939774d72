#include "partition_output.hpp"

#include "table.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <cnc/version.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <ostream>

namespace cnc::cli {

std::string ranks_text(const RowsOnRanks& on) {
  std::string text = print(
      "%d, partition %s, the most entries on one %.2f times the mean, %.2g %% of them in columns "
      "of others, up to %d neighbour%s",
      on.ranks, on.partition.c_str(), on.imbalance, 100 * on.cut, on.neighbours,
      plural(on.neighbours));
  if (!on.link.empty()) text += ", through " + on.link;
  return text;
}

nlohmann::json ranks_json(const RowsOnRanks& on) {
  nlohmann::json json = {{"count", on.ranks},
                         {"imbalance", on.imbalance},
                         {"cut", on.cut},
                         {"neighbours", on.neighbours},
                         {"partition", on.partition}};
  if (!on.link.empty()) json["link"] = on.link;
  return json;
}

void print_partition(std::ostream& out, const CutMatrix& cut) {
  out << matrix_line(cut.matrix);
  out << labelled("Ranks", ranks_text(cut.on_ranks)) << '\n';
  Table table({{"rank"},
               {"rows"},
               {"entries"},
               {"in columns of others"},
               {"boundary rows"},
               {"entries of x from others"},
               {"neighbours"}});
  for (std::size_t rank = 0; rank < cut.parts.size(); ++rank) {
    const PartOfRank& part = cut.parts[rank];
    table.add({std::to_string(rank), count_text(part.rows), count_text(part.entries),
               count_text(part.halo_entries), count_text(part.boundary_rows), count_text(part.halo),
               std::to_string(part.neighbours)});
  }
  table.print(out);
}

void write_partition_json(std::ostream& out, const CutMatrix& cut) {
  nlohmann::json json = {{"cnc_version", version_string},     {"name", cut.matrix.name},
                         {"seconds", cut.matrix.seconds},     {"rows", cut.matrix.A.rows},
                         {"nonzeros", cut.matrix.A.nonzeros}, {"ranks", ranks_json(cut.on_ranks)},
                         {"parts", nlohmann::json::array()}};
  for (const PartOfRank& part : cut.parts)
    json["parts"].push_back({{"rows", part.rows},
                             {"entries", part.entries},
                             {"halo_entries", part.halo_entries},
                             {"boundary_rows", part.boundary_rows},
                             {"halo", part.halo},
                             {"neighbours", part.neighbours}});
  out << json.dump(2) << '\n';
}

namespace {

/// How many times as fast as the first, where both mean something.
double speed_up(const RanksTiming& timing, const RanksTiming& first) {
  const bool means = timing.iteration.resolved() && first.iteration.resolved();
  return means ? first.iteration.median / timing.iteration.median
               : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

void print_ranks(std::ostream& out, const std::vector<RanksTiming>& timings) {
  Table table({{"ranks"},
               {"threads of each"},
               {"most entries / mean"},
               {"in columns of others"},
               {"neighbours"},
               {"prepare"},
               {"PCG iteration"},
               {"times as fast"},
               {"through", Table::Align::left}});
  for (const RanksTiming& timing : timings) {
    const RowsOnRanks& on = timing.on_ranks;
    const double ratio = speed_up(timing, timings.front());
    table.add({std::to_string(on.ranks), std::to_string(timing.threads),
               print("%.2f", on.imbalance), print("%.2g %%", 100 * on.cut),
               std::to_string(on.neighbours), seconds_text(timing.prepare_seconds),
               timing.iteration.resolved() ? seconds_text(timing.iteration.median) : "noise",
               std::isnan(ratio) ? "-" : print("%.2f", ratio), on.link});
  }
  table.print(out);
}

void write_ranks_json(std::ostream& out, const LoadedMatrix& matrix,
                      const std::vector<RanksTiming>& timings) {
  nlohmann::json json = {{"cnc_version", version_string},
                         {"name", matrix.name},
                         {"rows", matrix.A.rows},
                         {"nonzeros", matrix.A.nonzeros},
                         {"ranks", nlohmann::json::array()}};
  for (const RanksTiming& timing : timings) {
    nlohmann::json entry = ranks_json(timing.on_ranks);
    entry["threads"] = timing.threads;
    entry["prepare_seconds"] = timing.prepare_seconds;
    const Timing& iteration = timing.iteration;
    entry["iteration_seconds"] =
        iteration.resolved() ? nlohmann::json(iteration.median) : nlohmann::json();
    entry["iteration_spread"] = iteration.spread;
    entry["repeats"] = iteration.repeats;
    const double ratio = speed_up(timing, timings.front());
    entry["speed_up"] = std::isnan(ratio) ? nlohmann::json() : nlohmann::json(ratio);
    json["ranks"].push_back(entry);
  }
  out << json.dump(2) << '\n';
}

}  // namespace cnc::cli
