#include "nl/call.hpp"

#include <array>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>

namespace cnc::nl {
namespace {

const char* place(State state) {
  switch (state) {
    case State::initial: return "before nlBegin(NL_SYSTEM)";
    case State::system: return "in NL_SYSTEM";
    case State::pattern: return "in NL_MATRIX_PATTERN";
    case State::matrix: return "in NL_MATRIX";
    case State::row: return "in NL_ROW";
    case State::matrix_constructed: return "after nlEnd(NL_MATRIX)";
    case State::system_constructed: return "after nlEnd(NL_SYSTEM)";
    case State::solved: return "after nlSolve";
  }
  return "nowhere";
}

/// The exception that is being handled.
Failure as_failure() {
  try {
    throw;
  } catch (const Failure& failure) {
    return failure;
  } catch (const InvalidArgument& error) {
    return {NL_INVALID_VALUE_CNC, error.what()};
  } catch (const UnsupportedOperation& error) {
    return {NL_UNSUPPORTED_CNC, error.what()};
  } catch (const OutOfMemory& error) {
    return {NL_OUT_OF_MEMORY_CNC, error.what()};
  } catch (const std::bad_alloc&) {
    return {NL_OUT_OF_MEMORY_CNC, "out of memory"};
  } catch (const std::length_error&) {
    return {NL_OUT_OF_MEMORY_CNC, "out of memory"};
  } catch (const std::exception& error) {
    return {NL_SOLVE_FAILED_CNC, error.what()};
  } catch (...) {
    return {NL_SOLVE_FAILED_CNC, "a function of the caller's threw an exception"};
  }
}

}  // namespace

void report_exception(const char* function, Context* c) noexcept {
  try {
    const Failure failure = as_failure();
    const bool is_assembling = c != nullptr && c->is_assembling();
    // A program that goes on adding to a spoilt system is told once.
    record_error(failure.code, function, failure.text, !(is_assembling && c->is_spoilt));
    if (is_assembling) c->spoil(std::string(function) + ": " + failure.text);
  } catch (...) {
    std::fputs("nl: out of memory\n", stderr);
  }
}

void fail_out_of_order(const Context& c, std::initializer_list<State> states) {
  std::string text = "out of order: it was called ";
  text += c.is_solving ? "while nlSolve is at work" : place(c.state);
  text += " and belongs";
  const char* join = " ";
  for (const State state : states) {
    text += join;
    text += place(state);
    join = " or ";
  }
  fail(NL_INVALID_OPERATION_CNC, text);
}

void fail_out_of_range(const char* what, std::uint64_t i, std::uint64_t count) {
  std::string text = std::string(what) + " " + std::to_string(i) + " is out of range: there ";
  text += count == 0 ? "are none" : "are 0 to " + std::to_string(count - 1);
  fail(NL_INVALID_VALUE_CNC, text);
}

void fail_unknown(NLenum name) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "0x%x", name);
  fail(NL_INVALID_ENUM_CNC, std::string("it does not take the name ") + text.data());
}

}  // namespace cnc::nl
