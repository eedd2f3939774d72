#include "nl/context.hpp"

#include "nl/failure.hpp"

#include <cnc/least_squares.hpp>

#include <mutex>

namespace cnc::nl {

void Context::spoil(const std::string& text) {
  static std::mutex turn;
  const std::lock_guard lock(turn);
  if (is_spoilt) return;
  fault = text;
  is_spoilt = true;
}

void Context::release() {
  host_engine.reset();
  device_engine.reset();
  stiffness = {};
  mass = {};
  normal = {};
  normal_version = 0;
}

const CsrMatrix<double>& system_matrix(Context& c) {
  if (!c.stiffness.is_constructed())
    fail(NL_INVALID_OPERATION_CNC, "the matrix is not constructed yet");
  if (!c.parameters.least_squares) return c.stiffness.matrix();
  if (c.normal_version != c.stiffness.value_version()) {
    c.normal = normal_matrix(c.stiffness.matrix());
    c.normal_version = c.stiffness.value_version();
  }
  return c.normal;
}

const double* system_right_hand_side(Context& c, NLuint k) {
  const auto n = static_cast<std::size_t>(c.free_variables);
  if (!c.parameters.least_squares) return c.b.data() + k * n;
  if (c.normal_b.empty()) {
    const std::size_t systems = c.parameters.systems;
    const CsrMatrix<double>& A = c.stiffness.matrix();
    c.normal_b.assign(n * systems, 0.0);
    for (index_t row = 0; row < A.rows; ++row)
      for (index_t entry = A.row_offsets(row); entry < A.row_offsets(row + 1); ++entry)
        for (std::size_t s = 0; s < systems; ++s)
          c.normal_b[s * n + static_cast<std::size_t>(A.columns(entry))] +=
              A.values(entry) * c.b[static_cast<std::size_t>(row) * systems + s];
  }
  return c.normal_b.data() + k * n;
}

}  // namespace cnc::nl
