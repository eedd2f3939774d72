#pragma once

namespace cnc::cli {

/// While it lives, the first Ctrl-C is a request to stop; the second one ends the program.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  static bool requested();
};

}  // namespace cnc::cli
