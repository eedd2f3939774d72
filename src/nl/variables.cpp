// nlSetVariable, nlLockVariable and nlBindBuffer.
#include "nl/call.hpp"

namespace cnc::nl {
namespace {

void require_system(const Context& c) {
  if (c.state == State::initial)
    fail(NL_INVALID_OPERATION_CNC, "out of order: nlBegin(NL_SYSTEM) comes first");
}

const Buffer& buffer_of(const Context& c, NLuint i, NLuint k) {
  require_below("variable", i, c.parameters.variables);
  require_below("system", k, c.parameters.systems);
  if (c.buffers[k].address == nullptr)
    fail(NL_INVALID_OPERATION_CNC,
         "the variables of system " + std::to_string(k) + " have no buffer: call nlBindBuffer");
  return c.buffers[k];
}

void set(const char* function, NLuint i, NLuint k, double value) {
  on_current(function, [&](Context& c) {
    require_state(c, {State::system});
    buffer_of(c, i, k).set(i, value);
  });
}

double get(const char* function, NLuint i, NLuint k) {
  return on_current(function, 0.0, [&](Context& c) {
    require_system(c);
    return buffer_of(c, i, k).get(i);
  });
}

void lock(const char* function, NLuint i, bool locked) {
  on_current(function, [&](Context& c) {
    require_state(c, {State::system});
    require_below("variable", i, c.parameters.variables);
    if (c.is_numbered)
      fail(NL_INVALID_OPERATION_CNC, "out of order: the matrix or its pattern has begun already");
    if (c.parameters.no_indirection && locked)
      fail(NL_INVALID_OPERATION_CNC, "NL_NO_VARIABLES_INDIRECTION has no locked variables");
    c.locked[i] = locked;
  });
}

}  // namespace
}  // namespace cnc::nl

using namespace cnc::nl;

void nlSetVariable(NLuint i, NLdouble value) { set("nlSetVariable", i, 0, value); }

void nlMultiSetVariable(NLuint i, NLuint k, NLdouble value) {
  set("nlMultiSetVariable", i, k, value);
}

NLdouble nlGetVariable(NLuint i) { return get("nlGetVariable", i, 0); }

NLdouble nlMultiGetVariable(NLuint i, NLuint k) { return get("nlMultiGetVariable", i, k); }

void nlLockVariable(NLuint index) { lock("nlLockVariable", index, true); }

void nlUnlockVariable(NLuint index) { lock("nlUnlockVariable", index, false); }

NLboolean nlVariableIsLocked(NLuint index) {
  return on_current("nlVariableIsLocked", NLboolean{NL_FALSE}, [&](Context& c) {
    require_system(c);
    require_below("variable", index, c.parameters.variables);
    return static_cast<NLboolean>(c.locked[index]);
  });
}

void nlBindBuffer(NLenum buffer, NLuint k, void* addr, NLuint stride) {
  on_current("nlBindBuffer", [&](Context& c) {
    if (buffer != NL_VARIABLES_BUFFER) fail_unknown(buffer);
    require_state(c, {State::system});
    if (!c.parameters.own_buffers)
      fail(NL_INVALID_OPERATION_CNC, "nlEnable(NL_VARIABLES_BUFFER) comes first");
    require_below("system", k, c.parameters.systems);
    require_pointer(addr);
    c.buffers[k] = {static_cast<std::byte*>(addr), stride == 0 ? sizeof(double) : stride};
  });
}
