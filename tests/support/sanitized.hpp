#pragma once

// Whether this is a build with the address or the thread sanitizer, for what no constant can decide.
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

/// The same as a constant: such a build is slower, and in need of the whole address space.
inline constexpr bool is_sanitized = CNC_TEST_SANITIZED != 0;

}  // namespace cnc::testing
