#pragma once

#include <cnc/vector.hpp>

#include "io/read_options.hpp"

#include <cstddef>
#include <string>

namespace cnc::detail {

/// Bytes that this process can still take without being ended for it: what the system calls
/// available, or what the control group leaves if that is less. 0 where neither is told.
std::size_t available_memory();

/// Refuses a result that cannot be held. Sizes come from files, so they are checked before anything
/// is allocated: the system would grant the memory and end the process later.
/// Errors   OutOfMemory naming the file.
void check_memory(const std::string& name, double bytes, const ReadOptions& options);

/// A vector with uninitialised entries whose allocation failure is OutOfMemory.
template <class T>
Vector<T> allocate(const std::string& name, std::size_t n) {
  try {
    return uninitialized<T>("cnc::io", n);
  } catch (const std::exception&) {
    throw OutOfMemory(name, n * sizeof(T), available_memory());
  }
}

}  // namespace cnc::detail
