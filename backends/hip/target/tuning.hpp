#pragma once

#include <target/gpu.hpp>

#include <cstddef>
#include <cstdint>

// Launch policies for AMD GPUs, from what is documented of them: a processor (compute unit) has four SIMDs, 64 KB of
// shared memory, a first-level cache of 16 KB (32 KB on gfx942) and room for 2048 threads. Nothing has been measured.

namespace cnc::gpu::inline CNC_GPU_TARGET::tuning {

inline constexpr int vector_threads = 256;         ///< a wave of 64 for each SIMD; not measured
inline constexpr int csr_threads = 256;            ///< the same; not measured
inline constexpr int bcsr_threads = 256;           ///< the same; not measured
inline constexpr int row_per_block_threads = 128;  ///< two waves of 64 share a row; not measured
inline constexpr int bsell_threads = 256;          ///< the same as vectors; not measured
inline constexpr int dia_threads = 256;            ///< the same; not measured
inline constexpr int dictionary_threads = 256;
/// Fewer rows are multiplied as the format has them.
inline constexpr index_t least_dictionary_rows = 1 << 17;
inline constexpr index_t least_dictionary_rows_in_float = 1 << 19;  ///< of up to seven points

/// Fewer values are read as they are, not by a table of them (Backend::least_table_values). That of NVIDIA's: not measured.
inline constexpr offset_t least_table_values = 4'000'000;

/// Entries of a CSR row per lane, at most about: as on NVIDIA GPUs; not measured here.
inline constexpr double csr_entries_per_lane = 12;
/// Lanes per block row of 2 x 2 blocks, two to a block: as on NVIDIA GPUs; not measured here.
inline constexpr int bcsr_2_lanes = 8;
/// Threads of a product that a processor should have before rows are shared between more threads: all that
/// it has room for; not measured.
inline constexpr double spmv_threads_per_processor = 2048;

/// Steps in which the lanes of a CSR row go through it, up to which rows are dealt out whole.
inline constexpr int most_row_steps = 64;

/// Conjugate gradients one kernel after the other work with a matrix scaled to a unit diagonal from so many rows on, once iterations
/// have paid for the copy, where so many may follow: to begin and to end takes one. As on NVIDIA GPUs; not measured here.
inline constexpr index_t least_scaled_rows = 1 << 17;
inline constexpr index_t least_scaled_iterations = 16;
/// Iterations that pay for it, each of which then reads so many bytes less.
constexpr double iterations_before_scaling(double bytes_saved) {
  constexpr double seconds_of_copy = 3e-3, bytes_per_second = 3e12;
  return seconds_of_copy * bytes_per_second / bytes_saved;
}

// --- resident form ---------------------------------------------------------------------------------------
/// Eight waves of 64 leave each lane 256 of the 512 registers of its place in a SIMD. With twice the threads compilers
/// spill in blocks of 2, 3 and 4; speed not measured.
inline constexpr int resident_threads = 512;
inline constexpr int resident_blocks_per_processor = 1;
/// Fewer rows than this are not worth a block of their own; not measured.
inline constexpr index_t least_resident_rows = 128;
/// Shared memory that the kernel has besides the vectors: one double per thread and a few sums, rounded up.
inline constexpr std::size_t static_shared_bytes = 10 * 1024;
/// Entries of a matrix for each thread of such a launch up to which its level of a multigrid cycle is gone through in one; not measured.
inline constexpr double coarse_entries_per_thread = 4;
/// The same of steps on a basis; not measured.
inline constexpr int basis_threads = 512;
inline constexpr index_t least_basis_rows = 128;
/// Dots of a step on a basis that the blocks meet for together: room for their partial sums; not measured.
inline constexpr int basis_dots_together = 64;

/// Threads of a block of the form with one meeting, and polls after which it takes others to be lost: many seconds.
inline constexpr int halo_threads = 512;
inline constexpr index_t least_halo_rows = 256;  ///< fewer are not worth a block of their own
inline constexpr std::uint32_t most_polls = 1u << 26;
/// What it saves in each product, and what the host takes to cut a grid and any other graph into its parts, for each value that is
/// stored: by these the automatic choice tells when iterations have paid for that.
inline constexpr double seconds_saved_by_one_meeting = 4e-6;
inline constexpr double seconds_saved_by_one_meeting_of_ranks = 15e-6;  ///< of several devices
inline constexpr double seconds_of_parts_of_grid = 10e-9;
inline constexpr double seconds_of_parts_of_graph = 60e-9;
/// So much of that is taken before any iteration has paid for it.
inline constexpr double seconds_of_parts_at_once = 1e-3;

/// Largest problems that the automatic choice gives to the resident form: rows of which r, q and p fit into
/// the rest of shared memory, and matrix bytes as a share of the second-level cache, from which the matrix is
/// read in every iteration; not measured.
constexpr double resident_rows_per_processor(std::size_t value_bytes) {
  return (64 * 1024 - static_shared_bytes) / (3.0 * static_cast<double>(value_bytes));
}
/// The same where products read a dictionary of rows and the resident kernel of a method does not; and the rows for each processor from
/// which that of plain CG does, if they are short, or is not taken. Not measured.
inline constexpr double resident_rows_with_dictionary = 5000;
inline constexpr double resident_short_rows_with_dictionary = 7000;  ///< that are no parts of one
inline constexpr double least_resident_rows_by_dictionary = 3000;
/// Of those kernels, not measured either: rows for each processor at most, and what is read and written of vectors that have no
/// room on chip, as a share of the same cache.
constexpr double most_resident_rows_by_dictionary(std::size_t value_bytes) {
  return resident_rows_per_processor(value_bytes);
}
inline constexpr double resident_share_of_vectors = 0.7;
inline constexpr double resident_cache_share = 1;

}  // namespace cnc::gpu::inline CNC_GPU_TARGET::tuning
