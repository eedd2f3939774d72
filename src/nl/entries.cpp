// What is said in NL_MATRIX_PATTERN, NL_MATRIX and NL_ROW.
#include "nl/call.hpp"

namespace cnc::nl {
namespace {

/// An entry by its row and column: variables are unknowns then.
void require_entry(Context& c, NLuint i, NLuint j) {
  require_state(c, {State::matrix});
  if (c.parameters.least_squares)
    fail(NL_INVALID_OPERATION_CNC,
         "a least-squares problem has rows, and no entries by themselves");
  if (static_cast<NLuint>(c.free_variables) != c.parameters.variables)
    fail(NL_INVALID_OPERATION_CNC, "there are locked variables: use rows");
  require_below("row", i, c.parameters.variables);
  require_below("variable", j, c.parameters.variables);
  // Threads that fill a pattern together read it more often than they write it.
  if (!c.entries_were_added) c.entries_were_added = true;
}

Pattern& require_pattern(Context& c) {
  if (!c.assembly().has_pattern())
    fail(NL_INVALID_OPERATION_CNC, "entries have indices where NL_MATRIX_PATTERN came first");
  return c.assembly().pattern();
}

void add_right_hand_side(const char* function, NLuint i, NLuint k, double value) {
  on_current(function, [&](Context& c) {
    require_entry(c, i, 0);
    require_below("system", k, c.parameters.systems);
    c.b[std::size_t{k} * c.parameters.variables + i] += value;
  });
}

void set_right_hand_side(const char* function, NLuint k, double value) {
  on_current(function, [&](Context& c) {
    require_state(c, {State::row, State::matrix});
    require_below("system", k, c.parameters.systems);
    c.row_b[k] = value;
  });
}

void set_row_parameter(const char* function, NLenum name, double value) {
  on_current(function, [&](Context& c) {
    require_state(c, {State::matrix, State::row});
    switch (name) {
      case NL_RIGHT_HAND_SIDE: c.row_b[0] = value; break;
      case NL_ROW_SCALING: c.row_scaling = value; break;
      default: fail_unknown(name);
    }
  });
}

}  // namespace
}  // namespace cnc::nl

using namespace cnc::nl;
using cnc::index_t;

void nlCoefficient(NLuint i, NLdouble value) {
  on_current("nlCoefficient", [&](Context& c) {
    require_state(c, {State::row});
    require_below("variable", i, c.parameters.variables);
    if (c.locked[i] != 0)
      c.locked_row.emplace_back(static_cast<index_t>(i), value);
    else
      c.row.emplace_back(c.unknowns[i], value);
  });
}

void nlRightHandSide(NLdouble value) { set_right_hand_side("nlRightHandSide", 0, value); }

void nlMultiRightHandSide(NLuint k, NLdouble value) {
  set_right_hand_side("nlMultiRightHandSide", k, value);
}

void nlRowScaling(NLdouble value) {
  on_current("nlRowScaling", [&](Context& c) {
    require_state(c, {State::matrix});
    c.row_scaling = value;
  });
}

void nlRowParameterd(NLenum pname, NLdouble param) {
  set_row_parameter("nlRowParameterd", pname, param);
}

void nlRowParameteri(NLenum pname, NLint param) {
  set_row_parameter("nlRowParameteri", pname, param);
}

NLulong nlAddIJCoefficient(NLuint i, NLuint j, NLdouble value) {
  return on_current("nlAddIJCoefficient", NLulong{Pattern::nowhere}, [&](Context& c) {
    require_entry(c, i, j);
    const auto row = static_cast<index_t>(i), column = static_cast<index_t>(j);
    if (c.assembly().has_pattern()) return NLulong{c.assembly().pattern().add(row, column, value)};
    c.assembly().add(row, column, value);
    return NLulong{Pattern::nowhere};
  });
}

void nlAddIJCoefficientAt(NLuint i, NLuint j, NLdouble value, NLulong index) {
  on_current("nlAddIJCoefficientAt", [&](Context& c) {
    require_entry(c, i, j);
    require_pattern(c).add_at(static_cast<index_t>(i), static_cast<index_t>(j), value, index);
  });
}

void nlSetIJCoefficientAtRowOffset(NLuint i, NLuint j, NLdouble value, NLuint row_offset) {
  on_current("nlSetIJCoefficientAtRowOffset", [&](Context& c) {
    require_entry(c, i, j);
    require_pattern(c).set_at(static_cast<index_t>(i), static_cast<index_t>(j), value, row_offset);
  });
}

void nlAddIRightHandSide(NLuint i, NLdouble value) {
  add_right_hand_side("nlAddIRightHandSide", i, 0, value);
}

void nlMultiAddIRightHandSide(NLuint i, NLuint k, NLdouble value) {
  add_right_hand_side("nlMultiAddIRightHandSide", i, k, value);
}

void nlSetRowLength(NLuint i, NLuint n) {
  on_current("nlSetRowLength", [&](Context& c) {
    require_state(c, {State::pattern});
    require_below("row", i, static_cast<std::uint64_t>(c.free_variables));
    c.assembly().pattern().set_row_length(static_cast<index_t>(i), n);
  });
}
