#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace cnc::detail {

/// The system's own words for an errno value. (strerror is not safe with threads.)
inline std::string system_reason(int code) { return std::generic_category().message(code); }

}  // namespace cnc::detail
