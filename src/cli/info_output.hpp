#pragma once

#include "matrix_source.hpp"
#include "row_histogram.hpp"
#include "spd_evidence.hpp"

#include <cnc/amg.hpp>
#include <cnc/formats.hpp>

#include <iosfwd>
#include <optional>
#include <vector>

namespace cnc::cli {

/// Bytes that one layout of the matrix takes.
struct FormatSize {
  FormatSpec format;
  double bytes_f64 = 0;
  double bytes_f32 = 0;
};

/// Everything that info has found out.
struct MatrixFacts {
  Structure structure;
  SpdEvidence spd;
  std::vector<RowBin> histogram;
  FormatAdvice advice;
  std::vector<FormatSize> sizes;
  std::optional<AmgHierarchy> hierarchy;  ///< where it was asked for
};

void print_facts(std::ostream& out, const LoadedMatrix& matrix, const MatrixFacts& facts);
void write_facts_json(std::ostream& out, const LoadedMatrix& matrix, const MatrixFacts& facts);

}  // namespace cnc::cli
