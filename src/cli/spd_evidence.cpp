#include "spd_evidence.hpp"

#include "text.hpp"

#include <cnc/solver.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace cnc::cli {
namespace {

constexpr index_t probe_limit = 100;

/// Relative asymmetry that assembly in another order of summation leaves behind.
constexpr double rounding = 1e-12;

/// One entry of CSR after the other, without view arithmetic.
struct Entries {
  const index_t* offsets;
  const index_t* columns;
  const double* values;
  explicit Entries(const CsrMatrix<double>& A)
      : offsets(A.row_offsets.data()), columns(A.columns.data()), values(A.values.data()) {}
};

std::vector<double> diagonal_of(const CsrMatrix<double>& A) {
  const Entries e(A);
  std::vector<double> diagonal(static_cast<std::size_t>(A.rows), 0.0);
  for (index_t i = 0; i < A.rows; ++i)
    for (index_t k = e.offsets[i]; k < e.offsets[i + 1]; ++k)
      if (e.columns[k] == i) diagonal[static_cast<std::size_t>(i)] += e.values[k];
  return diagonal;
}

void disprove(SpdEvidence& evidence, std::string reason) {
  if (evidence.verdict == SpdVerdict::disproved) return;
  evidence.verdict = SpdVerdict::disproved;
  evidence.reason = std::move(reason);
}

/// Counts, circles, and the first witnesses on the diagonal and in 2 x 2 minors, in one pass.
void scan_rows(const CsrMatrix<double>& A, SpdEvidence& evidence) {
  const Entries e(A);
  const std::vector<double> diagonal = diagonal_of(A);
  evidence.gershgorin_lowest = std::numeric_limits<double>::infinity();
  evidence.gershgorin_highest = -std::numeric_limits<double>::infinity();
  for (index_t i = 0; i < A.rows; ++i) {
    const double centre = diagonal[static_cast<std::size_t>(i)];
    double radius = 0;
    for (index_t k = e.offsets[i]; k < e.offsets[i + 1]; ++k)
      if (e.columns[k] != i) radius += std::abs(e.values[k]);
    evidence.diagonal_positive += centre > 0;
    evidence.dominant_rows += centre >= radius;
    evidence.gershgorin_lowest = std::min(evidence.gershgorin_lowest, centre - radius);
    evidence.gershgorin_highest = std::max(evidence.gershgorin_highest, centre + radius);
    if (!(centre > 0)) disprove(evidence, print("the diagonal of row %d is %g", i + 1, centre));
  }
}

/// |a(i,j)|^2 < a(i,i) a(j,j) holds for every pair in a positive definite matrix.
void scan_minors(const CsrMatrix<double>& A, SpdEvidence& evidence) {
  const Entries e(A);
  const std::vector<double> diagonal = diagonal_of(A);
  for (index_t i = 0; i < A.rows && evidence.verdict != SpdVerdict::disproved; ++i)
    for (index_t k = e.offsets[i]; k < e.offsets[i + 1]; ++k) {
      const index_t j = e.columns[k];
      const double product =
          diagonal[static_cast<std::size_t>(i)] * diagonal[static_cast<std::size_t>(j)];
      // A hair above the product is rounding of the file, not a witness.
      if (j != i && e.values[k] * e.values[k] > product * (1 + rounding)) {
        disprove(evidence, print("rows %d and %d have a negative 2 x 2 minor", i + 1, j + 1));
        break;
      }
    }
}

/// CG from a rough right-hand side. Whatever else goes wrong in it says nothing about definiteness.
void probe(Context<>& ctx, const CsrMatrix<double>& A, SpdEvidence& evidence) {
  SolveOptions options;
  options.format.name = "csr";
  options.rtol = 1e-14;
  options.max_iterations = probe_limit;
  options.divergence = std::numeric_limits<double>::max();
  Solver<double> solver(ctx, options);
  solver.prepare(A);
  const auto n = static_cast<std::size_t>(A.rows);
  Vector<double> b("b", n), x("x", n);
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < n; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    b(i) = static_cast<double>(state >> 11) * 0x1p-52 - 1;
  }
  const SolveReport report = solver.solve(Vector<const double>(b), x);
  evidence.probe_iterations = report.iterations;
  if (report.status == SolveStatus::not_positive_definite)
    disprove(evidence, print("CG met negative curvature after %d step%s", report.iterations,
                             plural(report.iterations)));
}

std::string asymmetry_text(const Structure& s) {
  if (!s.pattern_symmetric) return "its pattern is not symmetric";
  return print("it is not symmetric: |a(i,j) - a(j,i)| reaches %.2g of the largest entry",
               s.asymmetry);
}

}  // namespace

const char* to_string(SpdVerdict verdict) {
  switch (verdict) {
    case SpdVerdict::disproved: return "no";
    case SpdVerdict::not_refuted: return "no evidence against";
    case SpdVerdict::proved: return "yes";
  }
  return "";
}

SpdEvidence examine_spd(Context<>& ctx, const CsrMatrix<double>& A, const Structure& structure) {
  SpdEvidence evidence;
  if (A.rows != A.cols) {
    disprove(evidence, "it is not square");
    return evidence;
  }
  if (A.rows == 0) {
    evidence.reason = "it is empty";
    return evidence;
  }
  // A value on one side only is still rounding when it is that small, whatever the pattern says.
  if (!structure.value_symmetric && !(structure.asymmetry <= rounding))
    disprove(evidence, asymmetry_text(structure));
  scan_rows(A, evidence);
  scan_minors(A, evidence);
  if (evidence.verdict == SpdVerdict::disproved) return evidence;
  if (evidence.gershgorin_lowest > 0) {
    evidence.verdict = SpdVerdict::proved;
    evidence.reason =
        print("symmetric and strictly diagonally dominant: no eigenvalue below %.3g (Gershgorin)",
              evidence.gershgorin_lowest);
    return evidence;
  }
  probe(ctx, A, evidence);
  if (evidence.verdict == SpdVerdict::disproved) return evidence;
  // Dominance that is not strict everywhere leaves zero possible, and nothing below it.
  const bool dominant = evidence.gershgorin_lowest >= 0;
  evidence.reason = print(
      "%s, no negative curvature in %d CG step%s",
      dominant ? "diagonally dominant, so semidefinite at least" : "symmetric, positive diagonal",
      evidence.probe_iterations, plural(evidence.probe_iterations));
  return evidence;
}

}  // namespace cnc::cli
