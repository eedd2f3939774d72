// nlBegin, nlEnd and nlMatrixMode.
#include "nl/call.hpp"

#include <algorithm>
#include <cmath>

namespace cnc::nl {
namespace {

bool rows_are_appended(const Context& c) {
  return c.parameters.least_squares && c.matrix_mode == NL_STIFFNESS_MATRIX;
}

/// A system that was spoilt may be begun again wherever it was left.
void begin_system(Context& c) {
  if (!c.is_spoilt || c.is_solving)
    require_state(c, {State::initial, State::system_constructed, State::solved});
  const Parameters& p = c.parameters;
  if (p.variables == 0)
    fail(NL_INVALID_OPERATION_CNC, "nlSolverParameteri(NL_NB_VARIABLES, n) comes first");
  if (c.state == State::initial) {
    const std::size_t n = p.variables;
    const double bytes_each = sizeof(index_t) + 1 + (p.own_buffers ? 0.0 : 8.0 * p.systems);
    cnc::detail::require_memory("variables", static_cast<double>(n) * bytes_each,
                                MemorySpace::host);
    c.locked.assign(n, 0);
    c.unknowns.assign(n, -1);
    c.buffers.assign(p.systems, {});
    c.row_b.assign(p.systems, 0.0);
    if (!p.own_buffers) c.values.assign(n * p.systems, 0.0);
    for (std::size_t k = 0; k < c.buffers.size() && !p.own_buffers; ++k)
      c.buffers[k].address = reinterpret_cast<std::byte*>(c.values.data() + k * n);
  }
  c.is_spoilt = false;
  c.is_numbered = false;
  c.matrix_mode = NL_STIFFNESS_MATRIX;
  c.stiffness.reset();
  c.mass.reset();
  c.state = State::system;
}

/// What the caller has left open.
void settle_parameters(Context& c) {
  Parameters& p = c.parameters;
  if (p.asked_solver != NL_SOLVER_DEFAULT) return;
  const bool is_symmetric = p.least_squares || p.symmetric;
  p.solver = is_symmetric ? NL_CG : NL_BICGSTAB;
  if (!p.preconditioner_asked)
    p.preconditioner = is_symmetric ? NL_PRECOND_JACOBI : NL_PRECOND_NONE;
  if (!p.max_iterations_asked)
    p.max_iterations = 5 * static_cast<NLuint>(std::max(c.free_variables, index_t{1}));
}

/// Numbers the unknowns: with the pattern, or with the matrix.
void number_unknowns(Context& c) {
  if (c.is_numbered) return;
  c.free_variables = 0;
  for (std::size_t i = 0; i < c.locked.size(); ++i)
    c.unknowns[i] = c.locked[i] != 0 ? -1 : c.free_variables++;
  c.is_numbered = true;
  c.b.clear();
  if (!c.parameters.least_squares)
    c.b.assign(static_cast<std::size_t>(c.free_variables) * c.parameters.systems, 0.0);
  c.normal_b.clear();
  c.normal_b_is_given = false;
  settle_parameters(c);
}

void begin_pattern(Context& c) {
  require_state(c, {State::system});
  if (c.parameters.least_squares)
    fail(NL_INVALID_OPERATION_CNC, "a least-squares problem has no pattern");
  if (c.assembly().has_pattern() || c.assembly().is_constructed())
    fail(NL_INVALID_OPERATION_CNC, "the matrix has a pattern, or is constructed, already");
  number_unknowns(c);
  c.assembly().begin_pattern(c.free_variables, c.parameters.symmetric);
  c.state = State::pattern;
}

void require_buffers(const Context& c) {
  for (std::size_t k = 0; k < c.buffers.size(); ++k)
    if (c.buffers[k].address == nullptr)
      fail(NL_INVALID_OPERATION_CNC,
           "the variables of system " + std::to_string(k) + " have no buffer: call nlBindBuffer");
}

void begin_matrix(Context& c) {
  require_state(c, {State::system});
  if (c.assembly().is_constructed())
    fail(NL_INVALID_OPERATION_CNC, "the matrix is constructed already");
  require_buffers(c);
  number_unknowns(c);
  c.assembly().begin(c.free_variables, rows_are_appended(c));
  c.current_row = 0;
  c.entries_were_added = false;
  c.row_scaling = 1;
  std::fill(c.row_b.begin(), c.row_b.end(), 0.0);
  c.state = State::matrix;
}

void begin_row(Context& c) {
  require_state(c, {State::matrix});
  if (c.assembly().has_pattern())
    fail(NL_INVALID_OPERATION_CNC, "a matrix with a pattern has no rows: use nlAddIJCoefficient");
  if (!rows_are_appended(c) && c.current_row == c.free_variables)
    fail(NL_INVALID_OPERATION_CNC,
         "there are more rows than the " + std::to_string(c.free_variables) + " free variables");
  c.row.clear();
  c.locked_row.clear();
  c.state = State::row;
}

double norm(const std::vector<Coefficient>& first, const std::vector<Coefficient>& second) {
  double sum = 0;
  for (const auto& [i, value] : first) sum += value * value;
  for (const auto& [i, value] : second) sum += value * value;
  return std::sqrt(sum);
}

/// What the row adds to the right-hand side of a system.
double right_hand_side(const Context& c, std::size_t k, double scale) {
  double sum = scale * c.row_b[k];
  for (const auto& [i, value] : c.locked_row)
    sum -= scale * value * c.buffers[k].get(static_cast<std::size_t>(i));
  return sum;
}

void end_row(Context& c) {
  require_state(c, {State::row});
  c.state = State::matrix;
  double scale = c.row_scaling;
  if (c.parameters.normalize_rows) {
    const double length = norm(c.row, c.locked_row);
    if (length > 0) scale /= length;
  }
  if (scale != 1)
    for (auto& [unknown, value] : c.row) value *= scale;
  const bool is_appended = rows_are_appended(c);
  if (is_appended)
    c.assembly().append_row(c.row);
  else
    c.assembly().add_row(c.current_row, c.row);
  if (c.matrix_mode == NL_STIFFNESS_MATRIX)
    for (std::size_t k = 0; k < c.row_b.size(); ++k) {
      const double value = right_hand_side(c, k, scale);
      if (is_appended)
        c.b.push_back(value);
      else
        c.b[k * static_cast<std::size_t>(c.free_variables) +
            static_cast<std::size_t>(c.current_row)] = value;
    }
  ++c.current_row;
  std::fill(c.row_b.begin(), c.row_b.end(), 0.0);
  c.row_scaling = 1;
}

void end_pattern(Context& c) {
  require_state(c, {State::pattern});
  c.assembly().pattern().compile();
  c.state = State::system;
}

void end_matrix(Context& c) {
  require_state(c, {State::matrix});
  c.state = State::matrix_constructed;
  const bool rows_count = !rows_are_appended(c) && !c.entries_were_added &&
                          !c.assembly().has_pattern() && c.parameters.matrix_function == nullptr;
  if (rows_count && c.current_row != c.free_variables)
    fail(NL_INVALID_OPERATION_CNC, "there are " + std::to_string(c.current_row) + " rows, and " +
                                       std::to_string(c.free_variables) + " free variables");
  if (!c.is_spoilt) c.assembly().end();
}

void end_system(Context& c) {
  require_state(c, {State::matrix_constructed});
  c.state = State::system_constructed;
}

}  // namespace
}  // namespace cnc::nl

using namespace cnc::nl;

void nlBegin(NLenum primitive) {
  on_current("nlBegin", [&](Context& c) {
    switch (primitive) {
      case NL_SYSTEM: return begin_system(c);
      case NL_MATRIX_PATTERN: return begin_pattern(c);
      case NL_MATRIX: return begin_matrix(c);
      case NL_ROW: return begin_row(c);
      default: fail_unknown(primitive);
    }
  });
}

void nlEnd(NLenum primitive) {
  on_current("nlEnd", [&](Context& c) {
    switch (primitive) {
      case NL_SYSTEM: return end_system(c);
      case NL_MATRIX_PATTERN: return end_pattern(c);
      case NL_MATRIX: return end_matrix(c);
      case NL_ROW: return end_row(c);
      default: fail_unknown(primitive);
    }
  });
}

void nlMatrixMode(NLenum matrix) {
  on_current("nlMatrixMode", [&](Context& c) {
    require_state(c, {State::system, State::matrix_constructed});
    if (matrix != NL_STIFFNESS_MATRIX && matrix != NL_MASS_MATRIX) fail_unknown(matrix);
    c.matrix_mode = matrix;
    c.state = State::system;
  });
}
