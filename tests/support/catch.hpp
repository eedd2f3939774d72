#pragma once
// Catch2 2.x and 3.x under one name. Tests include this header and nothing of Catch2's own.

#if CNC_CATCH2_VERSION >= 3
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
namespace Catch::Matchers {
/// Catch2 3.x's name for what 2.x calls Contains.
inline auto ContainsSubstring(const std::string& text) { return Contains(text); }
}  // namespace Catch::Matchers
#endif

#include <cstdio>
#include <string>

namespace cnc::test {

/// Number of test cases that called CNC_SKIP so far.
inline int& skipped_cases() {
  static int count = 0;
  return count;
}

}  // namespace cnc::test

/// Leaves the current test case because something it needs is absent. The program ends with code 4,
/// which CTest reports as "skipped", if cases were skipped and none failed. (Catch2 2.x has no SKIP.)
#define CNC_SKIP(reason)                  \
  do {                                    \
    std::printf("skipped: %s\n", reason); \
    ++cnc::test::skipped_cases();         \
    SUCCEED("skipped");                   \
    return;                               \
  } while (false)
