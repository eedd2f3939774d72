#pragma once

#include <cnc/nl.h>

#include <cstdio>
#include <string>

namespace cnc::nl {

/// What a call throws that cannot do what it is asked for; the boundary of the interface turns it into a message and an
/// error (call.hpp).
struct Failure {
  NLenum code;
  std::string text;
};

[[noreturn]] void fail(NLenum code, std::string text);

/// Remembers the error of this thread, and its message; `print` sends it to stderr too.
void record_error(NLenum code, const char* function, const std::string& text, bool print);

/// A line of text through the functions of nlPrintfFuncs.
void print_line(std::FILE* to, const std::string& text);

}  // namespace cnc::nl
