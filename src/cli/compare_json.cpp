#include "compare_output.hpp"
#include "compare_ranking.hpp"

#include <cnc/version.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <ostream>

namespace cnc::cli {
namespace {

/// `value`, or null when the figure is inside its noise or not a number.
nlohmann::json figure(bool known, double value) {
  return known && std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

nlohmann::json measurement_json(const Measurement& m) {
  if (!m.timing.measured()) return nullptr;
  const bool known = m.timing.resolved();
  nlohmann::json json = {{"seconds", figure(known, m.timing.median)},
                         {"below_noise", !known},
                         {"fastest_seconds", figure(known, m.timing.fastest)},
                         {"slowest_seconds", m.timing.slowest},
                         {"spread_seconds", figure(true, m.timing.spread)},
                         {"repeats", m.timing.repeats},
                         {"bytes", m.cost.bytes},
                         {"flops", m.cost.flops},
                         {"working_set_bytes", m.working_set},
                         {"read_bytes_per_second", m.read_rate},
                         {"gigabytes_per_second", figure(known, m.gigabytes_per_second())},
                         {"gigaflops", figure(known, m.gigaflops())},
                         {"bandwidth_fraction", figure(known, m.bandwidth_fraction())},
                         {"above_read_stream", m.above_stream()}};
  if (std::isfinite(m.error)) json["error"] = m.error;
  return json;
}

nlohmann::json threads_json(const Row& row) {
  return on_device(row) ? nlohmann::json() : nlohmann::json(row.threads);
}

/// The row, and how many times as fast as it `best` is: null when their spreads overlap.
nlohmann::json rival_json(const MatrixRow& best, const MatrixRow* row) {
  if (row == nullptr) return nullptr;
  const Timing &ours = best.spmv.timing, &theirs = row->spmv.timing;
  return {{"format", row->format},
          {"backend", row->backend->name},
          {"threads", threads_json(*row)},
          {"seconds", theirs.median},
          {"times_as_fast", figure(distinguishable(ours, theirs), theirs.median / ours.median)}};
}

nlohmann::json fastest_json(const Comparison& c) {
  nlohmann::json list = nlohmann::json::array();
  for (const Precision precision : precisions) {
    const Ranking ranking = rank(c.matrix_rows, precision);
    if (ranking.best == nullptr) continue;
    const MatrixRow& best = *ranking.best;
    list.push_back({{"precision", to_string(precision)},
                    {"format", best.format},
                    {"backend", best.backend->name},
                    {"threads", threads_json(best)},
                    {"seconds", best.spmv.timing.median},
                    {"second_best", rival_json(best, ranking.second)},
                    {"same_threads_csr", rival_json(best, ranking.same_threads_csr)}});
  }
  return list;
}

nlohmann::json bandwidth_json(const Bandwidth& b) {
  return {{"working_set_bytes", b.working_set},
          {"read_bytes_per_second", b.read},
          {"triad_bytes_per_second", b.triad}};
}

nlohmann::json speed_json(const MemorySpeed& speed) {
  return {{"at_size", bandwidth_json(speed.at_size)}, {"memory", bandwidth_json(speed.memory)}};
}

}  // namespace

void write_comparison_json(std::ostream& out, const LoadedMatrix& matrix, const Comparison& c) {
  nlohmann::json json = {{"cnc_version", version_string},
                         {"threads", c.threads},
                         {"matrix",
                          {{"name", matrix.name},
                           {"rows", matrix.A.rows},
                           {"cols", matrix.A.cols},
                           {"nonzeros", matrix.A.nonzeros}}},
                         {"notes", c.notes}};
  for (const MemorySpeed& speed : c.speeds)
    json[speed.space == MemorySpace::host ? "bandwidth" : "device_bandwidth"] = speed_json(speed);
  json["matrix_operations"] = nlohmann::json::array();
  for (const MatrixRow& row : c.matrix_rows)
    json["matrix_operations"].push_back({{"precision", to_string(row.precision)},
                                         {"format", row.format},
                                         {"backend", row.backend->name},
                                         {"memory", to_string(row.backend->memory)},
                                         {"threads", threads_json(row)},
                                         {"spmv", measurement_json(row.spmv)},
                                         {"pcg_iteration", measurement_json(row.pcg)}});
  json["fastest_spmv"] = fastest_json(c);
  json["vector_operations"] = nlohmann::json::array();
  for (const VectorRow& row : c.vector_rows)
    json["vector_operations"].push_back({{"operation", row.operation},
                                         {"precision", to_string(row.precision)},
                                         {"backend", row.backend->name},
                                         {"memory", to_string(row.backend->memory)},
                                         {"threads", threads_json(row)},
                                         {"measurement", measurement_json(row.measurement)}});
  out << json.dump(2) << '\n';
}

}  // namespace cnc::cli
