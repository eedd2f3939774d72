#include "compare_output.hpp"

#include "table.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <cnc/version.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <ostream>

namespace cnc::cli {
namespace {

using Align = Table::Align;

std::string rate_text(double rate) { return print(rate < 99.95 ? "%.1f" : "%.0f", rate); }

std::string time_cell(const Measurement& m) {
  return m.timing.measured() ? seconds_text(m.timing.median) : "-";
}
std::string flops_cell(const Measurement& m) {
  return m.timing.measured() ? print("%.2f", m.gigaflops()) : "-";
}
std::string bytes_cell(const Measurement& m) {
  return m.timing.measured() ? rate_text(m.gigabytes_per_second()) : "-";
}
std::string percent_cell(const Measurement& m, double bandwidth) {
  return m.timing.measured() ? print("%.0f", m.gigabytes_per_second() * 1e11 / bandwidth) : "-";
}
std::string name_cell(const Backend* backend) {
  return std::string(backend->name) + (backend->memory == MemorySpace::device ? " (device)" : "");
}
/// What 100 %bw is for a row: its memory's read rate at the size of the matrix.
template <class Row>
double read_speed(const Comparison& c, const Row& row) {
  return c.speed_of(*row.backend).at_size.read;
}
std::string error_cell(const Measurement& m) {
  return m.timing.measured() ? print("%.0e", m.error) : "-";
}

/// The fastest SpMV of one precision; null when none was measured.
const MatrixRow* fastest_of(const std::vector<MatrixRow>& rows, Precision precision) {
  const MatrixRow* best = nullptr;
  for (const MatrixRow& row : rows)
    if (row.precision == precision && row.spmv.timing.measured() &&
        (best == nullptr || row.spmv.timing.median < best->spmv.timing.median))
      best = &row;
  return best;
}

void print_matrix_table(std::ostream& out, const Comparison& c) {
  Table table({{"type", Align::left},
               {"format", Align::left},
               {"backend", Align::left},
               {"SpMV"},
               {"GFLOP/s"},
               {"GB/s"},
               {"%bw"},
               {"error"},
               {"PCG/iter"},
               {"GB/s"},
               {"%bw"}});
  const MatrixRow* last = nullptr;
  for (const MatrixRow& row : c.matrix_rows) {
    if (last != nullptr && last->precision != row.precision) table.add_gap();
    const bool same_type = last != nullptr && last->precision == row.precision;
    const bool same_format = same_type && last->format == row.format;
    table.add(
        {same_type ? "" : to_string(row.precision), same_format ? "" : row.format,
         name_cell(row.backend), time_cell(row.spmv), flops_cell(row.spmv), bytes_cell(row.spmv),
         percent_cell(row.spmv, read_speed(c, row)), error_cell(row.spmv), time_cell(row.pcg),
         bytes_cell(row.pcg), percent_cell(row.pcg, read_speed(c, row))},
        &row == fastest_of(c.matrix_rows, row.precision));
    last = &row;
  }
  table.print(out);
}

void print_vector_table(std::ostream& out, const Comparison& c) {
  Table table({{"type", Align::left},
               {"operation", Align::left},
               {"backend", Align::left},
               {"time"},
               {"GFLOP/s"},
               {"GB/s"},
               {"%bw"},
               {"error"}});
  const VectorRow* last = nullptr;
  for (const char* operation : {"axpy", "dot"})
    for (const VectorRow& row : c.vector_rows) {
      if (row.operation != operation) continue;
      const bool same_operation = last != nullptr && last->operation == row.operation;
      const bool same_type = same_operation && last->precision == row.precision;
      const Measurement& m = row.measurement;
      table.add({same_type ? "" : to_string(row.precision), same_operation ? "" : row.operation,
                 name_cell(row.backend), time_cell(m), flops_cell(m), bytes_cell(m),
                 percent_cell(m, read_speed(c, row)), error_cell(m)});
      last = &row;
    }
  table.print(out);
}

const MatrixRow* reference_csr(const Comparison& c, Precision precision) {
  for (const MatrixRow& row : c.matrix_rows)
    if (row.backend == &find_backend("reference") && row.format == "csr" &&
        row.precision == precision && row.spmv.timing.measured())
      return &row;
  return nullptr;
}

void print_winners(std::ostream& out, const Comparison& c) {
  for (const Precision precision : precisions) {
    const MatrixRow* best = fastest_of(c.matrix_rows, precision);
    if (best == nullptr) continue;
    std::string text = std::string(to_string(precision)) + " SpMV: " + best->format + " on " +
                       name_cell(best->backend) + ", " + seconds_text(best->spmv.timing.median);
    if (const MatrixRow* base = reference_csr(c, precision))
      text += print(", %.2f times as fast as csr on reference",
                    base->spmv.timing.median / best->spmv.timing.median);
    out << labelled("Fastest", text);
  }
}

nlohmann::json measurement_json(const Measurement& m, double bandwidth) {
  if (!m.timing.measured()) return nullptr;
  nlohmann::json json = {{"seconds", m.timing.median},
                         {"fastest_seconds", m.timing.fastest},
                         {"slowest_seconds", m.timing.slowest},
                         {"repeats", m.timing.repeats},
                         {"bytes", m.cost.bytes},
                         {"flops", m.cost.flops},
                         {"gigabytes_per_second", m.gigabytes_per_second()},
                         {"gigaflops", m.gigaflops()},
                         {"bandwidth_fraction", m.gigabytes_per_second() * 1e9 / bandwidth}};
  if (std::isfinite(m.error)) json["error"] = m.error;
  return json;
}

nlohmann::json bandwidth_json(const Bandwidth& b) {
  return {{"working_set_bytes", b.working_set},
          {"read_bytes_per_second", b.read},
          {"triad_bytes_per_second", b.triad}};
}

void print_speed(std::ostream& out, const MemorySpeed& speed) {
  const Bandwidth &at_size = speed.at_size, &memory = speed.memory;
  out << labelled(
      speed.space == MemorySpace::host ? "Bandwidth" : "Device",
      print("%.1f GB/s read over %s, the size of this matrix and its vectors (100 %%bw)",
            at_size.read * 1e-9, bytes_text(static_cast<double>(at_size.working_set)).c_str()));
  if (memory.working_set != at_size.working_set)
    out << labelled("", print("%.1f GB/s read, %.1f GB/s triad over %s, beyond the caches",
                              memory.read * 1e-9, memory.triad * 1e-9,
                              bytes_text(static_cast<double>(memory.working_set)).c_str()));
  else
    out << labelled("", print("%.1f GB/s triad", memory.triad * 1e-9));
}

nlohmann::json speed_json(const MemorySpeed& speed) {
  return {{"at_size", bandwidth_json(speed.at_size)}, {"memory", bandwidth_json(speed.memory)}};
}

}  // namespace

void print_comparison(std::ostream& out, const Comparison& c) {
  out << labelled("Threads", std::to_string(c.threads));
  for (const MemorySpeed& speed : c.speeds) print_speed(out, speed);
  out << '\n';
  print_matrix_table(out, c);
  out << '\n';
  print_vector_table(out, c);
  out << '\n';
  print_winners(out, c);
  for (const std::string& note : c.notes) out << labelled("Note", note);
}

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
    json["matrix_operations"].push_back(
        {{"precision", to_string(row.precision)},
         {"format", row.format},
         {"backend", row.backend->name},
         {"memory", to_string(row.backend->memory)},
         {"spmv", measurement_json(row.spmv, read_speed(c, row))},
         {"pcg_iteration", measurement_json(row.pcg, read_speed(c, row))}});
  json["vector_operations"] = nlohmann::json::array();
  for (const VectorRow& row : c.vector_rows)
    json["vector_operations"].push_back(
        {{"operation", row.operation},
         {"precision", to_string(row.precision)},
         {"backend", row.backend->name},
         {"memory", to_string(row.backend->memory)},
         {"measurement", measurement_json(row.measurement, read_speed(c, row))}});
  out << json.dump(2) << '\n';
}

}  // namespace cnc::cli
