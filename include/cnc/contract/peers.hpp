#pragma once

#include <cnc/contract/queue.hpp>
#include <cnc/contract/types.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace cnc {

/// What another process needs to reach memory of a device.
struct PeerTicket {
  unsigned char handle[64] = {};  ///< as the vendor's library makes it
  char device[32] = {};           ///< on the machine, zero-terminated: the same for the same device
};

/// Memory of a device that the devices of other processes of the machine read and write themselves, also while kernels run.
struct PeerMemory {
  void* (*allocate)(int device, std::size_t bytes);  ///< of zeros; DeviceError, OutOfMemory
  void (*release)(int device,
                  void* memory);  ///< once others have closed it; throws nothing
  bool (*offer)(int device, void* memory, PeerTicket*);  ///< false: it cannot be reached
  void* (*open)(int device, const PeerTicket&);          ///< null: not from this device
  void (*close)(int device, void* opened);               ///< what was opened; throws nothing
};

/// A value on its way to another device, with a number by which it is known to have come: what the parts mean is the
/// backend's. Zeros are of no number that is waited for.
template <class V>
struct alignas(2 * sizeof(V)) PeerWord {
  V parts[2];  ///< never read as numbers of V
};

/// Words in the memory of another device, or of the own.
template <class V>
struct PeerPlace {
  PeerWord<V>* at = nullptr;  ///< of each value two, which numbers take in turn
};

/// What a DeviceError says of a device that was waited for in vain.
inline constexpr const char* unheard_peer = "the device of another rank was not heard of any more";

/// Sums of a phase at most.
inline constexpr int most_peer_sums = 4;

/// How devices exchange that do not reach each other's memory. All ranks enqueue the same, equally often, and wait equally often.
class PeerMessages {
 public:
  virtual ~PeerMessages() = default;
  /// @{
  /// Enqueued on a queue whose stream may be captured. begin: PeerOperand::packed goes on its way. end: what is enqueued behind it
  /// finds PeerOperand::arrived. gather: PeerMeeting::mine of each rank goes to PeerMeeting::all.
  virtual void begin(const Queue&) = 0;
  virtual void end(const Queue&) = 0;
  virtual void gather(const Queue&) = 0;
  /// @}
  /// Waits until everything enqueued is done; throws where another rank has failed, whose message may never come.
  virtual void wait(const Queue&) = 0;
};

/// How devices add up sums. In each other's memory nothing is acknowledged: whoever writes to the words of meeting
/// n + 2 has seen that all came to meeting n + 1, after they had read those of n.
struct PeerMeeting {
  int ranks = 1;                             ///< how many there are
  int rank = 0;                              ///< this one
  const PeerPlace<double>* there = nullptr;  ///< [ranks] where sums of this rank go
  const PeerWord<double>* here = nullptr;  ///< [ranks][most_peer_sums][2] where those of each come
  std::uint32_t* meetings = nullptr;       ///< so far, the same on all ranks
  std::uint32_t* given_up =
      nullptr;                    ///< not 0: somebody was waited for in vain, and nobody is again
  std::uint32_t* lost = nullptr;  ///< the same for the host, in memory that it reaches
  /// @{
  /// Instead of words, by messages: [most_peer_sums] of this rank, [ranks][most_peer_sums] of all; null: words.
  double* mine = nullptr;
  const double* all = nullptr;
  /// @}
};

/// Which of 32 consecutive rows are in an ascending list, and how many before them are.
struct ListedRows {
  std::uint32_t has = 0;  ///< the first in the lowest bit
  index_t before = 0;     ///< listed ones before these 32
};

/// What each row of a product is taken times.
template <class V>
struct RowScale {
  V factor = 1;               ///< of all rows
  const V* of_row = nullptr;  ///< [rows]; null: ones
};

/// Where entries of a vector of V go and come from, and what a rank has of a matrix in columns of others. All in the memory of this
/// device.
///
/// Of devices that reach each other's memory, neighbours wait for each other in every exchange: besides entries, each gets a word that says no more than that it has come, or
/// all ranks meet after it. So two words of each entry in turn are enough, as in PeerMeeting.
template <class V>
struct PeerOperand {
  const PeerMeeting* meeting = nullptr;   ///< of all ranks
  std::uint32_t* exchanges = nullptr;     ///< so far, as many as those of the neighbours
  index_t sent = 0;                       ///< words that go to others
  const index_t* sent_rows = nullptr;     ///< [sent] own rows, -1: none
  const PeerPlace<V>* sent_to = nullptr;  ///< [sent]
  index_t halo = 0;                       ///< entries that come from others
  index_t neighbours = 0;                 ///< words that come besides
  const PeerWord<V>* words = nullptr;     ///< [halo + neighbours][2]
  /// @{
  /// The entries in columns of others, in CSR: of `rows` own rows, by their place in the halo.
  index_t rows = 0;
  const index_t *row = nullptr, *offsets = nullptr, *columns = nullptr;
  const V* values = nullptr;
  offset_t entries = 0;  ///< in these rows
  index_t longest = 0;   ///< entries of one of them at most
  /// @}
  /// @{
  /// To find them by their rows: the last row that has some; the longest stretch of rows before it that have none, `whole` from
  /// `whole_first` on; and which of the rows up to it have, 32 to an element.
  index_t whole_first = 0, whole = std::numeric_limits<index_t>::max();
  index_t last_row = -1;
  const ListedRows* listed = nullptr;
  /// @}
  offset_t most_entries =
      0;  ///< of the rows of a rank: the same on all, which so tell alike what set-ups pay
  /// @{
  /// Instead of words, by messages, of the host's memory: [sent] entries on their way, [halo] that have come; null: words.
  PeerMessages* messages = nullptr;
  V* packed = nullptr;
  const V* arrived = nullptr;
  /// @}

  /// Whether what was recorded with one of them holds for the other.
  bool operator==(const PeerOperand&) const = default;
};

}  // namespace cnc
