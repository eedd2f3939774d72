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

TEST_CASE("yardsticks and variants come last") {
  const auto later = [](const Backend* backend) { return backend->yardstick || backend->variant; };
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

TEST_CASE("auto is the first usable backend that is neither yardstick nor variant") {
  const Backend& chosen = find_backend("auto");
  CHECK(chosen.memory == MemorySpace::host);
  CHECK_FALSE(chosen.yardstick);
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
