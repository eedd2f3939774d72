// The interface as a C++ program for OpenNL includes it, with indices of 64 bits and exceptions of its own.
#define GARGANTUA
#include <NL/nl.h>
#include <NL/nl_ext.h>
#include <OpenNL_psm.h>
#include <geogram/NL/nl.h>
#include <nl.h>

#include "problem.h"

#include <stdexcept>
#include <thread>
#include <vector>

namespace {

void indices_of_64_bits() {
  static Problem p;
  make_general(&p, 40, 71);
  new_context(&p);
  nlBegin(NL_SYSTEM);
  nlSetVariable(NLulong{3}, 1.5);
  CHECK(nlVariableIsLocked(NLulong{3}) == NL_FALSE);
  nlBegin(NL_MATRIX);
  for (NLulong i = 0; i < 40; ++i) {
    for (int k = 0; k < row_length; ++k)
      nlAddIJCoefficient(i, static_cast<NLulong>(p.index[i][k]), p.value[i][k]);
    nlAddIRightHandSide(i, p.b[i][0]);
  }
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
  solve_and_check(&p, "indices of 64 bits");
  nlGetVariable((NLulong{1} << 32) + 1);
  CHECK(nlGetErrorCNC() == NL_INVALID_VALUE_CNC);
  nlDeleteContext(nlGetCurrent());
}

void throw_something(NLuint /*iteration*/, NLuint /*max_iterations*/, double /*error*/,
                     double /*max_error*/) {
  throw std::runtime_error("something");
}

/// What a function of the program throws ends the solve, and goes no further.
void exception_in_a_function() {
  static Problem p;
  make_general(&p, 40, 72);
  new_context(&p);
  nlSetFunction(NL_FUNC_PROGRESS, reinterpret_cast<NLfunc>(throw_something));
  say_system(&p);
  CHECK(nlSolve() == NL_FALSE);
  CHECK(nlGetErrorCNC() == NL_SOLVE_FAILED_CNC);
  nlSetFunction(NL_FUNC_PROGRESS, nullptr);
  say_system(&p);
  solve_and_check(&p, "a system after an exception");
  nlDeleteContext(nlGetCurrent());
}

/// Contexts that move between threads.
void moved_contexts() {
  static Problem p;
  make_general(&p, 40, 73);
  const NLContext context = new_context(&p);
  std::thread([&] {
    nlMakeCurrent(context);
    say_system(&p);
  }).join();
  solve_and_check(&p, "a system that another thread said");
  nlDeleteContext(context);
}

}  // namespace

int main() {
  indices_of_64_bits();
  exception_in_a_function();
  moved_contexts();
  return failures == 0 ? 0 : 1;
}
