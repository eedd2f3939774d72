#include "info_output.hpp"

#include "multigrid.hpp"
#include "spy.hpp"
#include "table.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <cnc/version.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace cnc::cli {
namespace {

std::string row_text(const Structure& s) {
  std::string text =
      s.shortest_row == s.longest_row
          ? count_text(s.longest_row) + " entries each"
          : count_text(s.shortest_row) + " to " + count_text(s.longest_row) +
                print(" entries, mean %.3g, deviation %.3g", s.mean_row, s.row_deviation);
  if (s.empty_rows > 0) text += ", " + count_text(s.empty_rows) + " empty";
  return text;
}

std::string symmetry_text(const Structure& s) {
  if (s.rows != s.cols) return "not square";
  if (s.value_symmetric) return "symmetric (pattern and values)";
  const std::string pattern = s.pattern_symmetric ? "symmetric pattern" : "unsymmetric pattern";
  return pattern + print(", values differ by up to %.2g of the largest entry", s.asymmetry);
}

std::string spd_text(const SpdEvidence& spd) {
  const Style style = spd.verdict == SpdVerdict::disproved ? Style::bad : Style::good;
  const std::string verdict =
      spd.verdict == SpdVerdict::disproved ? "not positive definite" : to_string(spd.verdict);
  return styled(style, verdict) + ": " + spd.reason;
}

std::string diagonal_text(const Structure& s, const SpdEvidence& spd) {
  return count_text(spd.diagonal_positive) + " of " + count_text(s.rows) + " entries positive, " +
         count_text(spd.dominant_rows) + " rows diagonally dominant (within rounding)";
}

std::string diagonals_text(const Structure& s) {
  std::string text = count_text(s.diagonals) + " with entries";
  if (s.diagonals > 0 && s.rows > 0)
    text +=
        print(", %.0f %% full", 100.0 * static_cast<double>(s.nonzeros) /
                                    (static_cast<double>(s.diagonals) * std::min(s.rows, s.cols)));
  return text;
}

std::string density_text(const Structure& s) {
  std::string text;
  for (const BlockOccupancy& o : s.occupancy)
    text += print("%sd%d %.2f", text.empty() ? "" : "   ", o.block_size, o.density);
  return text;
}

void print_histogram(std::ostream& out, const std::vector<RowBin>& bins) {
  index_t most = 1;
  for (const RowBin& bin : bins) most = std::max(most, bin.rows);
  Table table({{"entries in row"}, {"rows"}, {"", Table::Align::left}});
  for (const RowBin& bin : bins) {
    const std::string range = bin.shortest == bin.longest
                                  ? count_text(bin.longest)
                                  : count_text(bin.shortest) + "-" + count_text(bin.longest);
    // Full marks only: the empty part of a bar would suggest a limit.
    std::string mark;
    for (int k = 0; k < static_cast<int>(std::ceil(40.0 * bin.rows / most)); ++k)
      mark += glyph("█", "#");
    table.add({range, count_text(bin.rows), mark});
  }
  table.print(out);
}

void print_sizes(std::ostream& out, const MatrixFacts& facts) {
  Table table(
      {{"format", Table::Align::left}, {"f64"}, {"bytes/nonzero"}, {"f32"}, {"bytes/nonzero"}});
  const auto nonzeros = static_cast<double>(facts.structure.nonzeros);
  const auto per_nonzero = [&](double bytes) {
    return nonzeros > 0 ? print("%.2f", bytes / nonzeros) : "-";
  };
  for (const FormatSize& size : facts.sizes)
    table.add({size.format.text(), bytes_text(size.bytes_f64), per_nonzero(size.bytes_f64),
               bytes_text(size.bytes_f32), per_nonzero(size.bytes_f32)},
              size.format == facts.advice.format);
  table.print(out);
}

nlohmann::json structure_json(const Structure& s) {
  nlohmann::json json = {
      {"rows", s.rows},
      {"cols", s.cols},
      {"nonzeros", s.nonzeros},
      {"shortest_row", s.shortest_row},
      {"longest_row", s.longest_row},
      {"mean_row", s.mean_row},
      {"row_deviation", s.row_deviation},
      {"empty_rows", s.empty_rows},
      {"lower_bandwidth", s.lower_bandwidth},
      {"upper_bandwidth", s.upper_bandwidth},
      {"diagonals", s.diagonals},
      {"pattern_symmetric", s.pattern_symmetric},
      {"value_symmetric", s.value_symmetric},
      {"asymmetry", s.asymmetry},
  };
  for (const BlockOccupancy& o : s.occupancy)
    json["block_occupancy"].push_back(
        {{"block_size", o.block_size}, {"blocks", o.blocks}, {"density", o.density}});
  return json;
}

nlohmann::json spd_json(const SpdEvidence& spd) {
  return {
      {"verdict", to_string(spd.verdict)},          {"reason", spd.reason},
      {"diagonal_positive", spd.diagonal_positive}, {"dominant_rows", spd.dominant_rows},
      {"gershgorin_lowest", spd.gershgorin_lowest}, {"gershgorin_highest", spd.gershgorin_highest},
      {"proved_lowest", spd.proved_lowest},         {"probe_iterations", spd.probe_iterations}};
}

}  // namespace

void print_facts(std::ostream& out, const LoadedMatrix& matrix, const MatrixFacts& facts) {
  const Structure& s = facts.structure;
  out << matrix_line(matrix);
  out << labelled("Rows", row_text(s)) << labelled("Symmetry", symmetry_text(s));
  out << labelled("SPD", spd_text(facts.spd));
  if (s.rows == s.cols && s.rows > 0) {
    out << labelled("Diagonal", diagonal_text(s, facts.spd));
    out << labelled("Gershgorin", print("eigenvalues, if real, within [%.4g, %.4g]",
                                        facts.spd.gershgorin_lowest, facts.spd.gershgorin_highest));
  }
  out << labelled("Bandwidth", count_text(s.lower_bandwidth) + " below the diagonal, " +
                                   count_text(s.upper_bandwidth) + " above");
  out << labelled("Diagonals", diagonals_text(s))
      << labelled("Blocks", density_text(s) + "   (useful / stored)");
  out << labelled("Format", styled(Style::bold, facts.advice.format.text()));
  for (const std::string& reason : facts.advice.reasons)
    out << labelled("", styled(Style::dim, reason));
  if (facts.hierarchy) print_hierarchy(out, *facts.hierarchy);
  out << '\n';
  print_sizes(out, facts);
  if (!facts.histogram.empty()) {
    out << '\n';
    print_histogram(out, facts.histogram);
  }
  out << '\n';
  print_spy(out, matrix.A);
}

void write_facts_json(std::ostream& out, const LoadedMatrix& matrix, const MatrixFacts& facts) {
  nlohmann::json json = {
      {"cnc_version", version_string},
      {"name", matrix.name},
      {"seconds", matrix.seconds},
      {"structure", structure_json(facts.structure)},
      {"spd", spd_json(facts.spd)},
      {"advice", {{"format", facts.advice.format.text()}, {"reasons", facts.advice.reasons}}}};
  if (facts.hierarchy) json["multigrid"] = hierarchy_json(*facts.hierarchy);
  json["formats"] = nlohmann::json::array();
  for (const FormatSize& size : facts.sizes)
    json["formats"].push_back({{"format", size.format.text()},
                               {"bytes_f64", size.bytes_f64},
                               {"bytes_f32", size.bytes_f32}});
  json["row_histogram"] = nlohmann::json::array();
  for (const RowBin& bin : facts.histogram)
    json["row_histogram"].push_back(
        {{"shortest", bin.shortest}, {"longest", bin.longest}, {"rows", bin.rows}});
  out << json.dump(2) << '\n';
}

}  // namespace cnc::cli
