// Eigenvalues are not offered: what sets parameters of systems too does so, all else says so.
#include "nl/call.hpp"

#include <limits>

namespace cnc::nl {
namespace {
constexpr const char* not_offered = "eigenvalues are not offered";
}  // namespace
}  // namespace cnc::nl

using namespace cnc::nl;

void nlEigenSolverParameterd(NLenum pname, NLdouble val) {
  if (pname == NL_EIGEN_THRESHOLD) return nlSolverParameterd(pname, val);
  on_current("nlEigenSolverParameterd", [&](Context&) {
    if (pname != NL_EIGEN_SHIFT) fail_unknown(pname);
    fail(NL_UNSUPPORTED_CNC, not_offered);
  });
}

void nlEigenSolverParameteri(NLenum pname, NLint val) {
  switch (pname) {
    case NL_SYMMETRIC:
    case NL_NB_VARIABLES:
    case NL_NB_EIGENS:
    case NL_EIGEN_MAX_ITERATIONS: return nlSolverParameteri(pname, val);
    default: break;
  }
  on_current("nlEigenSolverParameteri", [&](Context&) {
    if (pname != NL_EIGEN_SOLVER) fail_unknown(pname);
    fail(NL_UNSUPPORTED_CNC, not_offered);
  });
}

void nlEigenSolve(void) {
  on_current("nlEigenSolve", [](Context&) { fail(NL_UNSUPPORTED_CNC, not_offered); });
}

double nlGetEigenValue(NLuint /*i*/) {
  return on_current("nlGetEigenValue", std::numeric_limits<double>::quiet_NaN(),
                    [](Context&) -> double { fail(NL_UNSUPPORTED_CNC, not_offered); });
}
