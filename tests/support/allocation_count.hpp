#pragma once

// Sanitizers bring an operator new of their own, which cannot be replaced under every compiler.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CNC_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CNC_TEST_SANITIZED 1
#endif
#endif
#ifndef CNC_TEST_SANITIZED
#define CNC_TEST_SANITIZED 0
#endif

namespace cnc::testing {

/// False in sanitized builds: allocation_count() is 0 there.
inline constexpr bool allocations_are_counted = CNC_TEST_SANITIZED == 0;

/// Calls of operator new by this program so far. A test that uses this compiles
/// support/allocation_count.cpp too. The memory of Kokkos views does not come from operator new, but
/// the record that every allocation of a view makes does.
long allocation_count();

}  // namespace cnc::testing
