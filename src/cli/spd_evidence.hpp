#pragma once

#include <cnc/context.hpp>
#include <cnc/formats.hpp>

#include <string>
#include <vector>

namespace cnc::cli {

enum class SpdVerdict {
  disproved,    ///< a witness says no
  not_refuted,  ///< nothing found against it, which proves nothing
  proved,       ///< Gershgorin's circles lie right of zero by more than rounding
};

const char* to_string(SpdVerdict verdict);

/// What can be said cheaply about a matrix being symmetric positive definite.
struct SpdEvidence {
  SpdVerdict verdict = SpdVerdict::not_refuted;
  std::string reason;             ///< the witness, or what was tried
  index_t diagonal_positive = 0;  ///< rows with a(i,i) > 0
  index_t dominant_rows = 0;      ///< rows with a(i,i) >= sum of |a(i,j)|, j != i, within rounding
  double gershgorin_lowest = 0;  ///< no eigenvalue is smaller (symmetric matrices), within rounding
  double gershgorin_highest = 0;  ///< nor larger
  double proved_lowest = 0;  ///< the same less n eps times a row's sum: no rounding reaches beyond
  index_t probe_iterations = 0;  ///< CG steps without negative curvature
};

/// Symmetry, the diagonal, every 2 x 2 principal minor, Gershgorin's circles; if all of that is
/// silent, a few CG steps in double, which meet negative curvature sooner or later when
/// there is some. Neither proof nor witness rests on what rounding can do.
SpdEvidence examine_spd(Context<>& ctx, const CsrMatrix<double>& A, const Structure& structure);

}  // namespace cnc::cli
