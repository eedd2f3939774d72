// A program that initialises and finalises Kokkos itself: contexts may be there before and after.
#include <Kokkos_Core.hpp>

#include "problem.h"

int main(int argc, char** argv) {
  static Problem p;
  make_general(&p, 40, 81);
  Kokkos::initialize(argc, argv);
  const NLContext context = new_context(&p);
  say_system(&p);
  solve_and_check(&p, "a system under the program's Kokkos");
  Kokkos::finalize();
  CHECK(nlGetVariable(0) == nlMultiGetVariable(0, 0));
  CHECK(nlGetErrorCNC() == NL_NO_ERROR_CNC);
  nlUpdateRightHandSide(p.start[0]);
  CHECK(nlSolve() == NL_FALSE);
  CHECK(nlGetErrorCNC() != NL_NO_ERROR_CNC);
  CHECK(nlNewContext() == nullptr);
  CHECK(nlGetErrorCNC() == NL_INVALID_OPERATION_CNC);
  nlDeleteContext(context);
  CHECK(nlGetErrorCNC() == NL_NO_ERROR_CNC);
  return failures == 0 ? 0 : 1;
}
