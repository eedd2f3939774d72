#include "support/backend_cases.hpp"

#include "support/catch.hpp"

#include <stdexcept>
#include <string>

namespace cnc::testing {

void run_on_backend(BackendTest test, const Backend& backend) {
  const Availability availability = availability_of(backend);
  if (!availability.usable)
    CNC_SKIP((std::string(backend.name) + ": " + availability.detail).c_str());
  test(backend);
}

bool register_cases(const char* what, BackendFilter wanted,
                    const std::vector<const Backend*>& backends, void (*const* cases)(),
                    std::size_t count) {
  if (backends.size() > count)
    throw std::logic_error("more backends than register_on_backends counts");
  for (std::size_t k = 0; k < backends.size(); ++k) {
    const Backend& backend = *backends[k];
    if (!wanted(backend)) continue;
    const std::string name = std::string(what) + " on " + backend.name +
                             (backend.memory == MemorySpace::device ? " (device)" : "");
    REGISTER_TEST_CASE(cases[k], name, "");
  }
  return true;
}

}  // namespace cnc::testing
