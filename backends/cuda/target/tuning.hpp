#pragma once

#include <target/gpu.hpp>

#include <cstddef>
#include <cstdint>

// Launch policies for NVIDIA GPUs.

namespace cnc::gpu::inline CNC_GPU_TARGET::tuning {

inline constexpr int vector_threads = 256;
inline constexpr int csr_threads = 256;
inline constexpr int bcsr_threads = 256;
inline constexpr int row_per_block_threads = 128;
inline constexpr int bsell_threads = 128;
inline constexpr int dia_threads = 256;
inline constexpr int dictionary_threads = 256;
/// Fewer rows are multiplied as the format has them.
inline constexpr index_t least_dictionary_rows = 1 << 17;
inline constexpr index_t least_dictionary_rows_in_float = 1 << 19;  ///< of up to seven points

/// Fewer values are read as they are, not by a table of them (Backend::least_table_values).
inline constexpr offset_t least_table_values = 4'000'000;

/// Entries of a CSR row per lane, at most about.
inline constexpr double csr_entries_per_lane = 12;
/// Lanes per block row of 2 x 2 blocks, two to a block.
inline constexpr int bcsr_2_lanes = 8;
/// Threads of a product that a processor should have before rows are shared between more threads.
inline constexpr double spmv_threads_per_processor = 2048;

/// Steps in which the lanes of a CSR row go through it, up to which rows are dealt out whole.
inline constexpr int most_row_steps = 64;

/// Conjugate gradients one kernel after the other work with a matrix scaled to a unit diagonal from so many rows on, once iterations
/// have paid for the copy, where so many may follow: to begin and to end takes one.
inline constexpr index_t least_scaled_rows = 1 << 17;
inline constexpr index_t least_scaled_iterations = 16;
/// Iterations that pay for it, each of which then reads so many bytes less.
constexpr double iterations_before_scaling(double bytes_saved) {
  constexpr double seconds_of_copy = 3e-3, bytes_per_second = 3e12;
  return seconds_of_copy * bytes_per_second / bytes_saved;
}

// --- resident form ---------------------------------------------------------------------------------------
inline constexpr int resident_threads = 1024;
inline constexpr int resident_blocks_per_processor = 1;
/// Fewer rows than this are not worth a block of their own.
inline constexpr index_t least_resident_rows = 128;
/// Shared memory that the kernel has besides the vectors.
inline constexpr std::size_t static_shared_bytes = 24 * 1024;
/// Entries of a matrix for each thread of such a launch up to which its level of a multigrid cycle is gone through in one.
inline constexpr double coarse_entries_per_thread = 4;
/// The same of steps on a basis.
inline constexpr int basis_threads = 1024;
inline constexpr index_t least_basis_rows = 256;
/// Dots of a step on a basis that the blocks meet for together: room for their partial sums.
inline constexpr int basis_dots_together = 64;

/// Threads of a block of the form with one meeting, and polls after which it takes others to be lost: many seconds.
inline constexpr int halo_threads = 512;
inline constexpr index_t least_halo_rows = 256;  ///< fewer are not worth a block of their own
inline constexpr std::uint32_t most_polls = 1u << 26;
/// What it saves in each product, and what the host takes to cut a grid and any other graph into its parts, for each value that is
/// stored: by these the automatic choice tells when iterations have paid for that.
inline constexpr double seconds_saved_by_one_meeting = 4e-6;
inline constexpr double seconds_saved_by_one_meeting_of_ranks = 15e-6;  ///< of several devices
inline constexpr double seconds_of_parts_of_grid = 20e-9;
inline constexpr double seconds_of_parts_of_graph = 40e-9;
/// So much of that is taken before any iteration has paid for it.
inline constexpr double seconds_of_parts_at_once = 1e-3;

/// Largest problems that the automatic choice gives to the resident form: rows, and matrix bytes as a share of
/// the second-level cache, from which the matrix is read in every iteration.
constexpr double resident_rows_per_processor(std::size_t value_bytes) {
  return value_bytes == 4 ? 11000 : 8000;
}
/// The same where products read a dictionary of rows and the resident kernel of a method does not; and the rows for each processor from
/// which that of plain CG does, if they are short, or is not taken.
inline constexpr double resident_rows_with_dictionary = 5000;
inline constexpr double resident_short_rows_with_dictionary = 7000;  ///< that are no parts of one
inline constexpr double least_resident_rows_by_dictionary = 3000;
/// Of those kernels: rows for each processor at most, and what is read and written of vectors that have no room on chip, as a share of
/// the same cache.
constexpr double most_resident_rows_by_dictionary(std::size_t value_bytes) {
  return value_bytes == 4 ? 18000 : 11000;
}
inline constexpr double resident_share_of_vectors = 0.7;
inline constexpr double resident_cache_share = 1.25;

}  // namespace cnc::gpu::inline CNC_GPU_TARGET::tuning
