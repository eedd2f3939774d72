#include "interrupt.hpp"

#include <csignal>

namespace cnc::cli {
namespace {

volatile std::sig_atomic_t stop_requested = 0;

extern "C" void note_interrupt(int) {
  stop_requested = 1;
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace

Interrupt::Interrupt() {
  stop_requested = 0;
  std::signal(SIGINT, note_interrupt);
}

Interrupt::~Interrupt() { std::signal(SIGINT, SIG_DFL); }

bool Interrupt::requested() { return stop_requested != 0; }

}  // namespace cnc::cli
