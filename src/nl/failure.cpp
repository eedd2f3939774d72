#include "nl/failure.hpp"

#include <atomic>
#include <utility>

namespace cnc::nl {
namespace {

std::atomic<NLprintfFunc> to_stdout = nullptr;
std::atomic<NLfprintfFunc> to_file = nullptr;

thread_local NLenum first_error = NL_NO_ERROR_CNC;
thread_local std::string last_message;

}  // namespace

void fail(NLenum code, std::string text) { throw Failure{code, std::move(text)}; }

void print_line(std::FILE* to, const std::string& text) {
  const NLprintfFunc own_printf = to_stdout;
  const NLfprintfFunc own_fprintf = to_file;
  if (to == stdout && own_printf != nullptr)
    own_printf("%s\n", text.c_str());
  else if (own_fprintf != nullptr)
    own_fprintf(to, "%s\n", text.c_str());
  else
    std::fprintf(to, "%s\n", text.c_str());
}

void record_error(NLenum code, const char* function, const std::string& text, bool print) {
  if (first_error == NL_NO_ERROR_CNC) first_error = code;
  last_message = std::string(function) + ": " + text;
  if (print) print_line(stderr, last_message);
}

}  // namespace cnc::nl

using namespace cnc::nl;

void nlPrintfFuncs(NLprintfFunc f1, NLfprintfFunc f2) {
  to_stdout = f1;
  to_file = f2;
}

NLenum nlGetErrorCNC(void) { return std::exchange(first_error, NL_NO_ERROR_CNC); }

const char* nlGetMessageCNC(void) { return last_message.c_str(); }
