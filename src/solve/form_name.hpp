#pragma once

#include <cnc/solver.hpp>

namespace cnc::detail {

/// The name that options have for a form, in one word; reports have those of to_string. Messages name what may be asked for, so
/// they have this one.
inline const char* form_name(SolveForm form) {
  switch (form) {
    case SolveForm::plain_operations: return "plain";
    case SolveForm::fused_steps: return "fused";
    case SolveForm::one_meeting: return "one-meeting";
    default: return to_string(form);
  }
}

}  // namespace cnc::detail
