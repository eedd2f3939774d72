#include "nl/contexts.hpp"

#include "nl/call.hpp"

#include <cnc/scope_guard.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>

namespace cnc::nl {
namespace {

/// Handles are numbers that are never given twice: that of a deleted context is known as such.
using Handle = std::uintptr_t;

struct Registry {
  std::recursive_mutex turn;
  std::map<Handle, std::unique_ptr<Context>> contexts;
  Handle next = 16;
  /// What threads work on that have made none current.
  std::atomic<Handle> latest = 0;
  std::atomic<std::uint64_t> deletions = 0;
};

/// Never destroyed: contexts may be used by functions that run at the end of the program.
Registry& registry() {
  static Registry& only = *new Registry;
  return only;
}

/// What a thread has made current, and the context that this was when it was looked up last.
struct Choice {
  bool is_made = false;
  Handle handle = 0;
  Context* context = nullptr;
  std::uint64_t deletions = 0;
};
thread_local Choice choice;

Context* named(Handle handle) {
  const auto found = registry().contexts.find(handle);
  return found == registry().contexts.end() ? nullptr : found->second.get();
}

void choose(Handle handle) {
  choice = {true, handle, named(handle), registry().deletions};
  registry().latest = handle;
}

NLContext as_context(Handle handle) {
  return reinterpret_cast<NLContext>(handle);  // NOLINT(performance-no-int-to-ptr)
}

struct KokkosUse {
  bool is_watched = false, has_ended = false;
  std::optional<ScopeGuard> guard;
};
KokkosUse& kokkos_use() {
  static KokkosUse& only = *new KokkosUse;
  return only;
}

bool is_any_solving() {
  bool is_solving = false;
  for_each_context([&](Context& c) { is_solving = is_solving || c.is_solving; });
  return is_solving;
}

void release_all() {
  const std::lock_guard lock(registry().turn);
  kokkos_use().has_ended = true;
  for_each_context([](Context& c) { c.release(); });
}

/// A program that ends in the middle of a solve leaves Kokkos as it is.
void end_kokkos() {
  if (!is_any_solving()) kokkos_use().guard.reset();
}

}  // namespace

Context* find_current() {
  Registry& all = registry();
  const Handle wanted = choice.is_made ? choice.handle : all.latest.load();
  if (choice.handle != wanted || choice.deletions != all.deletions.load()) {
    const std::lock_guard lock(all.turn);
    choice.handle = wanted;
    choice.context = named(wanted);
    choice.deletions = all.deletions;
    if (choice.context == nullptr) choice.handle = 0;
  }
  return choice.context;
}

void for_each_context(const std::function<void(Context&)>& visit) {
  const std::lock_guard lock(registry().turn);
  for (const auto& [handle, context] : registry().contexts) visit(*context);
}

void start_kokkos() {
  const std::lock_guard lock(registry().turn);
  KokkosUse& use = kokkos_use();
  if (use.has_ended) fail(NL_INVALID_OPERATION_CNC, "Kokkos has been finalised");
  if (use.is_watched) return;
  use.guard.emplace();
  use.is_watched = true;
  Kokkos::push_finalize_hook(release_all);
  if (use.guard->owns_kokkos()) std::atexit(end_kokkos);
}

}  // namespace cnc::nl

using namespace cnc::nl;

NLContext nlNewContext(void) {
  return guarded<NLContext>("nlNewContext", nullptr, [] {
    start_kokkos();
    const std::lock_guard lock(registry().turn);
    const Handle handle = registry().next;
    registry().contexts.emplace(handle, std::make_unique<Context>());
    registry().next += 16;
    choose(handle);
    return as_context(handle);
  });
}

void nlDeleteContext(NLContext context) {
  guarded("nlDeleteContext", [&] {
    const std::lock_guard lock(registry().turn);
    const Handle handle = reinterpret_cast<Handle>(context);
    const Context* const c = named(handle);
    if (c == nullptr) fail(NL_INVALID_VALUE_CNC, "this is not a context");
    if (c->is_solving) fail(NL_INVALID_OPERATION_CNC, "nlSolve is at work in this context");
    registry().contexts.erase(handle);
    ++registry().deletions;
    Handle latest = handle;
    registry().latest.compare_exchange_strong(latest, 0);
  });
}

void nlMakeCurrent(NLContext context) {
  guarded("nlMakeCurrent", [&] {
    const std::lock_guard lock(registry().turn);
    const Handle handle = reinterpret_cast<Handle>(context);
    if (handle != 0 && named(handle) == nullptr)
      fail(NL_INVALID_VALUE_CNC, "this is not a context");
    choose(handle);
  });
}

NLContext nlGetCurrent(void) {
  return find_current() == nullptr ? nullptr : as_context(choice.handle);
}
