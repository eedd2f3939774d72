#pragma once

#include <petscsys.h>

#include <stdexcept>
#include <string>

namespace cnc::perf::petsc {

/// Errors   std::runtime_error.
inline void check(PetscErrorCode code) {
  if (code != 0) throw std::runtime_error("PETSc: error " + std::to_string(code));
}

/// One process, for as long as the program runs.
inline void initialize() {
  PetscBool done = PETSC_FALSE;
  check(PetscInitialized(&done));
  if (done == PETSC_FALSE) check(PetscInitializeNoArguments());
}

}  // namespace cnc::perf::petsc
