// Who initialises Kokkos, and what happens where nobody has. Every case is a process of its own, which a
// Catch2 program with a Kokkos of its own cannot be: kokkos_lifetime_test CASE.

#include <cnc/cnc.hpp>

#include <cstdio>
#include <cstring>
#include <string>

namespace {

using namespace cnc;

int failures = 0;

void check(bool condition, const char* text) {
  if (condition) return;
  std::fprintf(stderr, "failed: %s\n", text);
  ++failures;
}

/// That action() throws an InvalidArgument which names Kokkos and the way out.
template <class Action>
void check_refused(const char* what, const Action& action) {
  try {
    action();
    check(false, what);
  } catch (const InvalidArgument& error) {
    const std::string text = error.what();
    check(text.find("Kokkos is not initialised") != std::string::npos &&
              text.find("cnc::ScopeGuard") != std::string::npos,
          what);
  }
}

void check_everything_refused() {
  check_refused("Context", [] { const Context context; });
  check_refused("Context of a name", [] { const Context context("reference"); });
  check_refused("Context of a backend", [] { const Context<> context(find_backend("reference")); });
  check_refused("zeroed", [] { zeroed<double>("x", 3); });
  check_refused("uninitialized", [] { uninitialized<double>("x", 3); });
  check_refused("generate_problem", [] { generate_problem("poisson2d:4x4"); });
  check_refused("csr_from_triplets", [] {
    const Triplet<double> one{0, 0, 1.0};
    csr_from_triplets<double>(1, 1, {&one, 1});
  });
}

void check_solves() {
  const CsrMatrix<double> A = generate_problem("poisson2d:8x8");
  const auto b = zeroed<double>("b", 64), x = zeroed<double>("x", 64);
  Kokkos::deep_copy(b, 1.0);
  Context context("reference");
  Solver<double> solver(context);
  solver.prepare(A);
  check(solver.solve(b, x).converged(), "a solve under the guard converges");
}

void nobody_has() {
  check_everything_refused();
  // What needs no Kokkos goes on working.
  double value = 1;
  check(wrap(&value, 1).data() == &value, "wrap");
  check(!backends().empty() && availability_of(find_backend("auto")).usable, "find_backend");
}

void the_guard_does() {
  {
    const ScopeGuard guard;
    check(guard.owns_kokkos() && Kokkos::is_initialized(), "the guard initialises Kokkos");
    {
      const ScopeGuard inner;
      check(!inner.owns_kokkos(), "a second guard does nothing");
    }
    check(Kokkos::is_initialized(), "the end of the second guard does nothing");
    check_solves();
  }
  check(!Kokkos::is_initialized(), "the guard finalises Kokkos");
  check_everything_refused();
}

void the_guard_does_with_arguments() {
  std::string program = "program", mine = "--mine", theirs = "--kokkos-num-threads=1";
  char* arguments[] = {program.data(), theirs.data(), mine.data(), nullptr};
  int count = 3;
  const ScopeGuard guard(count, arguments);
  check(guard.owns_kokkos(), "the guard initialises Kokkos");
#if KOKKOS_VERSION >= 30700
  check(count == 2 && std::strcmp(arguments[1], "--mine") == 0, "Kokkos takes its arguments");
#endif
  check_solves();
}

void the_host_program_has() {
  Kokkos::initialize();
  {
    int count = 0;
    const ScopeGuard guard, other(count, nullptr);
    check(!guard.owns_kokkos() && !other.owns_kokkos(), "the guards do nothing");
    check_solves();
  }
  check(Kokkos::is_initialized(), "the host program's Kokkos is alive after the guard");
  Kokkos::finalize();
}

void it_is_over() {
  { const ScopeGuard guard; }
#if KOKKOS_VERSION >= 40000
  try {
    const ScopeGuard again;
    check(false, "a guard after the end of Kokkos");
  } catch (const InvalidArgument&) {
  }
#endif
}

struct Case {
  const char* name;
  void (*run)();
};
constexpr Case cases[] = {{"nobody_has", nobody_has},
                          {"the_guard_does", the_guard_does},
                          {"the_guard_does_with_arguments", the_guard_does_with_arguments},
                          {"the_host_program_has", the_host_program_has},
                          {"it_is_over", it_is_over}};

}  // namespace

int main(int argc, char** argv) {
  for (const Case& a_case : cases)
    if (argc == 2 && std::strcmp(argv[1], a_case.name) == 0) {
      a_case.run();
      return failures == 0 ? 0 : 1;
    }
  std::fprintf(stderr, "usage: kokkos_lifetime_test CASE\n");
  return 2;
}
