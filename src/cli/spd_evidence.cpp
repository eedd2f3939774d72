#include "spd_evidence.hpp"

#include "text.hpp"

#include <cnc/blas1.hpp>
#include <cnc/spmv.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace cnc::cli {
namespace {

constexpr index_t probe_limit = 100;

/// Relative asymmetry that assembly in another order of summation leaves behind.
constexpr double rounding = 1e-12;

constexpr double epsilon = std::numeric_limits<double>::epsilon();

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

/// Counts, circles, and the first witness on the diagonal, in one pass; gives a(i,i) + sum of |a(i,j)|.
std::vector<double> scan_rows(const CsrMatrix<double>& A, const std::vector<double>& diagonal,
                              SpdEvidence& evidence) {
  const Entries e(A);
  std::vector<double> row_sums(diagonal.size());
  evidence.gershgorin_lowest = std::numeric_limits<double>::infinity();
  evidence.gershgorin_highest = -std::numeric_limits<double>::infinity();
  evidence.proved_lowest = std::numeric_limits<double>::infinity();
  for (index_t i = 0; i < A.rows; ++i) {
    const double centre = diagonal[static_cast<std::size_t>(i)];
    double radius = 0;
    for (index_t k = e.offsets[i]; k < e.offsets[i + 1]; ++k)
      if (e.columns[k] != i) radius += std::abs(e.values[k]);
    const double margin = A.rows * epsilon * (std::abs(centre) + radius);
    row_sums[static_cast<std::size_t>(i)] = std::abs(centre) + radius;
    evidence.diagonal_positive += centre > 0;
    evidence.dominant_rows += centre >= radius - margin;
    evidence.gershgorin_lowest = std::min(evidence.gershgorin_lowest, centre - radius);
    evidence.gershgorin_highest = std::max(evidence.gershgorin_highest, centre + radius);
    evidence.proved_lowest = std::min(evidence.proved_lowest, centre - radius - margin);
    if (!(centre > 0))
      disprove(evidence, print("the diagonal of row %d (counted from 0) is %g", i, centre));
  }
  return row_sums;
}

/// |a(i,j)|^2 < a(i,i) a(j,j) holds for every pair in a positive definite matrix. `slack`: how far
/// a(i,j) may be from the mean of itself and a(j,i).
void scan_minors(const CsrMatrix<double>& A, const std::vector<double>& diagonal, double slack,
                 SpdEvidence& evidence) {
  const Entries e(A);
  for (index_t i = 0; i < A.rows && evidence.verdict != SpdVerdict::disproved; ++i)
    for (index_t k = e.offsets[i]; k < e.offsets[i + 1]; ++k) {
      const index_t j = e.columns[k];
      const double least = std::max(0.0, std::abs(e.values[k]) - slack);
      // Quotients, since the product of two small or large entries leaves the range of double. A hair
      // above one is rounding of the file, not a witness.
      if (j != i && least / diagonal[static_cast<std::size_t>(i)] *
                            (least / diagonal[static_cast<std::size_t>(j)]) >
                        1 + rounding) {
        disprove(evidence,
                 print("rows %d and %d (counted from 0) have a negative 2 x 2 minor", i, j));
        break;
      }
    }
}

Vector<double> rough_vector(std::size_t n) {
  Vector<double> v("b", n);
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < n; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    v(i) = static_cast<double>(state >> 11) * 0x1p-52 - 1;
  }
  return v;
}

/// What rounding can make of p.A p at most: n eps |p|.|A||p|, and |p|.|A||p| <= sum of p(i)^2 times the row sum.
double curvature_rounding(const Vector<double>& p, const std::vector<double>& row_sums) {
  double bound = 0;
  for (std::size_t i = 0; i < row_sums.size(); ++i) bound += p(i) * p(i) * row_sums[i];
  return static_cast<double>(row_sums.size()) * epsilon * bound;
}

/// Jacobi-CG from a rough right-hand side, until p.A p is more negative than rounding can make it.
void probe(Context<>& ctx, const CsrMatrix<double>& A, const std::vector<double>& diagonal,
           const std::vector<double>& row_sums, SpdEvidence& evidence) {
  const std::size_t n = diagonal.size();
  const Vector<double> r = rough_vector(n), z("z", n), p("p", n), q("q", n), inverse("d", n);
  for (std::size_t i = 0; i < n; ++i) inverse(i) = 1 / diagonal[i];
  double rho = 0, first = 0;
  for (index_t& k = evidence.probe_iterations; k < probe_limit; ++k) {
    multiply(ctx, inverse, r, z);
    const double rho_before = std::exchange(rho, dot(ctx, r, z));
    if (k == 0) first = rho;
    if (!(rho > first * 1e-28)) return;  // what is left is rounding
    axpby(ctx, 1.0, z, k == 0 ? 0.0 : rho / rho_before, p);
    spmv(ctx, 1.0, A, p, 0.0, q);
    const double curvature = dot(ctx, p, q);
    if (curvature < 0 && -curvature > curvature_rounding(p, row_sums))
      return disprove(evidence, print("CG met negative curvature after %d step%s", k, plural(k)));
    if (!(curvature > 0) || !std::isfinite(rho / curvature)) return;
    axpy(ctx, -rho / curvature, q, r);
  }
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
  const std::vector<double> diagonal = diagonal_of(A);
  const std::vector<double> row_sums = scan_rows(A, diagonal, evidence);
  const double largest = *std::max_element(row_sums.begin(), row_sums.end());
  scan_minors(A, diagonal, structure.asymmetry * largest, evidence);
  if (evidence.verdict == SpdVerdict::disproved) return evidence;
  if (structure.value_symmetric && evidence.proved_lowest > 0) {
    evidence.verdict = SpdVerdict::proved;
    evidence.reason =
        print("symmetric and strictly diagonally dominant: no eigenvalue below %.3g (Gershgorin)",
              evidence.proved_lowest);
    return evidence;
  }
  probe(ctx, A, diagonal, row_sums, evidence);
  if (evidence.verdict == SpdVerdict::disproved) return evidence;
  evidence.reason =
      print("%s, %s, no negative curvature in %d CG step%s",
            structure.value_symmetric ? "symmetric" : "symmetric but for rounding",
            evidence.dominant_rows == A.rows ? "diagonally dominant, but not by more than rounding"
                                             : "positive diagonal",
            evidence.probe_iterations, plural(evidence.probe_iterations));
  return evidence;
}

}  // namespace cnc::cli
