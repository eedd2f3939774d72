#pragma once

#include <gpu/entries.hpp>
#include <gpu/peer_words.hpp>
#include <gpu/spmv_kernel.hpp>
#include <gpu/vector_ops.hpp>

// What kernels of several devices have to do with each other: entries of a vector that go to neighbours before a product, what
// has come from them after it, and sums that become those of all ranks.

namespace cnc::gpu::inline CNC_GPU_TARGET {

/// Sums become those of all ranks; or they are left for a message, and the answer is no; or what that has brought is taken, and
/// added in the order of ranks. By one thread.
template <int count>
CNC_GPU_DEVICE bool meet(const PeerMeeting& meeting, bool takes, double (&sums)[count]) {
  static_assert(count <= most_peer_sums);
  if (meeting.mine == nullptr) {
    meet_peers(meeting, sums);
    return true;
  }
  for (int k = 0; k < count; ++k) {
    if (!takes) {
      meeting.mine[k] = sums[k];
      continue;
    }
    sums[k] = meeting.all[k];
    for (int r = 1; r < meeting.ranks; ++r) sums[k] += meeting.all[r * most_peer_sums + k];
  }
  return takes;
}

/// Launches a kernel that a message, or else a kernel, comes before.
template <class... Arguments>
void launch_behind(bool message, const Arguments&... arguments) {
  message ? launch(arguments...) : launch_overlapping(arguments...);
}

/// Entries of x go to those who have rows with them.
template <class V>
CNC_GPU_KERNEL(max_vector_threads)
send_kernel(PeerOperand<V> peers, const V* x, const RunState* run) {
  let_next_kernel_begin();
  wait_for_kernel_before();
  if (run != nullptr && run->stop) return;
  const index_t k = block_index() * block_threads() + thread_index();
  if (peers.packed == nullptr)
    send_entries(peers, x, k, grid_blocks() * block_threads());
  else if (k < peers.sent)
    peers.packed[k] = x[peers.sent_rows[k]];
}

/// y += the entries in columns of others times what has come of x, scaled, and the dot of `with` with what was added. That is the
/// result alone, or it is added to the result, which becomes that of all ranks. `lanes` neighbours share a row, a power of two.
template <int wave, class V>
CNC_GPU_KERNEL(max_vector_threads)
receive_kernel(PeerOperand<V> peers, int lanes, V* y, RowScale<V> scale, const V* with,
               double* result, bool meets, const RunState* run, GridScratch scratch) {
  let_next_kernel_begin();
  wait_for_kernel_before();
  if (run != nullptr && run->stop) return;
  const index_t first = block_index() * block_threads() + thread_index();
  const index_t stride = grid_blocks() * block_threads();
  double dot[1] = {0};
  const index_t lane = first % lanes, units = peers.rows * lanes;
  for (index_t unit = first; unit - first % wave < units; unit += stride) {  // all lanes of a wave
    const index_t i = unit / lanes;
    const index_t end = i < peers.rows ? peers.offsets[i + 1] : 0;
    const index_t begin = i < peers.rows ? peers.offsets[i] : 0;
    V sum = lane_sum<wave>(sum_of_halo<4>(peers, begin, end, lane, lanes), lanes);
    if (lane != 0 || i >= peers.rows) continue;
    const index_t row = peers.row[i];
    sum *= scale.of_row != nullptr ? scale.factor * scale.of_row[row] : scale.factor;
    y[row] += sum;
    if (with != nullptr) dot[0] += double(with[row]) * double(sum);
  }
  wait_for_neighbours(peers, first, stride);
  if (!grid_sum<wave>(dot, scratch) || thread_index() != 0) return;
  *peers.exchanges += 1;
  if (with == nullptr) return;
  if (meets) {
    dot[0] += *result;
    if (!meet(*peers.meeting, false, dot)) return;
  }
  *result = dot[0];
}

/// Dots of y, those of all ranks: with . y, then y . y.
template <int wave, int count, class V>
CNC_GPU_KERNEL(max_vector_threads)
peer_dots_kernel(index_t n, PeerOperand<V> peers, const V* y, ProductDots<V> results,
                 const RunState* run, GridScratch scratch) {
  let_next_kernel_begin();
  wait_for_kernel_before();
  if (run != nullptr && run->stop) return;
  double dots[count] = {};
  const index_t stride = grid_blocks() * block_threads();
  for (index_t i = block_index() * block_threads() + thread_index(); i < n; i += stride) {
    dots[0] += double(results.with[i]) * double(y[i]);
    if constexpr (count > 1) dots[1] += double(y[i]) * double(y[i]);
  }
  if (!grid_sum<wave>(dots, scratch) || thread_index() != 0) return;
  if (!meet(*peers.meeting, false, dots)) return;
  *results.with_result = dots[0];
  if constexpr (count > 1) *results.self_result = dots[1];
}

/// Those that a message has brought. By one thread.
template <class V>
CNC_GPU_KERNEL(max_vector_threads)
take_dots_kernel(const PeerMeeting* meeting, double* first, double* second, const RunState* run) {
  if (run != nullptr && run->stop) return;
  double dots[2];
  meet(*meeting, true, dots);
  *first = dots[0];
  if (second != nullptr) *second = dots[1];
}

/// Where sums go by messages: those that were left become those of all ranks.
template <int wave, class V>
void gather_dots(const Queue& queue, const PeerOperand<V>& peers, double* first, double* second,
                 const RunState* run) {
  if (peers.messages == nullptr) return;
  PeerEntries<wave, V>::gather(queue, peers);
  launch("take_dots", queue, {1, 1}, take_dots_kernel<V>, peers.meeting, first, second, run);
}

/// Whether all ranks say yes; negative where one was not heard of. By one thread.
template <class V>
CNC_GPU_KERNEL(max_vector_threads)
agree_kernel(PeerOperand<V> peers, bool mine, std::int32_t* all) {
  double no[1] = {mine ? 0.0 : 1.0};
  meet_peers(*peers.meeting, no);
  *all = no[0] == 0 ? 1 : no[0] > 0 ? 0 : -1;
}

template <int wave, class V>
void PeerEntries<wave, V>::agree(const Queue& queue, const PeerOperand<V>& peers, bool mine,
                                 std::int32_t* all) {
  launch("agree", queue, {1, 1}, agree_kernel<V>, peers, mine, all);
}

template <int wave, class V>
void PeerEntries<wave, V>::gather(const Queue& queue, const PeerOperand<V>& peers) {
  enqueue(queue, [messages = peers.messages](const Queue& on) { messages->gather(on); });
}

template <int wave, class V>
void PeerEntries<wave, V>::send(const Queue& queue, const PeerOperand<V>& peers, const V* x,
                                const RunState* run) {
  const int threads = vector_threads(queue);
  launch_overlapping("send", queue, {ceil_div(peers.sent, threads), threads}, send_kernel<V>, peers,
                     x, run);
  if (peers.messages != nullptr)
    enqueue(queue, [messages = peers.messages](const Queue& on) { messages->begin(on); });
}

template <int wave, class V>
void PeerEntries<wave, V>::receive(const Queue& queue, const PeerOperand<V>& peers, V* y,
                                   RowScale<V> scale, const V* with, double* result, bool meets,
                                   const RunState* run) {
  const int threads = vector_threads(queue);
  // A lane has some rounds of loads that overlap.
  int lanes = 1;
  while (lanes < wave && 8 * offset_t(lanes) * peers.rows <= peers.entries) lanes *= 2;
  const index_t blocks = ceil_div(std::max(peers.rows * lanes, peers.neighbours), threads);
  const bool by_messages = peers.messages != nullptr;
  if (by_messages)
    enqueue(queue, [messages = peers.messages](const Queue& on) { messages->end(on); });
  const Grid grid{reducing_blocks(queue, blocks, threads, 1), threads};
  launch_behind(by_messages, "receive", queue, grid, receive_kernel<wave, V>, peers, lanes, y,
                scale, with, result, meets, run, grid_scratch(queue));
  if (meets && with != nullptr) gather_dots<wave>(queue, peers, result, nullptr, run);
}

template <int wave, class V>
void PeerEntries<wave, V>::dots(const Queue& queue, index_t n, const PeerOperand<V>& peers,
                                const V* y, const ProductDots<V>& results, const RunState* run) {
  const auto kernel =
      results.self_result != nullptr ? peer_dots_kernel<wave, 2, V> : peer_dots_kernel<wave, 1, V>;
  Grid grid = reducing_grid(queue, n, 2);
  grid.blocks = std::max<index_t>(1, grid.blocks);  // a rank without rows meets too
  launch_overlapping("peer_dots", queue, grid, kernel, n, peers, y, results, run,
                     grid_scratch(queue));
  gather_dots<wave>(queue, peers, results.with_result, results.self_result, run);
}

}  // namespace cnc::gpu::inline CNC_GPU_TARGET
