#include "terminal.hpp"

#include "text.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace cnc::cli {
namespace {

constexpr std::size_t label_width = 13;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool locale_is_utf8() {
  std::string locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (locale.empty()) locale = environment(name);
  std::transform(locale.begin(), locale.end(), locale.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
}

/// OpenMPI's mpirun gives ranks a terminal of its own, and writes what comes out of that to a file as likely as not.
bool started_by_openmpi() { return !environment("OMPI_COMM_WORLD_SIZE").empty(); }

Terminal detect() {
  Terminal t;
  t.interactive = isatty(STDOUT_FILENO) == 1 && !started_by_openmpi();
  t.colour = t.interactive && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  t.utf8 = locale_is_utf8();
  winsize size{};
  if (t.interactive && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    t.width = std::clamp(static_cast<int>(size.ws_col), 40, 100);
  return t;
}

const char* escape(Style style) {
  switch (style) {
    case Style::bold: return "\033[1m";
    case Style::dim: return "\033[2m";
    case Style::good: return "\033[1;32m";
    case Style::bad: return "\033[1;31m";
  }
  return "";
}

}  // namespace

const Terminal& terminal() {
  static const Terminal instance = detect();
  return instance;
}

bool error_stream_is_terminal() {
  return isatty(STDERR_FILENO) == 1 && environment("TERM") != "dumb";
}

std::string styled(Style style, std::string_view text) {
  if (!terminal().colour) return std::string(text);
  return escape(style) + std::string(text) + "\033[0m";
}

std::string labelled(std::string_view label, std::string_view text) {
  return styled(Style::dim, pad_right(std::string(label), label_width)) + std::string(text) + "\n";
}

std::string_view glyph(std::string_view unicode, std::string_view plain) {
  return terminal().utf8 ? unicode : plain;
}

}  // namespace cnc::cli
