// The list of backends and how one of them is found.

#include "support/catch.hpp"

#include <cnc/context.hpp>
#include <cnc/error.hpp>

#include <algorithm>
#include <set>
#include <thread>

namespace {

using namespace cnc;

TEST_CASE("every backend has a name of its own in its memory, and says what it runs on") {
  std::set<std::pair<std::string, MemorySpace>> names;
  for (const Backend* backend : backends()) {
    INFO(backend->name);
    CHECK(names.emplace(backend->name, backend->memory).second);
    CHECK(std::string(backend->name) != "auto");
    CHECK_FALSE(std::string(backend->description).empty());
    REQUIRE(backend->availability != nullptr);
    CHECK_FALSE(backend->availability().detail.empty());
  }
}

TEST_CASE("baselines and variants come last") {
  const auto later = [](const Backend* backend) { return backend->baseline || backend->variant; };
  CHECK(std::is_partitioned(backends().begin(), backends().end(),
                            [&](const Backend* backend) { return !later(backend); }));
}

TEST_CASE("a backend is found by name") {
  CHECK(std::string(find_backend("reference").name) == "reference");
  CHECK(find_backend("reference").memory == MemorySpace::host);
  for (const Backend* backend : backends()) {
    INFO(backend->name);
    if (availability_of(*backend).usable)
      CHECK(&find_backend(backend->name, backend->memory) == backend);
    else
      CHECK_THROWS_AS(find_backend(backend->name, backend->memory), UnsupportedOperation);
  }
}

TEST_CASE("auto is the first usable backend that is neither baseline nor variant") {
  const Backend& chosen = find_backend("auto");
  CHECK(chosen.memory == MemorySpace::host);
  CHECK_FALSE(chosen.baseline);
  CHECK_FALSE(chosen.variant);
  const auto first = std::find_if(backends().begin(), backends().end(), [](const Backend* backend) {
    return backend->memory == MemorySpace::host && availability_of(*backend).usable;
  });
  CHECK(&chosen == *first);
}

TEST_CASE("an unknown backend is refused with the known names") {
  for (const char* name : {"", "Reference", "openmp:", "none"}) {
    INFO(name);
    CHECK_THROWS_AS(find_backend(name), InvalidArgument);
  }
  try {
    find_backend("opnemp");
    FAIL("not refused");
  } catch (const InvalidArgument& error) {
    const std::string text = error.what();
    CHECK(text.find("'opnemp'") != std::string::npos);
    CHECK(text.find("auto") != std::string::npos);
    for (const Backend* backend : backends()) CHECK(text.find(backend->name) != std::string::npos);
  }
}

TEST_CASE("a backend that this build left out is refused as not built, never as unknown") {
  for (const char* name : {"cuda", "hip", "cusparse", "cuda-balanced", "rocsparse"}) {
    CAPTURE(name);
    const auto built = [&](const Backend* backend) { return std::string(backend->name) == name; };
    if (std::any_of(backends().begin(), backends().end(), built)) continue;
    try {
      find_backend(name, MemorySpace::device);
      FAIL("not refused");
    } catch (const UnsupportedOperation& error) {
      CHECK(std::string(error.what()).find("not built") != std::string::npos);
    }
  }
}

TEST_CASE("no backend is both built and absent") {
  for (const AbsentBackend& absent : absent_backends())
    for (const Backend* backend : backends())
      CHECK_FALSE((std::string(backend->name) == absent.name && backend->memory == absent.memory));
}

TEST_CASE("a host backend is not found for device memory") {
  CHECK_THROWS_AS(find_backend("reference", MemorySpace::device), UnsupportedOperation);
}

/// A backend of the program's own, which nothing else may be given.
Backend own_backend(const char* name, MemorySpace memory = MemorySpace::host) {
  Backend backend;
  backend.name = name;
  backend.description = "of this test";
  backend.memory = memory;
  backend.baseline = true;
  backend.availability = [] { return Availability{true, "here"}; };
  return backend;
}

TEST_CASE("a program adds backends of its own, behind the library's") {
  static const Backend own = own_backend("registry-test");
  const Backend* const added[] = {&own};
  const auto before = backends();
  const std::size_t count = before.size();
  const Backend* const first = before.front();
  CHECK_THROWS_AS(find_backend("registry-test"), InvalidArgument);
  add_backends(added);
  CHECK(&find_backend("registry-test") == &own);
  CHECK(backends().size() == count + 1);
  CHECK(backends().back() == &own);
  CHECK(before.size() == count);  // what was looked at before is as it was
  CHECK(before.front() == first);
  add_backends(added);
  CHECK(backends().size() == count + 1);
  CHECK(&find_backend("auto") != &own);
}

TEST_CASE("a backend that cannot be told from another is not added, nor what came with it") {
  static const Backend fresh = own_backend("registry-test-fresh");
  static const Backend taken = own_backend("reference");
  static const Backend other_twin = own_backend("registry-test-twin");
  static const Backend twin = own_backend("registry-test-twin");
  static const Backend empty;
  const std::size_t count = backends().size();
  for (const Backend* wrong : {&taken, &empty, static_cast<const Backend*>(nullptr)}) {
    const Backend* const added[] = {&fresh, wrong};
    CHECK_THROWS_AS(add_backends(added), InvalidArgument);
  }
  const Backend* const twins[] = {&other_twin, &twin};
  CHECK_THROWS_AS(add_backends(twins), InvalidArgument);
  CHECK(backends().size() == count);
  CHECK_THROWS_AS(find_backend("registry-test-fresh"), InvalidArgument);
}

TEST_CASE("backends can be looked up from several threads at once") {
  std::vector<std::thread> threads;
  std::vector<const Backend*> found(8, nullptr);
  for (const Backend*& result : found)
    threads.emplace_back([&result] { result = &find_backend("auto"); });
  for (std::thread& thread : threads) thread.join();
  CHECK(std::count(found.begin(), found.end(), &find_backend("auto")) == 8);
}

TEST_CASE("a context takes the threads it is given") {
  CHECK(default_threads() >= 1);
  CHECK(Context<>("reference").threads() == default_threads());
  CHECK(Context<>("reference", 3).threads() == 3);
  CHECK_THROWS_AS(Context<>("reference", -1), InvalidArgument);
}

}  // namespace
