#include "harness/operations_output.hpp"

#include "harness/table.hpp"

#include <cnc/io.hpp>

#include <cstdio>
#include <ostream>

namespace cnc::perf {
namespace {

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", value);
  return text;
}

/// Of a peak; 0 where there is none.
std::string share(double peak, double fraction) { return peak > 0 ? percent(fraction) : "-"; }

/// "0.4 %"
std::string small_share(double fraction) { return fixed(100 * fraction, 1) + " %"; }

const Peaks& peaks_of(const OperationFindings& findings, const std::string& memory) {
  static const Peaks none;
  const auto found = findings.peaks.find(memory);
  return found == findings.peaks.end() ? none : found->second;
}

double peak_flops(const Peaks& peaks, const std::string& precision) {
  const auto found = peaks.flops.find(precision);
  return found == peaks.flops.end() ? 0 : found->second;
}

void print_peaks(std::ostream& out, const OperationFindings& findings) {
  Table table({"peaks measured", "read GB/s", "triad GB/s", "f32 GFLOP/s", "f64 GFLOP/s", "by"});
  const auto number = [](double value) { return value > 0 ? fixed(value * 1e-9, 1) : "-"; };
  for (const auto& [memory, peaks] : findings.peaks)
    table.add({memory, number(peaks.read), number(peaks.triad), number(peak_flops(peaks, "f32")),
               number(peak_flops(peaks, "f64")), peaks.flops_by.empty() ? "-" : peaks.flops_by});
  table.print(out);
}

bool is_shown(const OperationLine& line, bool all) {
  return all || line.automatic || line.format.empty() || line.format == "csr";
}

void print_lines(std::ostream& out, const OperationFindings& findings, bool all) {
  std::string heading;
  Table table({});
  for (const OperationLine& line : findings.operations) {
    if (!is_shown(line, all)) continue;
    const std::string own = line.system + ", " + line.precision + ", " + line.memory;
    if (own != heading) {
      if (!table.empty()) table.print(out);
      heading = own;
      out << own << ": " << fixed(line.rows, 0) << " unknowns, " << fixed(line.nonzeros, 0)
          << " nonzeros\n\n";
      table = Table({"operation, backend, format", "time", "spread", "GFLOP/s", "GB/s",
                     "of peak flops", "of memory's speed", "of speed at this size", "fill"});
    }
    const Peaks& peaks = peaks_of(findings, line.memory);
    const double flops = peak_flops(peaks, line.precision);
    table.add(
        {line.operation + ", " + line.backend + (line.format.empty() ? "" : ", " + line.format),
         seconds_text(line.samples.median()), percent(line.samples.spread()),
         fixed(line.gflops(), 2), fixed(line.gigabytes(), 1),
         share(flops, line.share_of_flops(flops)),
         share(peaks.read, line.share_of_bytes(peaks.read)),
         share(line.bandwidth, line.share_of_bytes(line.bandwidth)),
         line.fill > 0 ? percent(line.fill) : "-"});
  }
  if (!table.empty()) table.print(out);
}

void print_solves(std::ostream& out, const OperationFindings& findings) {
  Table table({"whole solves", "status", "iterations", "residual", "assembly", "copy", "prepare",
               "solve", "one iteration", "not iterations: of solve", "of all but assembly"});
  for (const SolveLine& line : findings.solves)
    table.add({line.system + ", " + line.precision + ", " + line.backend + ", " + line.format,
               line.status, std::to_string(line.iterations), short_number(line.residual),
               line.assembly > 0 ? seconds_text(line.assembly) : "-", seconds_text(line.copy),
               seconds_text(line.prepare), seconds_text(line.solve), seconds_text(line.iteration),
               small_share(line.overhead_of_solve()), small_share(line.overhead_of_whole())});
  if (!table.empty()) table.print(out);
}

}  // namespace

void print_operations(std::ostream& out, const OperationFindings& findings, bool all) {
  print_peaks(out, findings);
  print_lines(out, findings, all);
  print_solves(out, findings);
  for (const std::string& note : findings.notes) out << "- " << note << '\n';
}

void write_operations_csv(const std::string& path, const OperationFindings& findings) {
  write_file_atomically(path, [&](std::ostream& out) {
    out << "system,rows,nonzeros,precision,memory,operation,backend,peer,automatic,format,form,"
           "fill,"
           "seconds,fastest,spread,flops,bytes,gflops,gigabytes_per_second,peak_gflops,peak_read,"
           "read_at_size,error\n";
    out.precision(6);
    for (const OperationLine& line : findings.operations) {
      const Peaks& peaks = peaks_of(findings, line.memory);
      out << line.system << ',' << static_cast<std::int64_t>(line.rows) << ','
          << static_cast<std::int64_t>(line.nonzeros) << ',' << line.precision << ',' << line.memory
          << ',' << line.operation << ',' << line.backend << ',' << line.peer << ','
          << line.automatic << ',' << line.format << ',' << line.form << ',' << line.fill << ','
          << line.samples.median() << ',' << line.samples.fastest() << ',' << line.samples.spread()
          << ',' << line.cost.flops << ',' << line.cost.bytes << ',' << line.gflops() << ','
          << line.gigabytes() << ',' << peak_flops(peaks, line.precision) * 1e-9 << ','
          << peaks.read * 1e-9 << ',' << line.bandwidth * 1e-9 << ',' << line.error << '\n';
    }
  });
}

void write_solves_csv(const std::string& path, const OperationFindings& findings) {
  write_file_atomically(path, [&](std::ostream& out) {
    out << "system,precision,memory,backend,format,form,status,iterations,residual,assembly,copy,"
           "prepare,solve,iteration,overhead_of_solve,overhead_of_whole\n";
    out.precision(6);
    for (const SolveLine& line : findings.solves)
      out << line.system << ',' << line.precision << ',' << line.memory << ',' << line.backend
          << ',' << line.format << ',' << line.form << ',' << line.status << ',' << line.iterations
          << ',' << line.residual << ',' << line.assembly << ',' << line.copy << ',' << line.prepare
          << ',' << line.solve << ',' << line.iteration << ',' << line.overhead_of_solve() << ','
          << line.overhead_of_whole() << '\n';
  });
}

void write_residuals_csv(const std::string& path, const OperationFindings& findings) {
  write_file_atomically(path, [&](std::ostream& out) {
    out << "system,precision,memory,backend,iteration,residual\n";
    out.precision(6);
    for (const SolveLine& line : findings.solves) {
      if (line.format != "csr") continue;
      for (std::size_t k = 0; k < line.history.size(); ++k)
        out << line.system << ',' << line.precision << ',' << line.memory << ',' << line.backend
            << ',' << k << ',' << line.history[k] << '\n';
    }
  });
}

}  // namespace cnc::perf
