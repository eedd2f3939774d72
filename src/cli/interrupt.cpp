#include "interrupt.hpp"

namespace cnc::cli {
namespace {

volatile std::sig_atomic_t stop_requested = 0;

extern "C" void note_interrupt(int) { stop_requested = 1; }

}  // namespace

Interrupt::Interrupt() {
  stop_requested = 0;
  sigaction(SIGINT, nullptr, &before_);
  if (before_.sa_handler == SIG_IGN) return;  // started in the background of a script
  struct sigaction once = {};
  once.sa_handler = note_interrupt;
  once.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &once, nullptr);
}

Interrupt::~Interrupt() { sigaction(SIGINT, &before_, nullptr); }

bool Interrupt::requested() { return stop_requested != 0; }

}  // namespace cnc::cli
