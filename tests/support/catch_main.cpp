// The main program of every test: Kokkos lives longer than any view of any test case.

#if CNC_CATCH2_VERSION < 3
#define CATCH_CONFIG_RUNNER
#endif
#include "support/catch.hpp"

#include <cnc/backend.hpp>

#include <Kokkos_Core.hpp>
#include <vendor/baselines.hpp>

namespace {

constexpr int exit_code_skipped = 4;

// Kokkos must not write hints about thread binding into the list of test cases that CTest reads.
#if KOKKOS_VERSION >= 30700
Kokkos::InitializationSettings quiet_kokkos() {
  return Kokkos::InitializationSettings().set_disable_warnings(true);
}
#else
Kokkos::InitArguments quiet_kokkos() {
  Kokkos::InitArguments arguments;
  arguments.disable_warnings = true;
  return arguments;
}
#endif

}  // namespace

int main(int argc, char** argv) {
  Catch::Session session;
  if (const int usage_error = session.applyCommandLine(argc, argv); usage_error != 0) {
    return usage_error;
  }
  cnc::add_backends(cnc::baselines());
  // A case that checked nothing has not passed.
  session.configData().warnings = Catch::WarnAbout::NoAssertions;
  const Kokkos::ScopeGuard kokkos(quiet_kokkos());
  const int failures = session.run();
  if (failures == 0 && cnc::test::skipped_cases() > 0) {
    return exit_code_skipped;
  }
  return failures == 0 ? 0 : 1;  // not their number, which may be that of a skipped test
}
