#include <cnc/scope_guard.hpp>

#include <cnc/vector.hpp>

namespace cnc {

namespace {

/// True when there is something to initialise.
bool kokkos_is_wanted() {
#if KOKKOS_VERSION >= 40000
  require(!Kokkos::is_finalized(),
          "ScopeGuard: Kokkos has been finalised, and cannot be initialised a second time");
#endif
  return !Kokkos::is_initialized();
}

}  // namespace

ScopeGuard::ScopeGuard() : owns_kokkos_(kokkos_is_wanted()) {
  if (owns_kokkos_) Kokkos::initialize();
}

ScopeGuard::ScopeGuard(int& argc, char** argv) : owns_kokkos_(kokkos_is_wanted()) {
  if (owns_kokkos_) Kokkos::initialize(argc, argv);
}

ScopeGuard::~ScopeGuard() {
  if (owns_kokkos_ && Kokkos::is_initialized()) Kokkos::finalize();
}

namespace detail {
void require_kokkos(const char* who) {
  require(Kokkos::is_initialized(), [&] {
    return std::string(who) +
           ": Kokkos is not initialised. Begin main() with `const cnc::ScopeGuard guard;`, or with "
           "Kokkos' own";
  });
}
}  // namespace detail

}  // namespace cnc
