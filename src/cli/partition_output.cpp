#include "partition_output.hpp"

#include "table.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <cnc/version.hpp>

#include <nlohmann/json.hpp>

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
  out << labelled("Matrix", styled(Style::bold, cut.matrix.name) + "  " +
                                matrix_text(cut.matrix.A) + ", " + origin_text(cut.matrix));
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

}  // namespace cnc::cli
