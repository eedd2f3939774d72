#include "compare_output.hpp"

#include "compare_ranking.hpp"
#include "table.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <cmath>
#include <ostream>

namespace cnc::cli {
namespace {

using Align = Table::Align;

std::string rate_text(double rate) { return print(rate < 99.95 ? "%.1f" : "%.0f", rate); }

std::string time_cell(const Measurement& m) {
  if (!m.timing.measured()) return "-";
  return m.timing.resolved() ? seconds_text(m.timing.median) : "noise";
}
/// The spread as a share of the median; of a figure below noise the noise itself.
std::string spread_cell(const Timing& t) {
  if (!t.measured() || std::isnan(t.spread)) return "-";
  const std::string sign(glyph("±", "+-"));
  if (!t.resolved()) return sign + seconds_text(0.5 * t.spread);
  return sign + print("%.0f%%", 50 * t.spread / t.median);
}
std::string flops_cell(const Measurement& m) {
  return m.timing.resolved() ? print("%.2f", m.gigaflops()) : "-";
}
std::string bytes_cell(const Measurement& m) {
  return m.timing.resolved() ? rate_text(m.gigabytes_per_second()) : "-";
}
std::string percent_cell(const Measurement& m) {
  if (!m.timing.resolved()) return "-";
  return print("%.0f%s", 100 * m.bandwidth_fraction(), m.above_stream() ? "*" : "");
}
std::string error_cell(const Measurement& m) {
  return m.timing.measured() ? print("%.0e", m.error) : "-";
}
std::string threads_cell(const Row& row) {
  return on_device(row) ? "dev" : std::to_string(row.threads);
}
/// "csr on openmp (2 threads)"
std::string row_text(const MatrixRow& row) {
  const std::string where =
      on_device(row) ? "device" : print("%d thread%s", row.threads, plural(row.threads));
  return row.format + " on " + row.backend->name + " (" + where + ")";
}

const std::vector<Table::Column> figure_columns = {{"type", Align::left},
                                                   {"", Align::left},
                                                   {"backend", Align::left},
                                                   {"thr"},
                                                   {""},
                                                   {"spread"},
                                                   {"GFLOP/s"},
                                                   {"GB/s"},
                                                   {"%bw"},
                                                   {"error"}};

/// A table of figures: `subject` and `what` name its second and its fifth column.
Table figure_table(const char* subject, const char* what, bool with_error = true) {
  std::vector<Table::Column> columns = figure_columns;
  columns[1].title = subject;
  columns[4].title = what;
  if (!with_error) columns.pop_back();
  return Table(std::move(columns));
}

/// Adds lines whose type and subject are written where they change only.
class Lines {
 public:
  explicit Lines(Table& table) : table_(table) {}
  void add(const Row& row, const std::string& subject, const Measurement& m, bool emphasised) {
    const std::string type = to_string(row.precision);
    const bool same_type = type == type_;
    const bool same_subject = same_type && subject == subject_;
    table_.add({same_type ? "" : type, same_subject ? "" : subject, row.backend->name,
                threads_cell(row), time_cell(m), spread_cell(m.timing), flops_cell(m),
                bytes_cell(m), percent_cell(m), error_cell(m)},
               emphasised);
    type_ = type;
    subject_ = subject;
  }
  void gap() {
    table_.add_gap();
    type_.clear();
  }

 private:
  Table& table_;
  std::string type_, subject_;
};

void print_matrix_table(std::ostream& out, const Comparison& c) {
  Table table = figure_table("format", "SpMV");
  Lines lines(table);
  for (const Precision precision : precisions) {
    const Ranking ranking = rank(c.matrix_rows, precision);
    if (precision != precisions[0]) lines.gap();
    for (const MatrixRow& row : c.matrix_rows)
      if (row.precision == precision) lines.add(row, row.format, row.spmv, &row == ranking.best);
  }
  table.print(out);
}

/// Of those rows that have a PCG iteration.
void print_pcg_table(std::ostream& out, const Comparison& c) {
  Table table = figure_table("format", "PCG/iter", false);
  Lines lines(table);
  bool any = false;
  for (const MatrixRow& row : c.matrix_rows) {
    if (!row.pcg.timing.measured()) continue;
    any = true;
    lines.add(row, row.format, row.pcg, false);
  }
  if (!any) return;
  out << '\n';
  table.print(out);
}

void print_vector_table(std::ostream& out, const Comparison& c) {
  Table table = figure_table("operation", "time");
  Lines lines(table);
  for (const char* operation : {"axpy", "dot"})
    for (const VectorRow& row : c.vector_rows)
      if (row.operation == operation) lines.add(row, operation, row.measurement, false);
  table.print(out);
}

/// "1.20 times as fast as csr on kokkos (1 thread), the second best"
std::string advantage_text(const MatrixRow& best, const MatrixRow& other, const char* role) {
  const Timing &ours = best.spmv.timing, &theirs = other.spmv.timing;
  const std::string text = distinguishable(ours, theirs)
                               ? print("%.2f times as fast as ", theirs.median / ours.median)
                               : "no faster beyond the spread than ";
  return text + row_text(other) + ", " + role;
}

void print_winners(std::ostream& out, const Comparison& c) {
  for (const Precision precision : precisions) {
    const Ranking ranking = rank(c.matrix_rows, precision);
    if (ranking.best == nullptr) continue;
    const MatrixRow& best = *ranking.best;
    out << labelled("Fastest", std::string(to_string(precision)) + " SpMV: " + row_text(best) +
                                   ", " + seconds_text(best.spmv.timing.median));
    if (ranking.second != nullptr)
      out << labelled("", advantage_text(best, *ranking.second, "the second best"));
    if (ranking.same_threads_csr != nullptr && ranking.same_threads_csr != ranking.second)
      out << labelled("",
                      advantage_text(best, *ranking.same_threads_csr, same_threads_csr_text(best)));
  }
}

void print_remarks(std::ostream& out, const Comparison& c) {
  int above = 0, unresolved = 0;
  const auto count = [&](const Measurement& m) {
    above += m.timing.measured() && m.above_stream();
    unresolved += m.timing.measured() && !m.timing.resolved();
  };
  for (const MatrixRow& row : c.matrix_rows) {
    count(row.spmv);
    count(row.pcg);
  }
  for (const VectorRow& row : c.vector_rows) count(row.measurement);
  if (above > 0)
    out << labelled("Note", print("* %d figure%s above what a read stream over as many bytes "
                                  "reached in this run:",
                                  above, plural(above)))
        << labelled("",
                    "the machine was busy during one of the two, a nearer cache served it, or the "
                    "set is so ")
        << labelled("", "small that instructions bound the stream");
  if (unresolved > 0)
    out << labelled("Note", print("noise: %d figure%s no larger than the spread; a larger "
                                  "--min-time may show %s",
                                  unresolved, plural(unresolved), unresolved == 1 ? "it" : "them"));
  for (const std::string& note : c.notes) out << labelled("Note", note);
}

void print_speed(std::ostream& out, const MemorySpeed& speed) {
  const Bandwidth &at_size = speed.at_size, &memory = speed.memory;
  out << labelled(
      speed.space == MemorySpace::host ? "Bandwidth" : "Device",
      print("%.1f GB/s read over %s, the size of this matrix in csr and f64 with its vectors",
            at_size.read * 1e-9, bytes_text(static_cast<double>(at_size.working_set)).c_str()));
  if (memory.working_set != at_size.working_set)
    out << labelled("", print("%.1f GB/s read, %.1f GB/s triad over %s, beyond the caches",
                              memory.read * 1e-9, memory.triad * 1e-9,
                              bytes_text(static_cast<double>(memory.working_set)).c_str()));
  else
    out << labelled("", print("%.1f GB/s triad", memory.triad * 1e-9));
}

}  // namespace

void print_comparison(std::ostream& out, const Comparison& c) {
  out << labelled("Threads", std::to_string(c.threads));
  for (const MemorySpeed& speed : c.speeds) print_speed(out, speed);
  out << '\n';
  print_matrix_table(out, c);
  print_pcg_table(out, c);
  out << '\n';
  print_vector_table(out, c);
  out << '\n';
  print_winners(out, c);
  print_remarks(out, c);
}

}  // namespace cnc::cli
