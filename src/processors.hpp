#pragma once

#include <string>
#include <string_view>

namespace cnc::detail {

/// Processors that this thread may run on (its affinity), no more than its control groups pay for.
int usable_processors();

/// Processors that the calling thread may run on (its affinity). Allocates nothing.
int affinity_processors();

/// Whether the machine has so much to run besides a team of `threads` that each processor is busy with
/// something else; false where the system does not tell. Some microseconds; allocates nothing.
bool is_crowded(int threads);

/// Tasks that run or wait for a processor: "1" in "0.20 0.18 0.12 1/80 11206", the form of /proc/loadavg;
/// 0 where the text has another form.
int running_tasks(std::string_view text);

/// The most threads that are asked of the OpenMP library, which ends the process when the system refuses one:
/// eight for each processor of the machine, 256 at least.
int most_threads();

/// Threads to use where the OpenMP library would use `openmp_threads`: as many if the user asked for a number in
/// OMP_NUM_THREADS, most_threads() at most, else no more than there are usable processors.
int threads_of(int openmp_threads);

/// Processors that a time quota pays for, rounded up; 0 for no limit. `text` is a cpu.max file of control
/// groups version 2: "QUOTA PERIOD" in microseconds, or "max PERIOD".
int quota_processors(const std::string& text);

/// The least over the control groups of a process and all above them; 0 for no limit. `membership` is
/// the text of /proc/self/cgroup and `root` where the groups are mounted; versions 1 and 2 are read.
int quota_processors(const std::string& membership, const std::string& root);

}  // namespace cnc::detail
