#pragma once

#include "nl/context.hpp"
#include "nl/contexts.hpp"
#include "nl/failure.hpp"

#include <initializer_list>

namespace cnc::nl {

/// Turns the exception that is being handled into a message and an error. In the middle of an assembly it spoils the system.
void report_exception(const char* function, Context* c) noexcept;

/// @{
/// The boundary of the interface: body's result, or `otherwise` where it throws. No exception leaves.
template <class Result, class Body>
Result guarded(const char* function, Result otherwise, const Body& body) noexcept {
  try {
    return body();
  } catch (...) {
    report_exception(function, nullptr);
    return otherwise;
  }
}
template <class Body>
void guarded(const char* function, const Body& body) noexcept {
  guarded(function, 0, [&] {
    body();
    return 0;
  });
}
/// @}

/// @{
/// The same on the calling thread's current context, body(context).
template <class Result, class Body>
Result on_current(const char* function, Result otherwise, const Body& body) noexcept {
  Context* c = nullptr;
  try {
    c = find_current();
    if (c == nullptr)
      fail(NL_INVALID_OPERATION_CNC, "no context is current: call nlNewContext or nlMakeCurrent");
    return body(*c);
  } catch (...) {
    report_exception(function, c);
    return otherwise;
  }
}
template <class Body>
void on_current(const char* function, const Body& body) noexcept {
  on_current(function, 0, [&](Context& c) {
    body(c);
    return 0;
  });
}
/// @}

/// Whether the context is in one of these states.
inline bool is_in(const Context& c, std::initializer_list<State> states) {
  for (const State state : states)
    if (c.state == state) return true;
  return false;
}

[[noreturn]] void fail_out_of_order(const Context& c, std::initializer_list<State> states);

/// Refuses a call that changes the system out of order.
inline void require_state(const Context& c, std::initializer_list<State> states) {
  if (!is_in(c, states) || c.is_solving) fail_out_of_order(c, states);
}

[[noreturn]] void fail_out_of_range(const char* what, std::uint64_t i, std::uint64_t count);

/// Refuses an index that is not in [0, count).
inline void require_below(const char* what, std::uint64_t i, std::uint64_t count) {
  if (i >= count) fail_out_of_range(what, i, count);
}

template <class T>
void require_pointer(const T* pointer) {
  if (pointer == nullptr) fail(NL_INVALID_VALUE_CNC, "a pointer is NULL");
}

/// Refuses a name that the call does not take.
[[noreturn]] void fail_unknown(NLenum name);

}  // namespace cnc::nl
