#pragma once

#include <csignal>

namespace cnc::cli {

/// While it lives, the first Ctrl-C is a request to stop; the second one ends the program. Who started
/// the program with Ctrl-C ignored has it ignored still.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  static bool requested();

 private:
  struct sigaction before_ = {};
};

}  // namespace cnc::cli
