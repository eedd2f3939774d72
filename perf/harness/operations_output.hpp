#pragma once

#include "harness/whole_solves.hpp"

#include <iosfwd>
#include <map>

namespace cnc::perf {

/// What a memory and the processor at it deliver at most, as measured here.
struct Peaks {
  double read = 0, triad = 0;           ///< bytes per second, out of the caches
  std::map<std::string, double> flops;  ///< per second, of "f32" and "f64"; none without a BLAS
  std::string flops_by;                 ///< the libraries that reached them
};

/// Everything that a run found.
struct OperationFindings {
  std::map<std::string, Peaks> peaks;  ///< of "host" and "device"
  std::vector<OperationLine> operations;
  std::vector<SolveLine> solves;
  std::vector<std::string> notes;
};

/// Tables for reading. Without `all`, other backends than the automatic ones in CSR alone.
void print_operations(std::ostream& out, const OperationFindings& findings, bool all);

/// @{
/// A line for each operation, for each solve, for each iteration of a solve in CSR.
void write_operations_csv(const std::string& path, const OperationFindings& findings);
void write_solves_csv(const std::string& path, const OperationFindings& findings);
void write_residuals_csv(const std::string& path, const OperationFindings& findings);
/// @}

}  // namespace cnc::perf
