#pragma once

#include <string>

namespace cnc::detail {

/// Processors that this thread may run on (its affinity), no more than its control groups pay for.
int usable_processors();

/// Threads to use where the OpenMP library would use `openmp_threads`: as many if the user asked for a number in
/// OMP_NUM_THREADS, else no more than there are usable processors.
int threads_of(int openmp_threads);

/// Processors that a time quota pays for, rounded up; 0 for no limit. `text` is a cpu.max file of control
/// groups version 2: "QUOTA PERIOD" in microseconds, or "max PERIOD".
int quota_processors(const std::string& text);

/// The least over the control groups of a process and all above them; 0 for no limit. `membership` is
/// the text of /proc/self/cgroup and `root` where the groups are mounted; versions 1 and 2 are read.
int quota_processors(const std::string& membership, const std::string& root);

}  // namespace cnc::detail
